"""Demonstrations become an adapter: TRL's SFT trainer with λ · entropy in its objective."""

from erce.train.config import ERCEConfig
from erce.train.trainer import ERCETrainer

__all__ = ["ERCEConfig", "ERCETrainer"]
