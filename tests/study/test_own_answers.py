"""The arms "rft" and "self": the base model's own right answers as demonstrations."""

import shutil
from contextlib import nullcontext
from dataclasses import replace

import pytest
from toys.recipes import tiny_recipe

from erce.errors import InputError
from erce.files import read_json, write_json
from erce.recipe import Cell, Decoding, OwnSamples
from erce.reporting.numbers.gains import summary
from erce.reporting.words.cautions import cautions
from erce.study.demonstrations import accepted, counts, demonstrations, read_counts
from erce.study.dry_run import dry_run
from erce.study.folder import LOCKS, TRAINING, cell_folder
from erce.study.run import run
from erce.study.samples import (
    COMPLETIONS,
    SampleSet,
    VerifiedSample,
    write_completions,
    write_verdicts,
)
from erce.tasks.verdicts import verdict
from erce.types import Completion, Problem, Splits, Verdict

RECIPE = tiny_recipe(
    lams=(0.0,),
    methods=("rft + 2", "self"),
    n_train=24,
    n_validation=1,
    n_test=1,
    own=OwnSamples(samples=3, temperature=0.5),
)
OWN = SampleSet("train", "sampled")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return run(RECIPE, out=tmp_path_factory.mktemp("own") / "mini")


def own_folder(root):
    (folder,) = root.glob("cells/*-own-*")
    return folder


def test_the_base_model_samples_the_training_problems_once_for_all_arms_and_seeds(study):
    rows = own_folder(study.root) / COMPLETIONS
    assert rows.read_text(encoding="utf-8").count("\n") == 24 * 3
    assert [cell.name for cell in study.results] == [
        f"mini-sums-{arm}" for arm in ("base", "lam0-seed0", "rft-lam2-seed0", "self-seed0")
    ]
    written = rows.stat().st_mtime_ns
    more = run(replace(RECIPE, methods=("rft + 2", "self", "self + 1")), out=study.root)
    assert len(more.results) == 5
    assert rows.stat().st_mtime_ns == written
    assert len(list(study.root.glob("cells/*-own-*"))) == 1


def test_the_steps_of_a_dry_run_are_those_of_the_run_once_the_own_samples_are_there(study):
    steps = [result["training"]["steps"] for cell, result in study.results.items() if cell.is_trained]
    assert len(study.planned) == study.n_done == 5  # as run and dry run count, own samples included
    before, after = (
        next(line for line in dry_run(RECIPE, root, device="h100") if "in all" in line)
        for root in (study.root / "none", study.root)
    )
    assert f" {2 + 6 + 5} steps," in before  # as if all three samples of each problem were accepted
    assert f" {sum(steps)} steps," in after


def test_a_changed_verifier_is_seen_while_own_samples_are_missing(study, tmp_path):
    root = tmp_path / "mini"
    shutil.copytree(study.root, root)
    (own_folder(root) / "result.json").unlink()
    (base,) = root.glob("cells/mini-sums-base-*")
    present = read_json(base / "cell.json")
    write_json(base / "cell.json", present | {"verifier": "an older one"})
    run(RECIPE, out=root)
    assert read_json(base / "cell.json") == present


def test_cells_that_come_after_a_verification_alone_are_sampled_by_what_was_checked(
    study, tmp_path, monkeypatch
):
    """A run that was killed while it verified the own samples has nothing to sample at first."""
    root = tmp_path / "mini"
    shutil.copytree(study.root, root)
    for name in ("verdicts.jsonl", "result.json"):
        (own_folder(root) / name).unlink()
    (learner,) = root.glob("cells/mini-sums-self-seed0-*")
    shutil.rmtree(learner)
    base = read_json(root / "base.json")
    write_json(root / "base.json", base | {"weights": "others"})
    with pytest.raises(InputError, match="begun with another base model"):
        run(RECIPE, out=root)
    assert (own_folder(root) / "result.json").is_file()
    assert not learner.exists()
    (own_folder(root) / "result.json").unlink()
    write_json(root / "base.json", base)
    serving = []
    running = "erce.generate.backend.Transformers.running"
    monkeypatch.setattr(running, lambda backend, folder: nullcontext(serving.append(folder)))
    assert run(RECIPE, out=root).missing == []
    assert serving == [root / LOCKS]


