"""TRL's SFT trainer becomes ours: an objective + λ · entropy."""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from accelerate.utils import DynamoBackend
from peft import PeftModel
from torch import Tensor, nn
from torch.utils.data import DataLoader
from transformers import PreTrainedModel, Trainer
from transformers.trainer_utils import EvalLoopOutput
from trl.trainer import sft_trainer
from trl.trainer.sft_trainer import SFTTrainer

from erce.loss import make_objective, make_penalty
from erce.train.config import ERCEConfig
from erce.train.distributed import agreed_readout, ignore_repeats, refuse_sharding
from erce.train.scores import DIAGNOSTICS, Scorer, Scores, add_scores, scored
from erce.train.strength import scheduled


class ERCETrainer(SFTTrainer):
    """TRL's `SFTTrainer`, minimising an objective + λ · entropy, with exact numbers in its log.

    Logged beside `loss`, `grad_norm` (before clipping) and `learning_rate`: `ce`, `entropy` and `objective`,
    means over the `scored_tokens` since the last log, in nats a token; `ce` is −log p(target) whatever the
    objective, and `entropy` the penalty's value, of whatever type. Evaluation logs the same as `eval_ce`, …
    over the whole set, at any batch size, and `eval_loss` as the training objective weighs it.
    """

    args: ERCEConfig

    def __init__(
        self,
        model: str | PreTrainedModel | PeftModel,
        args: ERCEConfig | None = None,
        *rest: Any,
        **named: Any,
    ) -> None:
        if args is not None and not isinstance(args, ERCEConfig):
            raise ValueError(
                f"ERCETrainer needs an ERCEConfig, got {type(args).__name__}; it takes the same fields"
            )
        args = ERCEConfig() if args is None else args
        with _adapters_on_the_head(allowed=args.head == "erce"):
            super().__init__(model, args, *rest, **named)
        self._sums: dict[str, Tensor] = {}
        self._lam = float(self.args.entropy_penalty)
        self._lams: set[float] = set()  # those since the last log
        self._refuse_unproven()
        self._scorer: Scorer | None = None
        if self.args.head == "erce":
            self.loss_is_scaled_for_ga = True  # compute_loss divides by the whole accumulated batch
            self._scorer = self._make_scorer()
            add_scores(self._base_model(), self._scorer)

    def _make_scorer(self) -> Scorer:
        lam: float | Tensor = self._lam
        plugin = self.accelerator.state.dynamo_plugin
        if plugin is not None and plugin.backend != DynamoBackend.NO:
            device = self.accelerator.device
            lam = torch.tensor(lam, device=device, dtype=_exact(device))
        return Scorer(
            readout=agreed_readout(self.accelerator, self._base_model()),
            lam=lam,
            penalty=make_penalty(self.args.entropy_type, self.args.entropy_order),
            objective=make_objective(self.args.objective),
            by_sequence=self.args.normalize == "sequence",
            diagnose=self.args.log_diagnostics,
        )

    def _base_model(self) -> PreTrainedModel:
        """The model under its adapter and whatever distributes it."""
        model = self.accelerator.unwrap_model(self.model)
        base = model.get_base_model() if isinstance(model, PeftModel) else model
        assert isinstance(base, PreTrainedModel)
        return base

    def _refuse_unproven(self) -> None:
        """A ValueError where the objective would be another than was asked for, or was not shown to be it."""
        axes = self.accelerator.parallelism_config
        if axes is not None and axes.non_data_parallel_size > 1:
            raise ValueError(
                "tensor, context and sequence parallelism are not supported; use data parallelism"
            )
        if self.compute_loss_func is not None:
            raise ValueError("compute_loss_func would replace the objective; leave it out")
        if hasattr(self._base_model(), "erce"):
            raise ValueError("the model has the loss of erce.attach already; use erce.detach(model) first")
        if self.args.head == "trl":
            return
        refuse_sharding(self.accelerator)
        if self.aux_loss_enabled:
            raise ValueError(
                "head='erce' leaves out a mixture of experts' load-balancing loss; set router_aux_loss_coef=0"
                " to train without it, or head='trl'"
            )

    def train(self, *args: Any, **kwargs: Any) -> Any:
        self._sums.clear()
        self._lams.clear()
        try:
            return super().train(*args, **kwargs)
        finally:
            self._weigh(self.args.entropy_penalty)

    def _weigh(self, lam: float) -> None:
        self._lam = float(lam)
        if self._scorer is not None:
            self._scorer.weigh(self._lam)

    def _lam_of_step(self) -> float:
        return scheduled(
            self.args.entropy_penalty,
            self.args.entropy_schedule,
            warmup=self.args.entropy_warmup,
            step=self.state.global_step,
            steps=self.state.max_steps,
        )

    def get_batch_samples(
        self, epoch_iterator: Iterator, num_batches: int, device: torch.device
    ) -> tuple[list, Any]:
        """The micro-batches of one step, and how many scored tokens or sequences its objective is over."""
        batches, items = super().get_batch_samples(epoch_iterator, num_batches, device)
        self._weigh(self._lam_of_step())
        self._lams.add(self._lam)
        repeated = bool(batches) and ignore_repeats(
            self.accelerator, batches[-1]["labels"], rows=self.args.per_device_train_batch_size
        )
        if self.args.head == "trl" or not batches:
            return batches, self._get_num_items_in_batch(batches, device) if repeated else items
        masks = [scored(batch["labels"]) for batch in batches]
        counts = [(mask if self.args.normalize == "token" else mask.any(1)).sum() for mask in masks]
        items = torch.stack(counts).sum().to(device)
        if self.args.average_tokens_across_devices and self.args.world_size > 1:
            items = self.accelerator.reduce(items, "sum")
        return batches, items

    def compute_loss(
        self,
        model: nn.Module,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Tensor | int | None = None,
    ) -> Any:
        if self.args.head == "trl":
            return self._trl_loss(model, inputs, return_outputs, num_items_in_batch)
        scores = model(**inputs, scores=True)
        self._record(scores, model.training)
        loss = self._over_window(scores.loss, scores.items.sum(), num_items_in_batch)
        if not return_outputs:
            return loss
        with torch.no_grad():
            return loss, model(**{name: value for name, value in inputs.items() if name != "labels"})

    def _trl_loss(
        self, model: nn.Module, inputs: dict[str, Any], return_outputs: bool, window: Tensor | int | None
    ) -> Any:
        """TRL's own loss through its own head, plus λ · entropy; with λ = 0 nothing at all is added."""
        seen: list[Any] = []
        handle = model.register_forward_hook(lambda module, given, output: seen.append(output))
        try:
            result = super().compute_loss(model, inputs, return_outputs, window)
        finally:
            handle.remove()
        lam, fused = self._lam, seen[0]
        nll, entropy, tokens = -fused.log_probs.sum(1), fused.entropy.sum(1), fused.label_mask.sum(1)
        objective = nll + lam * entropy
        scores = Scores(objective.sum(), objective, nll, entropy, tokens, objective, tokens)
        self._record(scores, model.training)
        if lam == 0:
            return result
        penalty = self._over_window(lam * entropy.sum(), tokens.sum(), window)
        return (result[0] + penalty, result[1]) if return_outputs else result + penalty

    def _over_window(self, total: Tensor, here: Tensor, window: Tensor | int | None) -> Tensor:
        """`total` over the items of the accumulated batch, on all devices; of those `here` in evaluation."""
        if window is None:
            return total / here.clamp(min=1)
        mean = total / torch.as_tensor(window).clamp(min=1)
        # DDP averages the gradients, and the window has already been counted over all processes.
        return mean * self.accelerator.num_processes if self.args.average_tokens_across_devices else mean

    def _record(self, scores: Scores, training: bool) -> None:
        """Adds to the sums behind the next log; they stay on the device until then."""
        columns: Any = (*scores[1:-1], *scores.diagnostics)
        columns = torch.stack([column.detach().to(_exact(column.device)) for column in columns], 1)
        if not training:  # without the sequences that only fill up a process's last batch
            columns = self.accelerator.gather_for_metrics(columns)
        mode, total = "train" if training else "eval", columns.sum(0)
        self._sums[mode] = self._sums.get(mode, 0) + torch.cat([total, self._lam * total[2:3]])

    def _means(self, mode: str) -> dict[str, Any]:
        """What was recorded since the last call, a scored token; `loss` is weighed as in training."""
        sums: Any = self._sums.pop(mode)
        if mode == "train":
            sums = self.accelerator.reduce(sums, "sum")
        objective, nll, entropy, tokens, weighed, items, *diagnostics, penalty = sums
        means = {"loss": weighed / items, "ce": nll / tokens, "entropy": entropy / tokens}
        means |= {"objective": objective / tokens}
        means |= {name: x / tokens for name, x in zip(DIAGNOSTICS, diagnostics, strict=False)}
        if mode == "train":
            means |= {"lam": self._logged_lam(penalty, entropy)}
        return {name: float(mean) for name, mean in means.items()} | {"scored_tokens": int(tokens)}

    def _logged_lam(self, penalty: Tensor, entropy: Tensor) -> Tensor | float:
        """λ since the last log; where it changed, the mean that makes objective = ce + λ · entropy."""
        changed, self._lams = self._lams, set()
        return penalty / entropy if len(changed) > 1 and entropy else self._lam

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        if "loss" in logs and "train" in self._sums:
            logs.update(self._means("train") | {"loss": logs["loss"]})
        # Not SFTTrainer's, which adds means of micro-batch means under some of the same names.
        Trainer.log(self, logs, start_time)

    def evaluation_loop(
        self,
        dataloader: DataLoader,
        description: str,
        prediction_loss_only: bool | None = None,
        ignore_keys: list[str] | None = None,
        metric_key_prefix: str = "eval",
    ) -> EvalLoopOutput:
        self._sums.pop("eval", None)
        self._weigh(self.args.entropy_penalty)  # one λ for all evaluations, or the best would be the first
        output = super().evaluation_loop(
            dataloader, description, prediction_loss_only, ignore_keys, metric_key_prefix
        )
        if "eval" in self._sums and output.metrics is not None:
            exact = {f"{metric_key_prefix}_{name}": mean for name, mean in self._means("eval").items()}
            output.metrics.update(exact)
        return output

    def floating_point_ops(self, inputs: dict[str, Any]) -> int:
        return self._flops_per_token * inputs["input_ids"].numel()

    @functools.cached_property
    def _flops_per_token(self) -> int:
        """`Trainer`'s own estimate; it counts the parameters anew at every micro-batch."""
        return 6 * self._base_model().num_parameters(exclude_embeddings=True)

    def _send_telemetry(self) -> None:
        """TRL reports every trainer that is built; a study builds hundreds, and nobody was asked."""


@contextmanager
def _adapters_on_the_head(*, allowed: bool) -> Iterator[None]:
    """TRL refuses adapters on the head, which its own head would leave out; ours takes them."""
    what_trl_looks_for = getattr(sft_trainer, "BaseTunerLayer", None)
    if not allowed or what_trl_looks_for is None:
        yield
        return
    setattr(sft_trainer, "BaseTunerLayer", type("Nothing", (), {}))  # noqa: B010 — of another's module
    try:
        yield
    finally:
        setattr(sft_trainer, "BaseTunerLayer", what_trl_looks_for)  # noqa: B010


def _exact(device: torch.device) -> torch.dtype:
    return torch.float32 if device.type == "mps" else torch.float64  # MPS has no float64
