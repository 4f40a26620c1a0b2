"""Logs of other tools, by arm, and rows become a study whose numbers are those of the logs."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from toys.logs import write_lm_eval

from erce.cli.main import main
from erce.errors import InputError
from erce.files import read_json, read_rows, write_rows
from erce.imports import Reading, import_study
from erce.recipe import Cell
from erce.reporting import report
from erce.reporting.numbers.gains import summary
from erce.reporting.numbers.k_samples import sample_coverage
from erce.reporting.pages.html import document
from erce.reporting.pages.tables import Sheet, markdown
from erce.reporting.words.sentences import sentences
from erce.study.export import records
from erce.study.folder import PROBLEMS, read_study
from erce.study.schedule import best_lam
from erce.types import Arm


def copied(path: Path) -> Path:
    """Return a copy of a log: none may be named twice."""
    copy = path.with_name(f"{path.name} again")
    return Path((shutil.copytree if path.is_dir() else shutil.copy)(path, copy))


def test_folders_of_lm_eval_become_a_study(tmp_path):
    base = [write_lm_eval(tmp_path / f"base{seed}" / "org__m", [[1], [0], [0]]) for seed in range(2)]
    mine = [write_lm_eval(tmp_path / f"mine{seed}" / "org__m", [[1], [1], [seed > 0]]) for seed in range(3)]
    words = ["--baseline", *base, "--arm", "lam=2", *mine, "--arm", "dpo", copied(mine[0])]
    assert main(["import", str(tmp_path / "study"), *map(str, words)]) == 0
    study = read_study(tmp_path / "study")
    assert (study.recipe.task, study.recipe.lams, study.recipe.methods) == ("gsm8k", (0.0, 2.0), ("dpo",))
    assert study.missing == []
    outcomes = study.outcomes("gsm8k", Arm(2.0), split="test", decoding="greedy")
    np.testing.assert_array_equal(outcomes, [[[1], [1], [0]], *[[[1], [1], [1]]] * 2])
    assert study.outcomes("gsm8k", Arm(0.0, "dpo"), split="test", decoding="greedy").shape == (1, 3, 1)
    assert [row["prompt"] for row in read_rows(study.root / PROBLEMS)] == [
        f"Q: {at}+0?\nA:" for at in range(3)
    ]


def test_what_a_log_does_not_say_is_none_and_never_0(tmp_path):
    log = write_lm_eval(tmp_path / "log", [[1], [0]])
    study = import_study(tmp_path / "study", {"baseline": [log]})
    [result] = study.results.values()
    scores = result["scores"]["test"]["greedy"]
    assert scores == {
        "pass@1": 0.5,
        "flexible": None,
        "problems": 2,
        "samples": 1,
        "reasons": {"passed": 0.5, "no answer": 0.5},
        "finished": None,
        "tokens": None,
        "entropy": None,
        "logprob": None,
    }
    assert result.keys() == {"cell", "scores"}
    unknown = ("tokens", "finish", "logprob", "entropy", "key", "adapter", "verifier", "dtype")
    assert {getattr(row, name) for row in records(study) for name in unknown} == {None}


def test_greedy_logs_and_logs_of_samples_are_two_decodings_of_the_same_seeds(tmp_path):
    drawn = {"do_sample": True, "temperature": 0.6, "max_gen_toks": 99}
    arms = {"baseline": [], "lam=0.5": []}
    for arm, logs in arms.items():
        for seed in range(2):
            logs.append(write_lm_eval(tmp_path / f"{arm}{seed}g", [[1], [0]]))
            logs.append(write_lm_eval(tmp_path / f"{arm}{seed}s", [[1, 0], [0, 1]], settings=drawn))
    study = import_study(
        tmp_path / "study", arms, validation={arm: [*map(copied, logs)] for arm, logs in arms.items()}
    )
    assert study.recipe.seeds == (0, 1)
    assert (study.recipe.decoding.temperature, study.recipe.decoding.samples) == (0.6, 2)
    assert best_lam(study).scores == {0.0: 0.5, 0.5: 0.5}
    rows = [row for row in summary(study).rows if row.arm.lam == 0.5]
    assert [(row.decoding, row.gain.gain, row.n_seeds) for row in rows] == [
        ("sampled", 0.0, 2),
        ("greedy", 0.0, 2),
    ]
    assert {(row.steps, row.sampled_before) for row in rows} == {(None, None)}  # which no log says


def test_rows_become_a_study_with_what_they_say(tmp_path):
    known = {"task": "mine/gsm8k", "model": "hf/m", "tokens": 7, "finish": "length", "prompt": "0+0?"}
    known |= {"logprob": -2.5, "entropy": 0.5}
    lines = [
        known | {"problem": at, "accepted": right, "flexible": at == 0, "extracted": ""}
        for at, row in enumerate([[1, 0], [0, 0]])
        for right in row
    ]
    write_rows(file := tmp_path / "rows.jsonl", lines)
    logs = {arm: [Path(shutil.copy(file, tmp_path / arm))] for arm in ("baseline", "grpo", "base")}
    study = import_study(tmp_path / "study", logs, reading=Reading(temperature=1.0))
    assert study.recipe.cells() == [
        Cell("mine-gsm8k", None, 0),
        Cell("mine-gsm8k", 0.0, 0),
        Cell("mine-gsm8k", 0.0, 0, "grpo"),
    ]
    scores = next(iter(study.results.values()))["scores"]["test"]["sampled"]
    assert (scores["tokens"], scores["finished"], scores["pass@2"]) == (7.0, 0.0, 0.5)
    assert scores["reasons"] == {"passed": 0.25, "truncated": 0.75}
    assert scores["flexible"] == 0.5
    assert study.recipe.model == "hf/m"
    assert next(read_rows(study.root / PROBLEMS))["prompt"] == "0+0?"
    assert (scores["entropy"], scores["best@2"]) == (0.5, 0.25)
    apart = [file.with_name(f"{penalty}.jsonl") for penalty in (1.0, 1.3)]
    for path, penalty in zip(apart, (1.0, 1.3), strict=True):
        write_rows(path, [line | {"repetition_penalty": penalty} for line in lines])
    with pytest.raises(ValueError, match=r"repetition_penalty = 1\.0 in arm 'baseline' and 1\.3 in arm 'x'"):
        import_study(
            tmp_path / "apart", {"baseline": apart[:1], "x": apart[1:]}, reading=Reading(temperature=1.0)
        )


def two(folder, **change):
    """A baseline and an arm of it, and the arm's file changed."""
    return {
        "baseline": [write_lm_eval(folder / "a", [[1], [0]])],
        "x": [write_lm_eval(folder / "b", **({"values": [[1], [0]]} | change))],
    }


