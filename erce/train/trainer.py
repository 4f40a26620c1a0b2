"""TRL's SFT trainer, minimising a base loss + λ · entropy."""

import functools
import inspect
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import torch
from accelerate import Accelerator
from accelerate.utils import broadcast_object_list
from peft import PeftModel
from torch import Tensor, nn
from torch.utils.data import DataLoader, IterableDataset
from transformers import PreTrainedModel, Trainer, TrainingArguments
from transformers.trainer import TRAINER_STATE_NAME
from transformers.trainer_callback import TrainerState
from transformers.trainer_utils import EvalLoopOutput
from trl.trainer import sft_trainer
from trl.trainer.sft_trainer import SFTTrainer

from erce.errors import InputError
from erce.hf.adapter import README, name_objective
from erce.hf.head import (
    IGNORED,
    added_loss_of,
    evaluating,
    is_quantised,
    probe_tokens,
    readout_of,
    refresh_forward,
    refuse_offloaded,
    refuse_prompts_with_a_loss,
)
from erce.hf.models import loading, pretrained_name
from erce.hf.sequences import MARKS, WITH_THEM, has_several, keeps_apart, shifted_targets
from erce.loss import make_base_loss, make_penalty
from erce.train.config import ERCEConfig, scheduled
from erce.train.data import check_data, is_trls, refuse_nothing, several, sources_in
from erce.train.rows import FilledStream, fill_up, rows_of_a_step
from erce.train.scores import COLUMNS, BatchSums, Scorer, add_scores, tokens_by_sequence

BUILT_IN = ("entropy_type", "entropy_order", "base_loss", "normalize")  # settings that the scorer has taken
RESUMED = ("entropy_penalty", "entropy_schedule", "entropy_warmup", *BUILT_IN)

_Found = TypeVar("_Found")
_Parameters = ParamSpec("_Parameters")


def _with_parameters_of(
    original: Callable[_Parameters, None],
) -> Callable[[Callable[..., None]], Callable[_Parameters, None]]:
    """Show editors and `help` the parameters of the original, whatever the installed TRL has."""
    return functools.wraps(original, assigned=())


