"""Model-written programs → verdicts that they cannot forge, in processes that they cannot leave."""

from erce.verify.sandbox.jobs import TIERS, Job, Limits, Outcome, SandboxUnavailable
from erce.verify.sandbox.pool import Sandbox, shared

__all__ = ["TIERS", "Job", "Limits", "Outcome", "Sandbox", "SandboxUnavailable", "shared"]
