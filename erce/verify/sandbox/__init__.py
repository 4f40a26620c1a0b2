"""Model-written programs → verdicts that they cannot forge, in processes that they cannot leave."""

from erce.verify.sandbox.host.pool import Sandbox, shared
from erce.verify.sandbox.jobs import TIERS, Job, Limits, Outcome, SandboxUnavailable

__all__ = ["TIERS", "Job", "Limits", "Outcome", "Sandbox", "SandboxUnavailable", "shared"]
