"""Model-written programs → verdicts that the programs cannot forge, in processes that they cannot leave.

The guarantee, for mode "strict": **a program passes only if its functions return, or raise, what the tests
expect.** It follows from three facts, each of which can be checked in one file.

1. The process that decides never runs the program. (`judge.py` executes set-up and tests, and nothing else.)
2. It holds no object whose methods the program wrote: what arrives is JSON, from which `wire.decode` builds
   values of Python's own classes, by a closed table. So `==`, `len` and the like are Python's own.
3. The program's process never holds an expected value. It receives the program, the tests' import statements,
   and the arguments of calls (`candidate.py`); the text of the tests stays with the judge.

Plain values cross: numbers, also NumPy's, bool, None, str, bytes, bytearray, list, tuple, set, frozenset,
dict and its views, range, slice, Counter, OrderedDict, deque, Fraction, Decimal, dates, times and builtin
types. An instance of a subclass counts as its builtin (a namedtuple keeps its fields), an iterator that the
program returns as its values, its exceptions as the nearest builtin one. If a call returns None, its changes
to arguments are made to the test's own. `assert f(x)` asks for a truth value, which any object has. All else
is opaque and ends the job: functions that the tests pass, arrays, and tests that import NumPy, to which an
empty list is close to every number.

Tests that look at the program's own objects need mode "unproven", in which they share an interpreter with the
program (`candidate.py`), which could forge its pass. A problem's demonstration decides whether its programs
are verified so (`erce.verify.program`). In mode "script" a program runs by itself, and what it printed is
compared in the user's process (`erce.verify.io`).

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
