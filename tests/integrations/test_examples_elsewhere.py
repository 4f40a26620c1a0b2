"""The examples for other people's frameworks, against stand-ins of the interfaces that these publish."""

import asyncio
import importlib.util
import re
import types
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from toys import frameworks as stubs
from toys import training as toy
from trl import SFTConfig, SFTTrainer

from erce import ERCETrainer
from erce.imports import Reading
from erce.imports.readers import read_log
from erce.loss.from_logits import reference_from_logits

EXAMPLES = Path(__file__).parents[2] / "examples"
LAM = 2.0
LABELS = toy.batch(toy.UNEQUAL)["labels"]
LOGITS = torch.randn(*LABELS.shape, 32, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
SHIFTED = torch.where(LABELS == toy.IGNORED, LABELS, LABELS % 32)  # as both frameworks hand labels to a loss


def example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def sums(lam: float) -> torch.Tensor:
    """The sum of cross-entropy + λ · entropy over the labels, as it is defined."""
    scored = SHIFTED != toy.IGNORED
    return reference_from_logits(LOGITS[scored], SHIFTED[scored], lam).sum()


@pytest.mark.parametrize("lam", [0.0, LAM])
def test_accumulated_as_torchtunes_recipes_do_its_loss_is_the_mean_over_all_labels(lam):
    """Of torchtune 0.6.1: a flat loss of each micro-batch, times its labels, over the labels of the step."""
    loss = example("torchtune_loss").EntropyLoss(lam=lam)
    total = 0.0
    for logits, labels in zip(LOGITS.split(3), SHIFTED.split(3), strict=True):
        total += loss(logits.reshape(-1, 32), labels.reshape(-1)) * (labels != loss.ignore_index).sum()
    assert float(total) == pytest.approx(float(sums(lam)), rel=1e-9)


@pytest.mark.parametrize("lam", [0.0, LAM])
def test_chunk_by_chunk_torchtitans_loss_adds_up_to_the_mean_over_all_labels(lam, tmp_path, monkeypatch):
    """Of torchtitan 0.3.0: its wrapper calls the loss on the logits of a chunk of positions at a time."""
    stubs.install(tmp_path, monkeypatch, "torchtitan")
    loss = example("torchtitan_loss").EntropyLoss.Config(lam=lam).build(compile_config=None)
    tokens = (SHIFTED != toy.IGNORED).sum()
    chunks = zip(LOGITS.split(4, dim=1), SHIFTED.split(4, dim=1), strict=True)
    parts = [loss(logits, labels, tokens)[0] for logits, labels in chunks]
    assert float(sum(parts)) == pytest.approx(float(sums(lam) / tokens), rel=1e-9)
    stubs.forget("torchtitan")


@pytest.mark.filterwarnings("ignore:.compute_loss_func. is deprecated:FutureWarning")
def test_as_trls_compute_loss_func_it_is_trls_loss_and_ercetrainers(tmp_path):
    page = (EXAMPLES.parent / "docs" / "integrations.md").read_text(encoding="utf-8")
    [shown] = re.findall(r"```python\n([^`]*def entropy_loss[^`]*)```", page)
    names: dict[str, Any] = {}
    exec(shown, names)
    entropy_loss = names["entropy_loss"]
    for_trl = SFTConfig(**toy.common(tmp_path, learning_rate=1e-2), **toy.ON_A_CPU)

    def losses(trainer: Any, args: Any, **more: Any) -> list[float]:
        rows = toy.dataset(toy.UNEQUAL)
        built = trainer(
            toy.model(),
            args,
            processing_class=toy.tokenizer(),
            train_dataset=rows,
            peft_config=toy.lora(init_lora_weights=False),
            **more,
        )
        built.train()
        return [entry["loss"] for entry in built.state.log_history if "loss" in entry]

    alone = losses(SFTTrainer, for_trl, compute_loss_func=partial(entropy_loss, lam=0.0))
    assert alone == pytest.approx(losses(SFTTrainer, for_trl), rel=1e-5)
    penalised = losses(SFTTrainer, for_trl, compute_loss_func=partial(entropy_loss, lam=LAM))
    ours = losses(ERCETrainer, toy.config(tmp_path, learning_rate=1e-2, entropy_penalty=LAM))
    assert penalised == pytest.approx(ours, rel=1e-5)
    assert len(set(penalised) | set(alone)) == 2 * len(alone) > 2


def test_the_inspect_scorer_says_whether_why_and_what_was_judged(monkeypatch):
    """Of inspect-ai 0.3.285."""
    names = {"scorer": lambda metrics: lambda made: made, "CORRECT": "C", "INCORRECT": "I"}
    stubs.stand_in(monkeypatch, "inspect_ai.scorer", Score=types.SimpleNamespace, **names)
    stubs.stand_in(monkeypatch, "inspect_ai", "inspect_ai.solver")
    score = example("inspect_scorer").same_answer()

    def scored(text: str, target: str) -> Any:
        state = types.SimpleNamespace(output=types.SimpleNamespace(completion=text))
        return asyncio.run(score(state, types.SimpleNamespace(text=target)))

    assert vars(scored(r"So $\boxed{0.75}$.", r"\frac{3}{4}")) == {
        "value": "C",
        "answer": "0.75",
        "explanation": r"number \frac{3}{4} against 0.75",
    }
    assert vars(scored("75", "75")) == {"value": "I", "answer": None, "explanation": "no answer"}


def test_the_rows_of_an_inspect_log_are_its_samples_and_a_failed_run_has_none(monkeypatch, tmp_path):
    """Of inspect-ai 0.3.285."""
    settings = types.SimpleNamespace(temperature=0.0)
    run = types.SimpleNamespace(task="sums", model="m", model_generate_config=settings)
    samples = [
        types.SimpleNamespace(
            **{"id": 3, "epoch": epoch, "target": ["4", "four"], "error": None},
            output=types.SimpleNamespace(completion="2+2", stop_reason=reason),
            scores={"match": types.SimpleNamespace(value=value, answer=None)},
        )
        for epoch, value, reason in ((1, "C", "stop"), (2, "I", "max_tokens"))
    ]
    plan = types.SimpleNamespace(config=types.SimpleNamespace(temperature=None))
    log = types.SimpleNamespace(status="success", eval=run, plan=plan, samples=samples)
    stubs.stand_in(monkeypatch, "inspect_ai.log", read_eval_log=lambda path: log)
    stubs.stand_in(monkeypatch, "inspect_ai")
    monkeypatch.setattr("sys.argv", ["inspect_rows.py", "a.eval", str(tmp_path / "rows.jsonl")])
    example("inspect_rows")
    rows, prompts = read_log(tmp_path / "rows.jsonl", "a", Reading())
    assert prompts == {"3": ""}
    assert [(row.task, row.model, row.problem, row.answer, row.decoding) for row in rows] == [
        ("sums", "m", "3", "4; four", "greedy")
    ] * 2
    assert [(row.sample, row.accepted, row.finish) for row in rows] == [
        (0, True, "stop"),
        (1, False, "length"),
    ]
    log.status = "cancelled"
    with pytest.raises(SystemExit, match="ended as 'cancelled', 0 samples failed; finish it with inspect"):
        example("inspect_rows")


def test_the_lm_eval_metric_is_1_for_an_accepted_completion():
    """Of lm-eval 0.4.13, which calls `process_results` with a document and the filtered completions."""
    judge = example("lm_eval_metric").process_results
    assert judge({"answer": r"\frac{3}{4}"}, [r"So $\boxed{0.75}$."]) == {"accepted": 1.0}
    assert judge({"answer": "4"}, [r"\boxed{5}"]) == {"accepted": 0.0}
