"""sympy and Math-Verify, each in a process of its own that is killed when it is late."""