def test_another_verifier_verifies_own_samples_again_and_cells_that_learned_others_are_named(
    study, tmp_path, monkeypatch, capsys
):
    root = tmp_path / "mini"
    shutil.copytree(study.root, root)
    before = (own_folder(root) / COMPLETIONS).read_bytes()
    write_json(path := own_folder(root) / "cell.json", read_json(path) | {"verifier": "an older one"})
    run(RECIPE, out=root)
    assert "The verifier has changed: 1 cell (mini-sums-own) verified again." in capsys.readouterr().err
    # The same verdicts came of it, so nothing that was learned is different.
    assert (own_folder(root) / COMPLETIONS).read_bytes() == before
    write_json(path, read_json(path) | {"verifier": "an older one"})
    reject = Verdict(False, "different")
    monkeypatch.setattr(
        "erce.evaluation.evaluate.verdict",
        lambda task, problem, completion: (
            reject if problem.id.endswith("1") else verdict(task, problem, completion)
        ),
    )
    trained = {path: path.read_bytes() for path in root.rglob(TRAINING)}
    again = run(RECIPE, out=root)
    sentences = (
        "2 cells (mini-sums-rft-lam2-seed0, mini-sums-self-seed0) learned from own samples whose verdicts "
        "have changed since. To train a cell again, delete its folder and run the recipe again."
    )
    assert sentences in capsys.readouterr().err
    assert sentences in cautions(summary(again))
    assert sentences not in cautions(summary(study))
    assert {path: path.read_bytes() for path in root.rglob(TRAINING)} == trained


def test_the_models_of_a_strength_sample_each_for_its_seed(tmp_path):
    own = OwnSamples(samples=3, temperature=0.5, lam=0.0)
    recipe = replace(RECIPE, seeds=(0, 1), methods=("self",), own=own)
    study = run(recipe, out=tmp_path / "mini")
    cells = {path.name.rpartition("-")[0]: path for path in study.root.glob("cells/*")}
    for seed in (0, 1):
        sampled_by, trained = (
            read_json(cells[f"mini-sums-{name}-seed{seed}"] / "cell.json") for name in ("own", "lam0")
        )
        assert sampled_by["adapter"] == trained["adapter"]
        assert (sampled_by["lam"], sampled_by["seed"]) == (0, seed)
    counted = [read_json(cells[f"mini-sums-own-seed{seed}"] / "result.json")["own"] for seed in (0, 1)]
    assert read_counts(study) == {name: counted[0][name] + counted[1][name] for name in counted[0]} | {
        "sets": 2
    }
    assert counted[0] != counted[1]


@pytest.mark.parametrize(
    ("own", "sentence"),
    [
        (OwnSamples(lam=2.0), r"\[own\] lam = 2 is not one of lams = \[0.0\]; add it"),
        (OwnSamples(lam=0.0, adapter="x"), "both a lam and an adapter"),
    ],
)
def test_who_samples_is_one_model_that_there_is(own, sentence):
    with pytest.raises(InputError, match=sentence):
        replace(RECIPE, own=own)