class ERCETrainer(SFTTrainer):
    """TRL's `SFTTrainer` with a base loss + λ · entropy as its loss, and exact numbers in its log.

    Beside `loss`, `grad_norm` (before clipping) and `learning_rate` it logs `ce`, `entropy` and `objective`:
    means over the `scored_tokens` since the last log, in nats a token. `ce` is −log p(target) whatever the
    base loss is, and `entropy` the value of the penalty, of whatever type. Evaluation logs the same means
    over the whole set, at any batch size, as `eval_ce` and so on; `eval_loss` weighs the tokens as training
    does.

    A column `weight` (a number per row, or a list with one per token of `input_ids`) multiplies the objective
    of each token; the divisor stays the number of scored tokens, or of sequences. `loss` is
    weighted; `ce`, `entropy` and `objective` are not. With a column `source`, `ce/NAME` and `entropy/NAME`
    are the means of each source.

    λ, base loss and normaliser belong to the trainer, and each of its calls of the model carries them. The
    model keeps none of them, so trainers may share a model, and its copies are plain models.
    """

    args: ERCEConfig
    minimises_entropy = True  # which ERCEConfig asks of a trainer

    @_with_parameters_of(SFTTrainer.__init__)
    def __init__(
        self,
        model: str | PreTrainedModel | PeftModel,
        args: ERCEConfig | None = None,
        *positional: Any,
        **keywords: Any,
    ) -> None:
        if args is not None and not isinstance(args, ERCEConfig):
            raise InputError(
                f"ERCETrainer needs an ERCEConfig, got {type(args).__name__}; it takes the same fields"
            )
        args = ERCEConfig() if args is None else args
        args.check_objective()  # again, for what was set since
        if isinstance(model, PreTrainedModel):
            refuse_offloaded(model)  # before transformers moves it to a device
        named = loading(model) if isinstance(model, str) else nullcontext()
        model = pretrained_name(model) if isinstance(model, str) else model
        bound = inspect.signature(SFTTrainer.__init__).bind(self, model, args, *positional, **keywords)
        check_data(bound.arguments, args)
        if args.world_size > 1:
            _refuse_dispatch(args)
        with named, _without_trls_head() if args.head == "erce" else nullcontext():
            super().__init__(model, args, *positional, **keywords)
        self._sums: dict[str, Tensor] = {}  # "train" or "eval" → the sums behind the next log
        self._lams: set[float] = set()  # every λ since the last log
        self._tokens_before = 0  # read before the checkpoint that a training went on from, by all processes
        self._tokens_read: Tensor | int = 0  # since then, by this process
        self._keeps_apart: dict[frozenset[str], bool] = {}  # by what marks the sequences in a batch
        self._refuse_other_losses()
        refuse_nothing(self.train_dataset, self.eval_dataset, args)
        self._reads_columns = args.head == "erce" and is_trls(self.data_collator)
        data_sets = (self.train_dataset, *several(self.eval_dataset).values())
        self._sources = sources_in(*data_sets) if self._reads_columns else {}
        self._built_with = {name: getattr(args, name) for name in BUILT_IN}
        self._scorer = self._our_head() if args.head == "erce" else None

    def _our_head(self) -> Scorer:
        """Give the model a forward that returns our sums, and return what each of its calls computes."""
        self.loss_is_scaled_for_ga = True  # compute_loss divides by the whole accumulated batch
        base: Any = self._base_model()
        if hasattr(base.config.get_text_config(), "router_aux_loss_coef"):  # which TRL sets, and models copy
            base.router_aux_loss_coef = self.router_aux_loss_coef
        readout = _agreed(self.accelerator, readout_of, base)
        added_loss = _agreed(self.accelerator, added_loss_of, base)
        self._predicts_first = _agreed(self.accelerator, _predicts_first, self.model)
        scorer = Scorer(
            readout=readout,
            added_loss=added_loss,
            lam=float(self.args.entropy_penalty),
            penalty=make_penalty(self.args.entropy_type, self.args.entropy_order),
            base_loss=make_base_loss(self.args.base_loss),
            by_sequence=self.args.normalize == "sequence",
            sources=len(self._sources),
        )
        add_scores(self._base_model())
        refresh_forward(self.model, self._base_model())
        return scorer

    def _base_model(self) -> PreTrainedModel:
        """Return the model under its adapter and under whatever distributes it."""
        model = self.accelerator.unwrap_model(self.model)
        base = model.get_base_model() if isinstance(model, PeftModel) else model
        if not isinstance(base, PreTrainedModel):
            raise InputError(
                f"ERCETrainer needs a transformers model or a PeftModel, got a {type(base).__name__}; leave "
                "compiling to torch_compile=True, and distributing to the launcher"
            )
        return base

    def _refuse_other_losses(self) -> None:
        """Refuse every setting under which the objective is, or may be, another than was asked for."""
        axes = self.accelerator.parallelism_config
        if axes is not None and axes.non_data_parallel_size > 1:
            raise InputError(
                "tensor, context and sequence parallelism are not supported; use data parallelism"
            )
        if self.compute_loss_func is not None:
            raise InputError("compute_loss_func would replace the objective; leave it out")
        if hasattr(self._base_model(), "erce"):
            raise InputError("the model has the loss of erce.attach already; use erce.detach(model) first")
        refuse_prompts_with_a_loss(self.model)
        if self.args.head == "erce":
            _refuse_sharding(self.accelerator)
            model = self._base_model()
            if self.aux_loss_enabled and not hasattr(model.config.get_text_config(), "router_aux_loss_coef"):
                raise InputError(
                    f"router_aux_loss_coef = {self.router_aux_loss_coef:g} would not reach the loss of "
                    f"{type(model).__name__}, whose coefficient has another name; leave it out, and set that "
                    "coefficient and output_router_logits=True in the model's config"
                )
        else:
            added_loss = _agreed(self.accelerator, added_loss_of, self._base_model())
            # TRL's head adds the loss of a router, of the kind that needs no logits.
            if added_loss is not None and not (self.aux_loss_enabled and added_loss.logits_to_keep):
                raise InputError(
                    "the model adds something to its cross-entropy that head='trl' leaves out; set "
                    "head='erce', which adds it too"
                )

    def _get_dataloader(self, dataset: Any, *args: Any, **kwargs: Any) -> DataLoader:
        if isinstance(dataset, IterableDataset) and self.accelerator.num_processes > 1:
            given = inspect.signature(super()._get_dataloader).bind(dataset, *args, **kwargs).arguments
            dataset = FilledStream(dataset, rows_of_a_step(self.accelerator, given["batch_size"]))
        loader = super()._get_dataloader(dataset, *args, **kwargs)
        fill_up(loader, self._sources if self._reads_columns else None)
        return loader

    def _set_signature_columns_if_needed(self) -> None:
        super()._set_signature_columns_if_needed()
        if self._reads_columns and "labels" in (self._signature_columns or ()):
            self._signature_columns = list(dict.fromkeys([*self._signature_columns, *COLUMNS]))

    def _inner_training_loop(self, *args: Any, **kwargs: Any) -> Any:
        for name, value in self._built_with.items():
            if getattr(self.args, name) != value:
                raise InputError(f"{name} was {value!r} when the trainer was made; make another to change it")
        self._sums.clear()  # of a training before, or an attempt that ran out of memory
        self._lams.clear()
        self._tokens_before = self._tokens_read = 0
        if checkpoint := kwargs.get("resume_from_checkpoint"):
            self._go_on_from(Path(checkpoint, TRAINER_STATE_NAME))
        return super()._inner_training_loop(*args, **kwargs)

    def _go_on_from(self, path: Path) -> None:
        """Take over a checkpoint's count of tokens, and warn if it was trained with another objective."""
        if not path.is_file():
            return
        state: Any = TrainerState.load_from_json(str(path))
        before = state.stateful_callbacks.get("ERCETrainer", {})
        logged = max((entry.get("num_tokens", 0) for entry in state.log_history), default=0)
        self._tokens_before = int(before.get("num_tokens", logged))
        for name in RESUMED:
            if name in before and before[name] != getattr(self.args, name):
                warnings.warn(
                    f"the checkpoint {str(path.parent)!r} was trained with {name} = {before[name]!r}, and "
                    f"goes on with {getattr(self.args, name)!r}",
                    stacklevel=2,
                )

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        settings = {name: getattr(self.args, name) for name in RESUMED}
        # Where transformers keeps the state of callbacks, which a checkpoint has.
        kept: Any = self.state.stateful_callbacks
        kept["ERCETrainer"] = settings | {"num_tokens": self._num_tokens()}
        super()._save_checkpoint(model, trial)

    def train(self, *args: Any, **kwargs: Any) -> Any:
        result = super().train(*args, **kwargs)
        if self.state.global_step == 0:
            warnings.warn("the training took no step: no row was left to train on", stacklevel=2)
        return result

    def _lam(self, *, training: bool) -> float:
        """Return λ at this step of a training; evaluations all have the full λ, so that they compare."""
        if not training:
            return float(self.args.entropy_penalty)
        return scheduled(
            float(self.args.entropy_penalty),
            self.args.entropy_schedule,
            warmup=self.args.entropy_warmup,
            step=self.state.global_step,
            steps=self.state.max_steps,
        )

    def get_batch_samples(
        self, epoch_iterator: Iterator, num_batches: int, device: torch.device
    ) -> tuple[list, Any]:
        """Return the micro-batches of one step and how many tokens or sequences its objective averages."""
        batches, num_items_in_batch = super().get_batch_samples(epoch_iterator, num_batches, device)
        labels = [_labels(batch) for batch in batches]
        if not batches or self.args.head == "trl":
            return batches, num_items_in_batch
        targets = [shifted_targets(*each) for each in zip(batches, labels, strict=True)]
        if self._predicts_first:  # nor does PEFT pass on what marks the sequences of a row
            targets = [shifted_targets({}, nn.functional.pad(each, (1, 0), value=IGNORED)) for each in labels]
        tokens = [tokens_by_sequence(*each) for each in targets]
        counts = [(count if self.args.normalize == "token" else count > 0).sum() for count in tokens]
        num_items_in_batch = torch.stack(counts).sum().to(device)
        if self.args.average_tokens_across_devices and self.args.world_size > 1:
            num_items_in_batch = self.accelerator.reduce(num_items_in_batch, "sum")
        return batches, num_items_in_batch

    def compute_loss(
        self,
        model: nn.Module,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Tensor | int | None = None,
    ) -> Any:
        for module in () if model.training else filter(is_quantised, model.modules()):
            module.training = True  # as in `evaluating`
        self._refuse_mixed_sequences(model, inputs, _labels(inputs))
        if self.args.head == "trl":
            return self._trl_loss(model, inputs, return_outputs, num_items_in_batch)
        assert self._scorer is not None
        lam = self._lam(training=model.training)
        if self.aux_loss_enabled and self._scorer.added_loss is not None:
            inputs["output_router_logits"] = True  # which wrappers of several modalities read here alone
        sums = model(**inputs, scores=replace(self._scorer, lam=lam))
        if not isinstance(sums, BatchSums):
            raise InputError(
                "something has replaced the forward that ERCETrainer gave the model, as Liger's losses do; "
                "leave that out, or make the trainer after it"
            )
        self._record(sums, inputs, lam, training=model.training)
        loss = self._mean(sums.weighed, sums.num_items, num_items_in_batch)
        # As in TRL: means of micro-batches, and the step takes the mean of these.
        steps = getattr(self, "current_gradient_accumulation_steps", 1)
        loss = loss + sums.loss / (1 if num_items_in_batch is None else steps)
        if not return_outputs:
            return loss
        with torch.no_grad():
            shown = {name: value for name, value in inputs.items() if name not in ("labels", *COLUMNS)}
            return loss, model(**shown)

    def _refuse_mixed_sequences(self, model: nn.Module, inputs: dict[str, Any], labels: Tensor) -> None:
        """Refuse a row of several sequences where the model would let one read the other."""
        kind = frozenset(name for name in (*MARKS, *WITH_THEM) if inputs.get(name) is not None)
        if kind.isdisjoint(MARKS):
            return
        if kind not in self._keeps_apart:
            self._keeps_apart[kind] = keeps_apart(model, probe_tokens(self._base_model()), inputs)
        if not self._keeps_apart[kind] and has_several(inputs, labels):
            raise InputError(
                "a row holds several sequences, and with this batch "
                f"({', '.join(sorted(kind))}) the model lets one read the other; leave out packing and "
                "padding_free, or the attention_mask of the data_collator if there is one"
            )

    def _trl_loss(
        self,
        model: nn.Module,
        inputs: dict[str, Any],
        return_outputs: bool,
        num_items_in_batch: Tensor | int | None,
    ) -> Any:
        """Return TRL's own loss through its own head, plus λ · entropy; with λ = 0 nothing is added."""
        outputs: list[Any] = []
        handle = model.register_forward_hook(lambda module, inputs, output: outputs.append(output))
        try:
            result = super().compute_loss(model, inputs, return_outputs, num_items_in_batch)
        finally:
            handle.remove()
        lam, output = self._lam(training=model.training), outputs[0]
        nll, entropy, tokens = -output.log_probs.sum(), output.entropy.sum(), output.label_mask.sum()
        objective = nll + lam * entropy
        aux_loss = output.aux_loss if self.aux_loss_enabled else torch.zeros_like(objective)
        sums = BatchSums(
            loss=self.router_aux_loss_coef * aux_loss,
            aux_loss=aux_loss,
            objective=objective,
            nll=nll,
            entropy=entropy,
            hits=output.is_top1.sum(),
            tokens=tokens,
            weighed=objective,
            num_items=tokens,
        )
        self._record(sums, inputs, lam, training=model.training)
        if lam == 0:
            return result
        penalty = self._mean(lam * entropy, tokens, num_items_in_batch)
        return (result[0] + penalty, result[1]) if return_outputs else result + penalty

    def _mean(self, total: Tensor, num_items: Tensor, num_items_in_batch: Tensor | int | None) -> Tensor:
        """Return `total` over the items of the accumulated batch, or over its own in evaluation."""
        if num_items_in_batch is None:
            return total / num_items.clamp(min=1)
        mean = total / torch.as_tensor(num_items_in_batch).clamp(min=1)
        # DDP averages the gradients, and the items (tokens, or sequences with normalize="sequence") have
        # already been counted over all processes.
        return mean * self.accelerator.num_processes if self.args.average_tokens_across_devices else mean

    def _record(self, sums: BatchSums, inputs: dict[str, Any], lam: float, *, training: bool) -> None:
        """Add a batch to the sums behind the next log, which stay on the device until then."""
        exact = torch.float32 if sums.loss.device.type == "mps" else torch.float64  # MPS has no float64
        total = torch.stack([x.detach().to(exact) for x in sums.columns()])
        mode = "train" if training else "eval"
        penalty = lam * total[2:3]  # λ · entropy, since λ may change before the next log
        if training:
            self._lams.add(lam)
            self._tokens_read = self._tokens_read + _read(inputs)
        added = [sums.loss, sums.loss.new_zeros(()) if sums.aux_loss is None else sums.aux_loss]
        micro_batch = [*added, torch.ones_like(sums.loss)]
        parts = [total, penalty, torch.stack([x.detach().to(total) for x in micro_batch])]
        if sums.by_source is not None:
            parts.append(sums.by_source.flatten().to(total))
        self._sums[mode] = self._sums.get(mode, 0) + torch.cat(parts)

    def _means(self, mode: str) -> dict[str, Any]:
        """Return the means since the last call; `loss` weighs the tokens as training does."""
        sums: Any = self.accelerator.reduce(self._sums.pop(mode), "sum")
        ours = len(sums) - 3 * len(self._sources)
        objective, nll, entropy, hits, tokens, weighed, num_items, penalty, *others = sums[:ours]
        added, aux_loss, batches = others
        counts = {"scored_tokens": int(tokens), "num_tokens": self._num_tokens()}
        if not counts["scored_tokens"]:
            warnings.warn(
                f"no token is scored in this log's batches ({mode}), so it has no means", stacklevel=2
            )
            return counts
        means = {
            "loss": weighed / num_items + added / batches,
            "ce": nll / tokens,
            "entropy": entropy / tokens,
            "objective": objective / tokens,
            "mean_token_accuracy": hits / tokens,
        }
        if self.aux_loss_enabled:
            means["aux_loss"] = aux_loss / batches
        if mode == "train":  # where λ changed, the mean for which objective = ce + λ · entropy
            lams, self._lams = self._lams, set()
            means["lam"] = penalty / entropy if len(lams) > 1 and entropy else max(lams)
        for name, (of_nll, of_entropy, count) in zip(self._sources, sums[ours:].view(-1, 3), strict=True):
            if count:
                means |= {f"ce/{name}": of_nll / count, f"entropy/{name}": of_entropy / count}
        return {name: float(mean) for name, mean in means.items()} | counts

    def _num_tokens(self) -> int:
        """Return how many tokens the training has read, prompts included, resumed or not."""
        here = torch.as_tensor(self._tokens_read, device=self.accelerator.device)
        total: Any = self.accelerator.reduce(here, "sum")
        return self._tokens_before + int(total)

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        is_last = "train_loss" in logs  # of a training, with the means since the last log
        if "train" in self._sums and ("loss" in logs or is_last):
            loss, means = logs.pop("loss", None), self._means("train")
            means.pop("loss", None)
            if loss is not None and "ce" in means:
                means["loss"] = loss
            logs.update(means)
        # Not SFTTrainer's, which adds means of micro-batch means under some of the same names.
        Trainer.log(self, logs, start_time)

    def name_objective(self, folder: Path) -> None:
        """Say in the README.md of a saved model which objective was minimised."""
        lam, penalty, order = self.args.entropy_penalty, self.args.entropy_type, self.args.entropy_order
        name_objective(folder, base_loss=self.args.base_loss, lam=lam, penalty=penalty, order=order)

    def _save(self, output_dir: str | None = None, state_dict: dict | None = None) -> None:
        super()._save(output_dir, state_dict)
        folder = Path(output_dir or self.args.output_dir or ".")
        if self.args.should_save and (folder / README).is_file():  # PEFT's
            self.name_objective(folder)

    def create_model_card(self, *args: Any, **kwargs: Any) -> None:
        super().create_model_card(*args, **kwargs)
        if self.is_world_process_zero():
            self.name_objective(Path(self.args.output_dir or "."))

    def evaluation_loop(self, *args: Any, metric_key_prefix: str = "eval", **kwargs: Any) -> EvalLoopOutput:
        self._sums.pop("eval", None)
        output = super().evaluation_loop(*args, metric_key_prefix=metric_key_prefix, **kwargs)
        if "eval" in self._sums and output.metrics is not None:
            means = self._means("eval")
            output.metrics.pop(f"{metric_key_prefix}_loss", None)  # of batches
            output.metrics.update({f"{metric_key_prefix}_{name}": mean for name, mean in means.items()})
        return output

    def _send_telemetry(self) -> None:
        """Send nothing: TRL reports every trainer that is built, and no user was asked."""


