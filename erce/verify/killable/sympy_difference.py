"""Two expressions → what sympy simplifies their difference to, within a time limit."""

from erce.verify.killable.process import DIED, KillableProcess


def symbolic_difference(left: str, right: str, *, seconds: float) -> str:
    r"""Return "zero" or "other" for what `left - right` simplifies to, else why there is no answer.

    The other replies are "undecided" (sympy gave up), "unparsed", "too large" (also if sympy used up its
    2 GiB of memory) and "timeout" after `seconds`. All threads share one process and wait for one another;
    the time of each check counts from its own start, without the import of sympy. OSError if the process
    cannot be started.

    >>> symbolic_difference(r"\sqrt{12}", r"2\sqrt{3}", seconds=5)
    'zero'
    """
    reply = SYMPY.ask(left, right, seconds=seconds)
    if reply == DIED:  # killed from outside, or by this very check, of which it then dies again
        reply = SYMPY.ask(left, right, seconds=seconds)
    return "too large" if reply == DIED else reply


SYMPY = KillableProcess("erce.verify.killable.sympy_main")
