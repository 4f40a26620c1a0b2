"""A completion whose text was cut off."""

from erce.types import Completion


def cut_off(text: str) -> Completion:
    """A completion that ended because it had as many tokens as it may have."""
    return Completion(problem="", sample=0, text=text, tokens=9, finished=False, logprob=0.0, entropy=0.0)
