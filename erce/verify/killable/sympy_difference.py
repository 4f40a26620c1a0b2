"""Two expressions and a time limit → sympy's word on their difference, from a process that can be killed."""

from erce.verify.killable.process import DIED, Worker


def symbolic_difference(left: str, right: str, *, seconds: float) -> str:
    r"""What `left - right` simplifies to: "zero" or "other"; else why there is no answer.

    That is "undecided" (sympy gave up), "unparsed", "too large" (also where sympy ran out of its 2 GiB of
    memory) or "timeout" after `seconds`. One process serves all threads, which wait for one another; the time
    of each check counts from its own start, and not while sympy is imported. `OSError` where the process
    cannot be started.

    >>> symbolic_difference(r"\sqrt{12}", r"2\sqrt{3}", seconds=5)
    'zero'
    """
    found = WORKER.ask(left, right, seconds=seconds)
    if found == DIED:  # somebody killed it, or the check did: then it does so again
        found = WORKER.ask(left, right, seconds=seconds)
    return "too large" if found == DIED else found


WORKER = Worker("erce.verify.killable.sympy_main")
