"""sympy and Math-Verify, each in a process of its own that is killed when it is late.

Both run for hours on some short texts, in C code that no signal and no thread interrupts. `process` starts
and kills, `serving` answers inside the process; `sympy_difference` and `math_verify` are what others call.
"""
