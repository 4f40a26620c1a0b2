"""Demonstrations become an adapter: TRL's SFT trainer with λ · entropy in its objective."""

from erce.train.trainer import ERCEConfig, ERCETrainer

__all__ = ["ERCEConfig", "ERCETrainer"]