def sampled(folder, *temperatures):
    """A baseline and an arm, each sampled at a temperature of its own."""
    drawn = [{"do_sample": True, "temperature": degree} for degree in temperatures]
    return {
        name: [write_lm_eval(folder / name, [[1]], settings=settings)]
        for name, settings in zip(("baseline", "x"), drawn, strict=True)
    }


@pytest.mark.parametrize(
    ("logs", "reading", "sentence"),
    [
        (lambda at: {"x": []}, {}, "no arm 'baseline' among"),
        (lambda at: {"baseline": [at / "no"]}, {}, "no log at"),
        (lambda at: two(at, values=[[1]]), {}, "arm 'x', seed 0, problem '1', sample 0 is missing"),
        (lambda at: two(at, values=[[1], [0], [1]]), {}, "arm 'baseline', seed 0, problem '2', sample 0 is"),
        (lambda at: two(at, values=[[1], [0]], tamper={"target": "9"}), {}, "they are not the same problems"),
        (lambda at: two(at, values=[[1], [0]], tamper={"doc_id": 1}), {}, "sample 0 is there twice"),
        (lambda at: two(at, task="math"), {}, "the logs are of the tasks gsm8k, math; import one"),
        (lambda at: two(at, task="math"), {"task": "math"}, r"0 logs of task 'math' \(none\)"),
        (lambda at: two(at, settings={"do_sample": True, "temperature": 0.5}), {}, "seed 0 has no"),
        (lambda at: two(at) | {"lam=0": [at / "a"]}, {}, "arms 'baseline' and 'lam=0' would have one name"),
        (lambda at: two(at) | {"a:b": [at / "a"], "a-b": [at / "a"]}, {}, "arms 'a:b' and 'a-b' would have"),
        (lambda at: two(at) | {"lam=two": [at / "a"]}, {}, "arm 'lam=two' is not a λ; write lam=2"),
        *(
            (lambda at, name=name: two(at) | {name: [at / "a"]}, {}, "no arm can be called")
            for name in ("../up", "a/../../x", "..", "/etc", "a b", "")
        ),
        (
            lambda at: {**two(at), "base": two(at / "c")["baseline"] + two(at / "c")["x"]},
            {},
            "'base', seed 0, .* is there twice",
        ),
        (lambda at: two(at) | {"y": [at / "a"]}, {}, "a is named 2 times; a log is of one arm, one seed and"),
        (lambda at: sampled(at, 0.6, 1.0), {}, r"sampled completions have temperature 0\.6 and 1\.0"),
        (lambda at: sampled(at, None, None), {}, "at which temperature"),
        (lambda at: {"baseline": [at, *two(at)["x"], *two(at)["baseline"]]}, {}, "has 2 logs"),
    ],
)
def test_logs_that_would_compare_unlike_things_are_one_sentence(tmp_path, logs, reading, sentence):
    with pytest.raises(ValueError, match=sentence):
        import_study(tmp_path / "study", logs(tmp_path), reading=Reading(**reading))
    assert not (tmp_path / "study").exists()