def test_a_cell_takes_as_many_steps_as_it_has_demonstrations_and_minimises_the_grids_base_loss(study):
    seen = read_json(own_folder(study.root) / "result.json")["own"]
    assert 0 < seen["with_one"] <= seen["problems"] == 24
    assert seen["tokens"] > seen["samples"] == 24 * 3
    for arm, least in (("self-seed0", 0), ("rft-lam2-seed0", 24)):
        (folder,) = study.root.glob(f"cells/mini-sums-{arm}-*")
        log = read_json(folder / TRAINING)
        at_most = least + seen["accepted"]
        assert -(-max(least, seen["with_one"]) // 16) <= log["steps"] <= -(-at_most // 16)
        lam = 2.0 * (arm != "self-seed0")
        for step in log["log"]:
            assert step["objective"] == pytest.approx(step["ce"] + lam * step["entropy"], rel=1e-5)


def test_a_study_without_an_accepted_sample_ends_before_any_training(tmp_path):
    recipe = replace(RECIPE, methods=("self",), decoding=Decoding(samples=2, max_new_tokens=1))
    for _ in "12":
        with pytest.raises(InputError, match=r"none of 72 samples .* nothing to train on; leave them out"):
            run(recipe, out=tmp_path / "mini")
        assert [path.name.rpartition("-")[0] for path in tmp_path.glob("mini/cells/*")] == ["mini-sums-own"]


def problem(name, *, answer="7", prompt=None):
    return Problem(id=name, prompt=prompt or f"{name}?", demonstration=f"given {name}", answer=answer)


def own_cell_folder(root, recipe=RECIPE):
    return cell_folder(root, recipe, recipe.own_cells[0])


def sampled(root, texts, *, recipe=RECIPE):
    """Write the own cell's samples: problem → (text, accepted, finished) of each."""
    folder = own_cell_folder(root, recipe)
    judged = [
        VerifiedSample(
            OWN,
            Completion(
                problem=name, sample=n, text=text, tokens=5, finished=whole, logprob=-1.0, entropy=0.1
            ),
            Verdict(right, "exact" if right else "different", extracted="7"),
        )
        for name, some in texts.items()
        for n, (text, right, whole) in enumerate(some)
    ]
    write_completions(folder, ((sample.sample_set, sample.completion) for sample in judged))
    write_verdicts(folder, judged)
    return folder


def texts_of(root, arm, problems, *, recipe=RECIPE):
    chosen = demonstrations(root, recipe, Cell("mini-sums", 0.0, 0, arm), problems)
    return [(one.prompt, one.demonstration) for one in chosen]


def test_distinct_accepted_samples_are_kept_and_self_leaves_out_problems_without_one(tmp_path):
    problems = Splits((problem("a"), problem("b"), problem("c")), (problem("v"),), (problem("t"),))
    texts = {
        "a": [
            ("x", True, True),
            (" x\n", True, True),
            ("y", False, True),
            ("z", True, True),
            ("w", True, True),
        ],
        "b": [("given b", True, True), ("cut", True, False), ("", True, True), ("u", True, True)],
        "c": [("wrong", False, True)],
    }
    recipe = replace(RECIPE, own=OwnSamples(samples=5, keep=2))
    folder = sampled(tmp_path, texts, recipe=recipe)
    assert texts_of(tmp_path, "cross-entropy", problems) == [(f"{n}?", f"given {n}") for n in "abc"]
    assert texts_of(tmp_path, "self", problems, recipe=recipe) == [
        *(("a?", "x"), ("a?", "z"), ("b?", "given b"), ("b?", "u"))
    ]
    assert texts_of(tmp_path, "rft", problems, recipe=recipe) == [
        *(("a?", "given a"), ("a?", "x"), ("a?", "z"), ("b?", "given b"), ("b?", "u"), ("c?", "given c"))
    ]
    seen = counts(folder, problems)
    assert seen == {"problems": 3, "with_one": 2, "accepted": 5, "samples": 10, "tokens": 50}
    assert len({one.id for some in accepted(folder, problems).values() for one in some}) == 5


def test_an_own_answer_that_gives_a_test_problem_away_is_left_out(tmp_path):
    """Without answers, two problems of one wording are the same if their demonstrations are."""
    prompt = "Name the colour of the sky on a clear day in one single word"
    train = problem("a", answer="", prompt=prompt)
    test = replace(problem("t", answer="", prompt=f"{prompt} please"), demonstration="blue")
    problems = Splits((train, problem("b", answer="")), (problem("v"),), (test,))
    samples = [("azure", True, True), ("Blue.", True, True)]
    sampled(tmp_path, {"a": samples, "b": [("blue", True, True)]})
    assert texts_of(tmp_path, "self", problems) == [(prompt, "azure"), ("b?", "blue")]


def test_the_settings_of_the_samples_name_the_cells_that_they_are_for(tmp_path):
    def names(**own):
        recipe = replace(RECIPE, own=OwnSamples(**own))
        cells = [recipe.own_cells[0], *recipe.cells()]
        return [cell_folder(tmp_path, recipe, cell).name for cell in cells]

    usual, kept, hotter = names(), names(keep=1), names(temperature=1.0)
    same = [[a == b for a, b in zip(usual, other, strict=True)] for other in (kept, hotter)]
    assert same == [[True, True, True, False, False], [False, True, True, False, False]]
    grid = replace(RECIPE, own=None, methods=())
    assert [cell_folder(tmp_path, grid, cell).name for cell in grid.cells()] == usual[1:3]


def test_training_over_an_own_folder_that_changes_is_read_anew(tmp_path):
    problems = Splits((problem("a"),), (problem("v"),), (problem("t"),))
    folder = sampled(tmp_path, {"a": [("x", True, True)]})
    assert len(texts_of(tmp_path, "self", problems)) == 1
    write_json(folder / "result.json", {})
    sampled(tmp_path, {"a": [("x", True, True), ("y", True, True)]})
    assert len(texts_of(tmp_path, "self", problems)) == 2
