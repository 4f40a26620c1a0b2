"""A trainer, problems and a verifier → verified accuracy in the log of each of the trainer's evaluations."""

import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from accelerate.utils import gather_object
from transformers import Trainer, TrainerCallback, TrainerControl, TrainerState, TrainingArguments
from transformers.integrations.deepspeed import is_deepspeed_zero3_enabled

from erce.catalog import refusing_unknown_names
from erce.errors import InputError, sendable
from erce.evaluation.evaluate import (
    EvaluatedCompletion,
    Evaluation,
    EvaluationSettings,
    prepare,
    progress,
    require_generation,
)
from erce.files import write_rows
from erce.types import Task, Verifier

FOLDER = "completions"  # in the trainer's output_dir
PREFIX = "eval_"


class VerifiedAccuracy(TrainerCallback):
    """At every evaluation of a trainer under the prefix "eval", how many completions a verifier accepts.

        trainer.add_callback(VerifiedAccuracy(trainer, problems, "number", samples=4))

    The log, whatever `report_to` names and the evaluation's metrics get `eval_verified` (greedy decoding) and
    `eval_cut_off` and `eval_mean_tokens` of the same completions; with samples also `eval_verified_sampled`,
    `eval_pass@k` and `eval_mixed`, the share of problems with right and wrong samples. Where a verifier wants
    a form, `eval_verified_flexible` is without it. All but the tokens are shares of 1. So
    `metric_for_best_model="eval_verified"`, `load_best_model_at_end` and early stopping work. The completions
    with their verdicts are in `output_dir/completions`, and in a table of Weights & Biases or Comet. Several
    processes share the problems. The training has the bits that it would have without the callback. `last` is
    the last `Evaluation`.

    Args:
        trainer: An `ERCETrainer`, TRL's `SFTTrainer`, or transformers' `Trainer` with a `processing_class`.
        problems: What the model is asked, as for `erce.evaluate`; other problems than it trains on.
        verify: Who verifies, as for `erce.evaluate`.
        settings: `samples`, `temperature`, `max_new_tokens`, `batch_size`, `stop` and `seed` of
            `erce.evaluate`.

    Raises:
        InputError: As `erce.evaluate`, and where the weights are sharded; raised here, before any step.
    """

    def __init__(
        self, trainer: Trainer, problems: Iterable[Any], verify: str | Task | Verifier, **settings: Any
    ) -> None:
        tokenizer: Any = trainer.processing_class
        if tokenizer is None:
            raise InputError("the trainer has no tokenizer; give it processing_class=tokenizer")
        if trainer.is_fsdp_enabled or is_deepspeed_zero3_enabled():
            raise InputError(
                "FSDP and DeepSpeed ZeRO-3 shard the weights, and generation needs all of them; "
                "use DDP, or evaluate the saved model with erce.evaluate"
            )
        if any(isinstance(other, VerifiedAccuracy) for other in trainer.callback_handler.callbacks):
            raise InputError("the trainer has a VerifiedAccuracy, which logs by the same names; keep one")
        self.trainer, self.last = trainer, None
        problems = list(problems)
        checked = refusing_unknown_names(EvaluationSettings)(**settings)
        self._plan = prepare(getattr(tokenizer, "tokenizer", tokenizer), problems, verify, checked)
        _warn_of_texts(trainer.train_dataset, problems)
        require_generation(self._model(), self._plan)

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        if args.eval_strategy == "no":
            warnings.warn(
                "VerifiedAccuracy has nothing to do in a training with eval_strategy='no'; set 'epoch', or "
                "'steps' with eval_steps, and give an eval_dataset",
                stacklevel=2,
            )
        callbacks = self.trainer.callback_handler.callbacks
        callbacks.sort(key=lambda callback: callback is not self)  # before those that read the metrics

    def on_evaluate(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        metrics: dict[str, float] | None = None,
        **_: Any,
    ) -> None:
        if metrics is None or not self._is_last(metrics):
            return
        with progress(wanted=state.is_world_process_zero and not args.disable_tqdm):
            self.last = evaluation = self._evaluation()
        logged = {PREFIX + name: number for name, number in evaluation.metrics().items()}
        metrics.update(logged)
        self.trainer.log(dict(logged))
        if state.is_world_process_zero:
            rows = [{"step": state.global_step} | row for row in evaluation.rows()]
            folder = Path(args.output_dir or ".") / FOLDER
            folder.mkdir(parents=True, exist_ok=True)
            write_rows(folder / f"step-{state.global_step:06}.jsonl", rows)
            _log_table(args, rows)

    def _is_last(self, metrics: Mapping[str, float]) -> bool:
        """Return whether these are the metrics of an evaluation, and of the last one of several data sets."""
        names = list(self.trainer.eval_dataset) if isinstance(self.trainer.eval_dataset, dict) else []
        earlier = any(f"{PREFIX}{name}_runtime" in metrics for name in names[:-1])
        return not earlier and any(name.startswith(PREFIX) for name in metrics)

    def _model(self) -> Any:
        return self.trainer.accelerator.unwrap_model(self.trainer.model)

    def _evaluation(self) -> Evaluation:
        """Return the evaluation of all problems, of which every process does its share.

        An error of one process is raised in all of them, which would wait for it for ever.
        """
        accelerator, plan = self.trainer.accelerator, self._plan
        verified: dict[str, list[EvaluatedCompletion]] = {}
        error: Exception | None = None
        try:
            share = plan.problems[accelerator.process_index :: accelerator.num_processes]
            verified = plan.verified(self._model(), share)
        except Exception as raised:  # whatever it is, the other processes wait for this one's part
            if accelerator.num_processes == 1:
                raise
            error = sendable(raised, str(raised))
        gathered: list[Any] = gather_object([(verified, error)])
        for _, raised in gathered:
            if raised is not None:
                raise raised
        together = {name: [each for some, _ in gathered for each in some[name]] for name in plan.decodings}
        return plan.scored(together)


def _warn_of_texts(rows: Any, asked: list[Any]) -> None:
    """Warn if the training's prompts are messages and the problems' are texts, which get no chat template."""
    row = next(iter(rows), {}) if getattr(rows, "column_names", None) else {}
    texts = any(isinstance(one, Mapping) and isinstance(one.get("prompt"), str) for one in asked)
    if texts and not isinstance(row.get("messages", row.get("prompt", "")), str):
        text = "training's prompts are messages and these problems' are texts; write messages"
        warnings.warn(text, stacklevel=3)


def _log_table(args: TrainingArguments, rows: list[dict[str, Any]]) -> None:
    """Log the completions as a table where the tracker has tables, under the name that TRL gives its own."""
    columns, values = list(rows[0]), [list(row.values()) for row in rows]
    trackers = args.report_to or ()
    if "wandb" in trackers:
        import wandb  # pyright: ignore[reportMissingImports]

        wandb.log({FOLDER: wandb.Table(columns=columns, data=values)})
    if "comet_ml" in trackers:
        import comet_ml  # pyright: ignore[reportMissingImports]

        if (experiment := comet_ml.get_running_experiment()) is not None:
            experiment.log_table(f"{FOLDER}.csv", tabular_data=values, headers=columns)