def test_a_folder_with_anything_in_it_is_left_alone(tmp_path):
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "thesis.tex").write_text("mine")
    with pytest.raises(ValueError, match="is not empty; a study is imported whole, into a new folder"):
        import_study(tmp_path / "study", two(tmp_path))
    assert [path.name for path in (tmp_path / "study").iterdir()] == ["thesis.tex"]


def test_a_log_without_a_verdict_is_refused_with_the_logs_own_remedies(tmp_path):
    draws = {"settings": {"do_sample": True, "temperature": 0.7}}
    voted = write_lm_eval(tmp_path / "log", [[1, 1], [1, 0]], tamper={"exact_match": 1.0}, **draws)
    with pytest.raises(ValueError, match=r"log has no verdict on problem '0', sample 0 \(4 in all\); choose"):
        import_study(tmp_path / "study", {"baseline": [voted]})
    assert not (tmp_path / "study").exists()


def test_the_report_of_imported_logs_is_whole_and_tells_nobody_to_change_a_recipe_that_cannot_run(tmp_path):
    logs = {
        name: [
            write_lm_eval(tmp_path / f"{name}{seed}", [[int(at + seed < right)] for at in range(8)])
            for seed in range(2)
        ]
        for name, right in (("baseline", 3), ("lam=2", 6))
    }
    study = import_study(tmp_path / "study", logs)
    assert not study.recipe.can_run
    page = report(study.root, json=tmp_path / "all.json").read_text(encoding="utf-8")
    for unsaid in ("None", "n_validation"):
        assert unsaid not in page
    assert "import logs of validation problems with --validation." in page
    assert page.rstrip().endswith("</html>")
    [gain] = [each for each in read_json(tmp_path / "all.json")["rows"] if each["lam"] == 2]
    assert gain["over_lam0"]["gain"] == 3 / 8
    with pytest.raises(ValueError, match="import logs of validation problems with --validation"):
        best_lam(study, decoding="greedy")


def rows(path, right, *, samples=1, **columns):
    """Rows of verdicts: `right` of each problem's samples are."""
    lines = [
        {
            "problem": f"p{problem:03}",
            "sample": sample,
            "accepted": int(sample < count),
            "task": "t",
            **columns,
        }
        for problem, count in enumerate(right)
        for sample in range(samples)
    ]
    write_rows(path, lines)
    return path


def test_samples_that_one_arm_has_more_of_count_in_no_number_of_both(tmp_path):
    """Of λ = 0 three samples per problem, of λ = 1 eight; in each half of the problems has one right."""
    few, many = [1, 0] * 20, [4, 0] * 20
    logs = {
        "baseline": [rows(tmp_path / f"b{at}", few, samples=3, temperature=0.8) for at in range(2)],
        "lam=1": [rows(tmp_path / f"l{at}", many, samples=8, temperature=0.8) for at in range(2)],
    }
    better = [rows(tmp_path / f"v{at}", [8] * 40, samples=8, temperature=0.8) for at in range(2)]
    chosen = {arm: [*map(copied, of_arm)] for arm, of_arm in logs.items()} | {"lam=1": better}
    held = sample_coverage(summary(import_study(tmp_path / "out", logs, validation=chosen)))
    assert held.ks == [1, 2, 3]
    zero, one = (held.passed[Arm(lam)][-1] for lam in (0.0, 1.0))
    assert held.arm == Arm(1.0)
    assert held.gains["pass"].gain == pytest.approx(one - zero)


