"""Model-written programs → verdicts that the programs cannot forge, in processes that they cannot leave.

The guarantee, for mode "strict": **a program passes only if its functions return, or raise, what the tests
expect.** It follows from three facts, each of which can be checked in one file.

1. The process that decides never runs the program. (`judge.py` executes set-up and tests, and nothing else.)
2. It holds no object whose methods the program wrote: what arrives is JSON, from which `wire.decode` builds
   values of Python's own classes, by a closed table. So `==`, `len` and every other question of a test is
   answered by Python's own code.
3. The program's process never holds an expected value. It receives the program, the tests' import statements,
   and the arguments of calls (`candidate.py`); the text of the tests stays with the judge.

What a test gets for `f(x)` is therefore a plain value that the program chose without knowing the answer.
Plain are numbers, bool, None, str, bytes, bytearray, list, tuple, set, frozenset, dict and its views, range,
slice, Counter, OrderedDict, deque, Fraction, Decimal, dates and times, and builtin types. An instance of a
subclass counts as its builtin (a namedtuple keeps its fields), and an iterator that the program returns as
its values. The program's exceptions arrive as the nearest builtin exception. If a call returns None, its
changes to list, dict, set … are made to the test's own argument. Where a test asks only whether a result is
true, as in `assert f(x)`, that crosses for any object. Everything else is opaque, also a function that the
tests pass, and ends the job.

A program may import NumPy where it is installed. NumPy's numbers cross as Python's; its arrays do not, for
whose `==` nobody could vouch: to NumPy an empty list is close to every number. So tests that import NumPy are
opaque, too, and the judge cannot load it.

Tests that look at the program's own objects cannot be run so. In mode "unproven" they share an interpreter
with the program (`candidate.py`), which could forge its pass: the verdict says "unproven". A problem's
demonstration decides whether its programs are verified in that mode (`erce.verify.program`); a program never
does. In mode "script" a program runs by itself, and what it printed is compared in the user's process
(`erce.verify.io`).

In every mode the program's process has no files but Python's library and NumPy, no network and no other
process to see, signal or start, and ends with its job:

    user's process   pool.py, host.py   `Sandbox`: starts workers, sends jobs, reads verdicts
      └ worker       worker.py          warm and confined; forks the two below, keeps the clocks, kills
          ├ judge      judge.py           for 200 jobs, or until tests or program may have left something
          └ candidate  candidate.py       for one job

`kernel/` confines all three: namespaces, Landlock, seccomp, capabilities, limits. `pool.py` checks a tier
before it is used, by what a hostile program would try; `erce doctor` tries more.
"""

from erce.verify.sandbox.host import TIERS, Job, Limits, Outcome, SandboxUnavailable
from erce.verify.sandbox.pool import Sandbox, shared

__all__ = ["TIERS", "Job", "Limits", "Outcome", "Sandbox", "SandboxUnavailable", "shared"]
