"""Run LLaMA-Factory's training with an entropy penalty, by attaching the loss to the model that it loads.

    ERCE_ENTROPY_PENALTY=4.0 python examples/llama_factory.py my_sft.yaml
    ERCE_ENTROPY_PENALTY=4.0 torchrun --nproc-per-node 8 examples/llama_factory.py my_sft.yaml

Use this instead of `llamafactory-cli train`, which on several GPUs starts new processes without the penalty.
"""

from collections.abc import Callable
from typing import Any

import erce
from erce.integrations import settings_from_environment

OTHER_LOSSES = (
    "use_dft_loss",
    "use_eaft_loss",
    "use_asft_loss",
    "use_mca",
    "use_hyper_parallel",
    "compute_accuracy",
)


def main() -> None:
    from llamafactory.train import tuner  # pyright: ignore[reportMissingImports]
    from llamafactory.train.sft import workflow  # pyright: ignore[reportMissingImports]

    settings, load = settings_from_environment(), workflow.load_model

    def load_model(*args: Any, **kwargs: Any) -> Any:
        return erce.attach(load(*args, **kwargs), **settings)

    workflow.load_model = load_model
    tuner.get_ray_args = checked(tuner.get_ray_args, refuse_ray)
    tuner.get_train_args = checked(tuner.get_train_args, refuse_other_losses)
    tuner.run_exp()


def checked(parse: Callable[..., Any], check: Callable[[Any], None]) -> Callable[..., Any]:
    """Return `parse` with a check of its result, before anything is loaded."""

    def parsed(*args: Any, **kwargs: Any) -> Any:
        arguments = parse(*args, **kwargs)
        check(arguments)
        return arguments

    return parsed


def refuse_ray(ray: Any) -> None:
    if ray.use_ray:
        raise ValueError("Ray's workers load LLaMA-Factory anew, without the penalty; set use_ray: false")


def refuse_other_losses(arguments: Any) -> None:
    finetuning = arguments[3]  # model, data, training, finetuning, generating
    if finetuning.stage != "sft":
        raise ValueError(f"stage {finetuning.stage!r} has a loss of its own; the penalty is for stage: sft")
    for name in OTHER_LOSSES:
        if getattr(finetuning, name, False):
            raise ValueError(f"{name} and the penalty exclude each other; take one of the two out")


if __name__ == "__main__":
    main()