def test_equal_means_that_differ_in_their_last_bit_are_equal(tmp_path):
    alike, unlike = [[1, 1, 1, 1] + [0] * 6] * 3, [[2] * seed + [0] * (10 - seed) for seed in (1, 2, 3)]
    logs = {
        arm: [
            rows(tmp_path / f"{arm}{at}", seed, samples=2, temperature=0.8) for at, seed in enumerate(seeds)
        ]
        for arm, seeds in (("baseline", alike), ("lam=1", unlike))
    }
    made = summary(import_study(tmp_path / "out", logs))
    sheet = Sheet([row for row in made.rows if row.decoding == "sampled"], [0, 1, 2], None, "cross-entropy")
    assert markdown(sheet).count("**0.2000**") == 2


def test_intervals_with_and_without_seeds_are_both_named(tmp_path):
    rng = np.random.default_rng(0)

    def logs(tag):
        chances = {"base": [0.3], "baseline": [0.45], "lam=1": [0.6, 0.6, 0.6]}
        return {
            arm: [
                rows(tmp_path / f"{tag}{arm}{at}", rng.random(200) < chance, temperature=0)
                for at, chance in enumerate(of_arm)
            ]
            for arm, of_arm in chances.items()
        }

    made = summary(import_study(tmp_path / "out", logs("t"), validation=logs("v")))
    text = sentences(made)["choosing"]
    assert "over problems and seeds, or over problems alone; other seeds may differ." in text
    assert {(row.penalty, row.order, row.model) for row in records(made.study)} == {(None, None, None)}
    assert "Shannon" not in document(made)


def test_arms_that_were_not_sampled_alike_are_refused(tmp_path):
    logs = {
        arm: [rows(tmp_path / arm, [1, 0], temperature=0, max_new_tokens=limit)]
        for arm, limit in (("baseline", 64), ("lam=1", 2048))
    }
    with pytest.raises(InputError, match="max_new_tokens = 64 in arm 'baseline' and 2048 in arm 'lam=1'"):
        import_study(tmp_path / "out", logs)


def test_rows_of_two_splits_are_not_one_log(tmp_path):
    path = rows(tmp_path / "a", [1, 0], temperature=0, split="test")
    write_rows(
        path, [*read_rows(path), {"problem": "v", "accepted": 1, "temperature": 0, "split": "validation"}]
    )
    with pytest.raises(InputError, match="rows of the splits test, validation; give a file for each"):
        import_study(tmp_path / "out", {"baseline": [path]})


def test_rows_that_say_that_they_are_of_another_arm_or_split_are_refused(tmp_path):
    """As `erce records` writes them; the method `self` of another name keeps its λ to itself."""
    said = {"temperature": 0, "method": "cross-entropy"}
    zero, four, late = (
        rows(tmp_path / name, [1, 0], **said | columns)
        for name, columns in (("0", {"lam": 0.0}), ("4", {"lam": 4.0}), ("v", {"split": "validation"}))
    )
    with pytest.raises(InputError, match=r"4 has rows of lam = 4\.0, and is given as test problems of arm"):
        import_study(tmp_path / "out", {"baseline": [four]})
    with pytest.raises(InputError, match="v has rows of split = 'validation', and is given as test problems"):
        import_study(tmp_path / "out", {"baseline": [zero], "lam=4": [late]})
    assert import_study(tmp_path / "out", {"baseline": [zero], "self": [four]}).n_done == 2


def test_a_problem_has_the_prompt_and_the_answer_of_whichever_log_has_them(tmp_path):
    bare = rows(tmp_path / "a", [1, 0], temperature=0)
    whole = rows(tmp_path / "b", [1, 0], temperature=0, prompt="2+2?", answer="4")
    for at, logs in enumerate(([bare, whole], [whole, bare])):
        study = import_study(
            tmp_path / f"{at}", dict(zip(("baseline", "x"), ([log] for log in logs), strict=True))
        )
        problems = list(read_rows(study.root / PROBLEMS))
        assert [(problem["prompt"], problem["answer"]) for problem in problems] == [("2+2?", "4")] * 2
