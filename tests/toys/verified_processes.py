"""What `test_processes` runs under `accelerate launch` and alone: a training with VerifiedAccuracy."""

import json
import sys
from pathlib import Path
from typing import Any

from accelerate import PartialState

from erce import ERCETrainer, VerifiedAccuracy
from erce.types import Completion, Problem
from toys import training as toy

ASKED = [{"prompt": f"Say {number}.", "answer": number} for number in range(5)]
FAILING = "Say 3."  # asked of the second of two processes


def is_even(problem: Problem, completion: Completion) -> bool:
    return len(completion.text) % 2 == 0


def is_even_at_first(problem: Problem, completion: Completion) -> bool:
    """Raise once something was generated, on one problem: where two processes share them, in one of them."""
    if problem.prompt == FAILING and completion.text:
        raise ArithmeticError("not a number")
    return True


def evaluated(folder: Path, *, fails: bool) -> dict[str, Any]:
    """Train a step; return the log, the completions' rows, and the sentence of the error if there was one."""
    args = toy.config(folder, max_steps=1, eval_strategy="steps", eval_steps=1, per_device_train_batch_size=1)
    rows = toy.dataset(toy.SCORED[:4])
    trainer = ERCETrainer(
        toy.model(), args, train_dataset=rows, eval_dataset=rows, processing_class=toy.tokenizer()
    )
    verify = is_even_at_first if fails else is_even
    verified = VerifiedAccuracy(trainer, ASKED, verify, samples=2, max_new_tokens=6)
    trainer.add_callback(verified)
    sentence = ""
    try:
        metrics = trainer.evaluate()
    except ValueError as error:
        metrics, sentence = {}, str(error)
    numbers = {name: value for name, value in metrics.items() if name.startswith("eval_verified")}
    rows_of = [] if verified.last is None else list(verified.last.rows())
    return {"numbers": numbers, "rows": rows_of, "sentence": sentence}


def main() -> None:
    folder = Path(sys.argv[1])
    for name in ("works", "fails"):
        outcome = evaluated(folder, fails=name == "fails")
        (folder / f"{name}-{PartialState().process_index}.json").write_text(json.dumps(outcome))
    PartialState().destroy_process_group()


if __name__ == "__main__":
    main()
