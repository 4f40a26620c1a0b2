"""An Axolotl config with `entropy_penalty` → a model that trains on the entropy-regularised cross-entropy.

plugins:
  - erce.integrations.axolotl.ERCEPlugin
entropy_penalty: 4.0
"""

import logging
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from pydantic import BaseModel

from erce.errors import InputError
from erce.hf.attach import attach

BasePlugin: Any = import_module("axolotl.integrations.base").BasePlugin if find_spec("axolotl") else object

_LOG = logging.getLogger("axolotl.erce")


class ERCEArgs(BaseModel):
    """The fields that the plugin adds to Axolotl's config, with the meanings of `erce.attach`."""

    entropy_penalty: float
    entropy_type: str = "shannon"
    entropy_order: float = 1.0
    base_loss: str = "cross-entropy"


class ERCEPlugin(BasePlugin):
    """A plugin that attaches the loss to the model that Axolotl loaded, adapters included."""

    def get_input_args(self) -> str:
        return "erce.integrations.axolotl.ERCEArgs"

    def post_model_load(self, cfg: Any, model: Any) -> None:
        """Attach the loss; refuse what `erce.attach` refuses, and `rl`."""
        if cfg.get("rl"):
            raise InputError(f"rl: {cfg['rl']} has a loss of its own; take ERCEPlugin out of plugins")
        settings = ERCEArgs(
            **{name: cfg.get(name) for name in ERCEArgs.model_fields if cfg.get(name) is not None}
        )
        attach(model, **settings.model_dump())
        _LOG.info(
            f"erce: {settings.base_loss} + {settings.entropy_penalty} · {settings.entropy_type} entropy"
        )

    def post_trainer_create(self, cfg: Any, trainer: Any) -> None:
        """Make the trainer divide by the tokens of a whole step; refuse one that has a loss of its own.

        Axolotl looks for `num_items_in_batch` among the named parameters of the forward, finds none and
        averages over micro-batches, although the attached loss honours it.
        """
        for name in ("compute_loss_func", "label_smoother"):
            if getattr(trainer, name, None) is not None:
                raise InputError(
                    f"the trainer has a {name}, which would replace ERCEPlugin's loss; leave out use_eaft "
                    "and label_smoothing_factor, or the plugin"
                )
        trainer.model_accepts_loss_kwargs = True