def _agreed(accelerator: Accelerator, try_out: Callable[[Any], _Found], model: nn.Module | None) -> _Found:
    """Return `try_out(model)` of the first process in all of them; its InputError is raised in all.

    With FSDP's efficient loading only the first process has weights to try.
    """
    outcome: list[Any] = [None]
    if accelerator.is_main_process:
        try:
            outcome = [try_out(model)]
        except InputError as error:
            outcome = [error]
    broadcast_object_list(outcome)
    if isinstance(outcome[0], InputError):
        raise outcome[0]
    return outcome[0]


def _refuse_dispatch(args: TrainingArguments) -> None:
    """Let every process make its own batches; one that cuts them for all would repeat rows."""
    config: Any = args.accelerator_config
    if config.dispatch_batches:
        raise InputError("dispatch_batches=True would train on rows twice; leave it out")
    config.dispatch_batches = False


def _refuse_sharding(accelerator: Accelerator) -> None:
    kind = str(accelerator.distributed_type.value)
    if kind == "DEEPSPEED" or (kind == "FSDP" and not accelerator.is_fsdp2):
        raise InputError(
            "head='erce' does not gather an output head that DeepSpeed or FSDP 1 has sharded; use DDP or "
            "FSDP 2 (fsdp_version: 2), or set head='trl'"
        )


