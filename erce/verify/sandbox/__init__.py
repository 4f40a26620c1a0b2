"""Model-written programs → verdicts that the programs cannot forge, in processes that they cannot leave.

    user's process   host/         `Sandbox`: a pool of workers; sends jobs, reads verdicts, probes the tiers
      └ worker       worker.py     warm and confined; forks the two below, and kills what exceeds its budget
          ├ judge      judge/        runs the asserts, never the program; rules on many jobs
          └ candidate  candidate.py  runs one program, and has never seen an assert; one for each job

The judge calls the candidate's functions over a socket; `frames.py` defines what may pass there. `kernel/`
confines worker, judge and candidate; `compiled_tests.py` reads set-up and tests; `jobs.py` is what a user
hands in and gets back.
"""

from erce.verify.sandbox.jobs import TIERS, Job, Limits, Outcome, SandboxUnavailable
from erce.verify.sandbox.pool import Sandbox, shared

__all__ = ["TIERS", "Job", "Limits", "Outcome", "Sandbox", "SandboxUnavailable", "shared"]