@torch.no_grad()
def _predicts_first(model: Any) -> bool:
    """Return whether the virtual tokens of an adapter stand before a row's first token, and so predict it."""
    if not isinstance(model, PeftModel) or not model.active_peft_config.is_prompt_learning:
        return False
    base: Any = model.get_base_model()
    tokens = probe_tokens(base)
    with evaluating(model):
        return model(input_ids=tokens, use_cache=False).logits.shape[1] > tokens.shape[1]


@contextmanager
def _without_trls_head() -> Iterator[None]:
    """Leave out TRL's own head, with which a copy of the model would call this model's weights.

    TRL's refusal of adapters on the head, which its own head would leave out, goes with it.
    """
    replacements = {"BaseTunerLayer": type("NoAdapter", (), {}), "add_fused_lm_head": lambda *_, **__: None}
    before = {name: getattr(sft_trainer, name) for name in replacements if hasattr(sft_trainer, name)}
    for name in before:
        setattr(sft_trainer, name, replacements[name])
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(sft_trainer, name, value)


def _read(inputs: dict[str, Any]) -> Tensor:
    """Return how many tokens the model reads of a batch, without the padding."""
    mask = inputs.get("attention_mask")
    if mask is not None and mask.dim() == 2:
        return mask.sum()
    return torch.tensor(inputs["labels"].numel(), device=inputs["labels"].device)


def _labels(batch: dict[str, Any]) -> Tensor:
    if batch.get("labels") is None:
        raise InputError(
            f"a batch has no labels, only {', '.join(batch)}; let the data_collator return labels, with -100 "
            "where a token is not trained on"
        )
    return batch["labels"]
