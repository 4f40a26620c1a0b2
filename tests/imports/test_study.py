"""Logs of other harnesses, and our own rows, become a study's folder whose numbers are those of the logs."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from erce.cli.main import main
from erce.files import read_rows, write_json, write_rows
from erce.imports import Reading, from_evalplus, import_study, study_of_rows
from erce.imports.logs import FORMATS, format_of, read_prompts
from erce.recipe import Cell, Decoding, Recipe
from erce.reporting import report
from erce.reporting.gains import gains, summary
from erce.score import summarize
from erce.study.export import COLUMNS, export, records
from erce.study.folder import PROBLEMS, RESULT, cell_folder, open_study, read_study
from erce.study.search.choose import best_lam
from erce.types import BASELINE, Arm, Completion, Verdict

RECIPE = Recipe(
    task="mini-sums",
    control="mini-sums-answer-only",
    lams=(2.0, 0.0),
    seeds=(0, 3),
    objectives=("dft",),
    penalty="renyi",
    order=0.5,
    decoding=Decoding(temperature=0.7, samples=3, max_new_tokens=9, frontier=(0.2,), frontier_samples=2),
)
DRAWS = {"greedy": (0.0, 1), "T0.2": (0.2, 2), "sampled": (0.7, 3)}


def fill(root, recipe, cell, rng):
    """A finished cell with verdicts by chance, and cell.json as a run writes it."""
    folder = cell_folder(root, recipe, cell)
    completions, verdicts, scores = [], [], {}
    for split in ("validation", "test"):
        for decoding, (_, samples) in DRAWS.items():
            if decoding == "T0.2" and cell.task != recipe.task:
                continue
            drawn = [
                Completion(
                    problem=str(problem),
                    sample=sample,
                    text=f"is {problem}\u2028</script>",
                    tokens=int(rng.integers(1, 9)),
                    finished=bool(rng.integers(2)),
                    logprob=-float(rng.random()),
                    entropy=float(rng.random()),
                )
                for problem in range(12)
                for sample in range(samples)
            ]
            judged = [
                Verdict(bool(ok), "exact" if ok else "different", "4")
                for ok in rng.integers(2, size=len(drawn))
            ]
            place = {"split": split, "decoding": decoding}
            completions += [place | asdict(each) for each in drawn]
            verdicts += [
                place
                | {"problem": each.problem, "sample": each.sample}
                | {"accepted": verdict.accepted, "reason": verdict.reason, "extracted": verdict.extracted}
                for each, verdict in zip(drawn, judged, strict=True)
            ]
            scores.setdefault(split, {})[decoding] = summarize(drawn, judged)
    write_rows(folder / "completions.jsonl", completions)
    write_rows(folder / "verdicts.jsonl", verdicts)
    drawing = {name: {"temperature": degree, "max_new_tokens": 9} for name, (degree, _) in DRAWS.items()}
    write_json(folder / "cell.json", {"key": "k", "study": "s", "verifier": "v", "decoding": drawing})
    write_json(folder / RESULT, {"cell": asdict(cell), "scores": scores, "versions": {}})


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    root = tmp_path_factory.mktemp("ours") / "study"
    problems = [
        {"task": task, "split": split, "problem": str(at), "prompt": f"{at}?", "demonstration": ""}
        | {"answer": str(at), "tests": []}
        for task in RECIPE.tasks
        for split in ("validation", "test")
        for at in range(12)
    ]
    open_study(root, RECIPE, problems)
    rng = np.random.default_rng(0)
    for cell in RECIPE.cells():
        fill(root, RECIPE, cell, rng)
    return read_study(root)


@pytest.fixture(scope="module")
def again(ours):
    """The same study, exported and imported."""
    root = ours.root.parent
    export(ours, root / "rows.jsonl")
    assert main(["import", str(root / "again"), "--rows", str(root / "rows.jsonl")]) == 0
    return read_study(root / "again")


def test_our_own_rows_become_a_study_with_the_same_numbers(ours, again):
    assert json.dumps(gains(again)) == json.dumps(gains(ours))
    ones, others = summary(ours), summary(again)
    assert others.rows == ones.rows
    assert others.choice == ones.choice
    assert others.interaction == ones.interaction
    assert [result["scores"] for result in again.results.values()] == [
        result["scores"] for result in ours.results.values()
    ]
    assert again.missing == []


def test_our_own_rows_come_back_as_they_were_but_for_what_only_the_run_knew(ours, again):
    lost = {"key", "prompt_hash"}
    before, after = (
        [{name: value for name, value in vars(row).items() if name not in lost} for row in records(study)]
        for study in (ours, again)
    )
    assert after == before
    assert {getattr(row, name) for row in records(again) for name in lost} == {None}


def test_the_recipe_says_what_the_rows_say(again):
    assert replace(again.recipe, imported=()) == RECIPE
    assert again.recipe.cells() == RECIPE.cells()


def test_an_unfinished_study_has_nothing_missing_that_no_row_is_of(ours, tmp_path):
    rows = [row for row in records(ours) if row.arm != "base" and (row.arm, row.seed) != ("dft", 3)]
    again = study_of_rows(tmp_path / "again", rows)
    assert again.missing == []
    assert len(again.recipe.cells()) == len(RECIPE.cells()) - 4


def lm_eval(path, values, *, filters=("strict-match",), settings=None, task="gsm8k", tamper=None):
    """A file as lm-eval 0.4.13 writes it with --log_samples; `values` are one list of 0 and 1 a document."""
    path.mkdir(parents=True, exist_ok=True)
    lines = [
        {
            "doc_id": at,
            "doc": {"question": f"{at}+0?", "answer": f"#### {at}"},
            "target": str(at),
            "arguments": {
                "gen_args_0": {
                    "arg_0": f"Q: {at}+0?\nA:",
                    "arg_1": settings or {"until": ["\n"], "do_sample": False},
                }
            },
            "resps": [[f"#### {at if ok else 'no'}" for ok in row]],
            "filtered_resps": [[str(at) if ok else "[invalid]" for ok in row]]
            if len(row) > 1
            else [str(at) if row[0] else "[invalid]"],
            "filter": name,
            "metrics": ["exact_match"],
            "doc_hash": "d" * 64,
            "prompt_hash": "p" * 64,
            "target_hash": "t" * 64,
            "exact_match": [float(ok) for ok in row] if len(row) > 1 else float(row[0]),
        }
        | (tamper or {})
        for name in filters
        for at, row in enumerate(values)
    ]
    file = path / f"samples_{task}_2026-01-01T00-00-00.000000.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def inspect(path, values, *, temperature=None, task="inspect_evals/gsm8k"):
    run = {"task": task, "model": "hf/m", "model_generate_config": {"temperature": temperature}}
    samples = [
        {
            "id": at,
            "epoch": epoch,
            "input": [{"role": "system", "content": "Add."}, {"role": "user", "content": f"{at}+0?"}],
            "target": str(at),
            "output": {
                "choices": [{"message": {"role": "assistant", "content": "x"}, "stop_reason": "max_tokens"}],
                "completion": "x",
                "usage": {"output_tokens": 7},
            },
            "scores": {"match": {"value": "C" if ok else "I", "answer": ""}},
        }
        for at, row in enumerate(values)
        for epoch, ok in enumerate(row, 1)
    ]
    path.write_text(json.dumps({"version": 2, "status": "success", "eval": run, "samples": samples}))
    return path


def evalplus(path, statuses, *, change=None):
    """A file as evalplus 0.3.1 writes it; `statuses` are (base, plus) of each program of each problem."""
    problems = {
        f"HumanEval/{at}": [
            {
                "task_id": f"HumanEval/{at}",
                "solution": f"def f():\n    return {at}",
                "base_status": base,
                "plus_status": plus,
                "base_fail_tests": [],
                "plus_fail_tests": [],
            }
            | (change or {})
            for base, plus in programs
        ]
        for at, programs in enumerate(statuses)
    }
    path.write_text(json.dumps({"date": "2026-01-01 00:00", "hash": "h", "eval": problems}))
    return path


def test_folders_of_lm_eval_become_a_study(tmp_path):
    base = [lm_eval(tmp_path / f"base{seed}" / "org__m", [[1], [0], [0]]) for seed in range(2)]
    mine = [lm_eval(tmp_path / f"mine{seed}" / "org__m", [[1], [1], [seed > 0]]) for seed in range(3)]
    words = [
        "--baseline",
        *map(str, base),
        "--arm",
        "lam=2",
        *map(str, mine),
        "--arm",
        "dpo",
        *map(str, mine[:1]),
    ]
    assert main(["import", str(tmp_path / "study"), *words]) == 0
    study = read_study(tmp_path / "study")
    assert (study.recipe.task, study.recipe.lams, study.recipe.objectives) == ("gsm8k", (0.0, 2.0), ("dpo",))
    assert study.missing == []
    found = study.outcomes("gsm8k", Arm(2.0), split="test", decoding="greedy")
    np.testing.assert_array_equal(found, [[[1], [1], [0]], *[[[1], [1], [1]]] * 2])
    assert study.outcomes("gsm8k", Arm(0.0, "dpo"), split="test", decoding="greedy").shape == (1, 3, 1)
    assert [row["prompt"] for row in read_rows(study.root / PROBLEMS)] == [
        f"Q: {at}+0?\nA:" for at in range(3)
    ]


def test_what_a_log_does_not_say_is_none_and_never_0(tmp_path):
    log = lm_eval(tmp_path / "log", [[1], [0]])
    study = import_study(tmp_path / "study", {"baseline": [log]})
    [result] = study.results.values()
    scores = result["scores"]["test"]["greedy"]
    assert scores == {
        "pass@1": 0.5,
        "problems": 2,
        "samples": 1,
        "reasons": {"passed": 0.5, "no answer": 0.5},
        "finished": None,
        "tokens": None,
        "entropy": None,
        "drawn_entropy": None,
        "logprob": None,
    }
    assert result.keys() == {"cell", "scores"}
    unknown = ("tokens", "finish", "logprob", "entropy", "key", "adapter", "verifier", "dtype")
    assert {getattr(row, name) for row in records(study) for name in unknown} == {None}


def test_a_filter_of_lm_eval_is_chosen_by_name(tmp_path):
    log = lm_eval(tmp_path / "log", [[1], [0]], filters=("strict-match", "flexible-extract"))
    with pytest.raises(ValueError, match="the filters flexible-extract, strict-match; choose with filter="):
        import_study(tmp_path / "study", {"baseline": [log]})
    study = import_study(tmp_path / "study", {"baseline": [log]}, reading=Reading(filter="strict-match"))
    assert study.outcomes("gsm8k", BASELINE, split="test", decoding="greedy").tolist() == [[[1], [0]]]


def test_greedy_logs_and_logs_of_samples_are_two_decodings_of_the_same_seeds(tmp_path):
    drawn = {"do_sample": True, "temperature": 0.6, "max_gen_toks": 99}
    arms = {
        arm: [
            *(lm_eval(tmp_path / f"{arm}{seed}g", [[1], [0]]) for seed in range(2)),
            *(lm_eval(tmp_path / f"{arm}{seed}s", [[1, 0], [0, 1]], settings=drawn) for seed in range(2)),
        ]
        for arm in ("baseline", "lam=0.5")
    }
    study = import_study(tmp_path / "study", arms, validation=arms)
    assert study.recipe.seeds == (0, 1)
    assert (study.recipe.decoding.temperature, study.recipe.decoding.samples) == (0.6, 2)
    assert best_lam(study).scores == {0.0: 0.5, 0.5: 0.5}
    entries = [each for each in gains(study) if each["lam"] == 0.5]
    assert [(each["decoding"], each["gain"], each["n_seeds"]) for each in entries] == [
        ("sampled", 0.0, 2),
        ("greedy", 0.0, 2),
    ]


def test_a_log_of_inspect_becomes_a_study_with_what_it_says(tmp_path):
    logs = {
        arm: [inspect(tmp_path / f"{arm}.json", [[1, 0], [0, 0]])] for arm in ("baseline", "grpo", "base")
    }
    study = import_study(tmp_path / "study", logs, reading=Reading(temperature=1.0))
    assert study.recipe.cells() == [
        Cell("inspect_evals-gsm8k", None, 0),
        Cell("inspect_evals-gsm8k", 0.0, 0),
        Cell("inspect_evals-gsm8k", 0.0, 0, "grpo"),
    ]
    scores = next(iter(study.results.values()))["scores"]["test"]["sampled"]
    assert (scores["tokens"], scores["finished"], scores["pass@2"]) == (7.0, 0.0, 0.5)
    assert scores["reasons"] == {"passed": 0.25, "truncated": 0.75}
    assert study.recipe.model == "hf/m"
    assert next(read_rows(study.root / PROBLEMS))["prompt"] == "Add.\n\n0+0?"


@pytest.mark.parametrize(
    ("plus", "accepted", "reasons", "task"),
    [
        (False, [True, True, False, False], ["passed", "passed", "failed", "timeout"], "humaneval"),
        (True, [True, False, False, False], ["passed", "failed", "failed", "timeout"], "humaneval+"),
    ],
)
def test_base_and_plus_are_two_verdicts_of_evalplus(tmp_path, plus, accepted, reasons, task):
    programs = [[("pass", "pass"), ("pass", "fail")], [("fail", "pass"), ("timeout", "fail")]]
    rows = from_evalplus(
        evalplus(tmp_path / "m_hf_temp_0.8_eval_results.json", programs), arm="a", seed=2, plus=plus
    )
    assert list(vars(rows[0])) == list(COLUMNS)
    assert [row.accepted for row in rows] == accepted
    assert [row.reason for row in rows] == reasons
    assert [(row.problem, row.sample) for row in rows[:3]] == [
        ("HumanEval/0", 0),
        ("HumanEval/0", 1),
        ("HumanEval/1", 0),
    ]
    assert {(row.task, row.decoding, row.temperature, row.seed) for row in rows} == {
        (task, "sampled", 0.8, 2)
    }
    assert rows[2].completion == rows[2].extracted == "def f():\n    return 1"


def test_the_samples_of_evalplus_stand_for_the_results_beside_them(tmp_path):
    path = tmp_path / "m_hf_temp_0.0.jsonl"
    path.write_text('{"task_id": "HumanEval/0", "solution": ""}\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"m_hf_temp_0\.0_eval_results\.json is not beside it; run evalplus"):
        from_evalplus(path, arm="a")
    evalplus(tmp_path / "m_hf_temp_0.0_eval_results.json", [[("pass", None)]])
    [row] = from_evalplus(path, arm="a")
    assert (row.decoding, row.temperature, row.accepted) == ("greedy", 0.0, True)
    study = import_study(tmp_path / "study", {"baseline": [path]})
    assert study.outcomes("humaneval", BASELINE, split="test", decoding="greedy").tolist() == [[[1]]]


@pytest.mark.parametrize(
    ("name", "content", "chosen", "sentence"),
    [
        (
            "eval_results.json",
            [[("pass", "pass")]],
            {},
            "does not say how it was sampled; give the temperature",
        ),
        ("a_temp_1_eval_results.json", [[("pass", None)]], {"plus": True}, "no verdicts of the added tests"),
        ("a_temp_1_eval_results.json", [], {}, "has no problems under 'eval'"),
        ("a_temp_1_eval_results.json", "[", {}, "is no JSON"),
        ("a_temp_1_eval_results.json", '{"eval": {"HumanEval/0": {"nfiles": 1}}}', {}, "by an old evalplus"),
        ("a_temp_1_eval_results.json", '{"eval": {"HumanEval/0": [{}]}}', {}, "without base_status"),
    ],
)
def test_results_of_evalplus_that_cannot_be_read_are_said(tmp_path, name, content, chosen, sentence):
    if isinstance(content, str):
        (tmp_path / name).write_text(content)
    else:
        evalplus(tmp_path / name, content)
    with pytest.raises(ValueError, match=sentence):
        from_evalplus(tmp_path / name, arm="a", **chosen)


def test_the_format_is_read_from_the_content(tmp_path):
    logs = {
        "lm-eval": next(lm_eval(tmp_path / "lm", [[1]]).iterdir()),
        "inspect": inspect(tmp_path / "a.json", [[1]]),
        "evalplus": evalplus(tmp_path / "b.json", [[("pass", "pass")]]),
    }
    assert {kind: format_of(path) for kind, path in logs.items()} == {kind: kind for kind in FORMATS}
    assert {kind: len(read_prompts(path)) for kind, path in logs.items()} == {
        "lm-eval": 1,
        "inspect": 1,
        "evalplus": 0,
    }
    for content in ("no log", "[]", '{"a": 1}', ""):
        (tmp_path / "c").write_text(content)
        with pytest.raises(ValueError, match="is no log of lm-eval, inspect, evalplus"):
            format_of(tmp_path / "c")


def two(folder, **change):
    """A baseline and an arm of it, and the arm's file changed."""
    return {
        "baseline": [lm_eval(folder / "a", [[1], [0]])],
        "x": [lm_eval(folder / "b", **({"values": [[1], [0]]} | change))],
    }


@pytest.mark.parametrize(
    ("logs", "reading", "sentence"),
    [
        (lambda at: {"x": []}, {}, "no arm 'baseline' among"),
        (lambda at: {"baseline": [at / "no"]}, {}, "no log at"),
        (
            lambda at: two(at, values=[[1]]),
            {},
            r"arm 'x', seed 0, problem '1', sample 0 is missing \(1 in all\)",
        ),
        (
            lambda at: two(at, values=[[1], [0], [1]]),
            {},
            "arm 'baseline', seed 0, problem '2', sample 0 is missing",
        ),
        (lambda at: two(at, values=[[1], [0]], tamper={"target": "9"}), {}, "they are not the same problems"),
        (
            lambda at: two(at, values=[[1], [0]], tamper={"doc_id": 1}),
            {},
            "problem '1', sample 0 is there twice",
        ),
        (lambda at: two(at, task="math"), {}, "the logs are of the tasks gsm8k, math; name one task"),
        (lambda at: two(at, task="math"), {"task": "math"}, r"0 logs of task 'math' \(none\)"),
        (lambda at: two(at, settings={"do_sample": True, "temperature": 0.5}), {}, "seed 0 has no"),
        (lambda at: two(at) | {"lam=0": [at / "a"]}, {}, "arms 'baseline' and 'lam=0' are the same"),
        (lambda at: two(at) | {"lam=two": [at / "a"]}, {}, "arm 'lam=two' is no λ; write lam=2"),
        (lambda at: two(at) | {"../up": [at / "a"]}, {}, r"no arm can be called '\.\./up'"),
        (lambda at: two(at) | {"base": [at / "a", at / "b"]}, {}, "arm 'base' has 2 logs"),
        (two, {"format": "evalplus"}, r"0 logs \(none\)"),
        (
            lambda at: {"baseline": [lm_eval(at / "s", [[1]], settings={"do_sample": True})]},
            {},
            "at which temperature",
        ),
        (lambda at: {"baseline": [at, lm_eval(at / "1", [[1]]), lm_eval(at / "2", [[1]])]}, {}, "has 2 logs"),
    ],
)
def test_logs_that_would_compare_unlike_things_are_one_sentence(tmp_path, logs, reading, sentence):
    with pytest.raises(ValueError, match=sentence):
        import_study(tmp_path / "study", logs(tmp_path), reading=Reading(**reading))
    assert not (tmp_path / "study").exists()


def test_two_temperatures_are_not_one_decoding(tmp_path):
    logs = {
        arm: [lm_eval(tmp_path / arm, [[1]], settings={"do_sample": True, "temperature": degree})]
        for arm, degree in (("baseline", 0.6), ("x", 1.0))
    }
    with pytest.raises(ValueError, match=r"sampled completions have temperature 0\.6 and 1\.0"):
        import_study(tmp_path / "study", logs)


def test_a_folder_with_anything_in_it_is_left_alone(tmp_path):
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "thesis.tex").write_text("mine")
    with pytest.raises(ValueError, match="is not empty; a study is imported whole, into a new folder"):
        import_study(tmp_path / "study", two(tmp_path))
    assert [path.name for path in (tmp_path / "study").iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("tool", ["lm-eval greedy", "inspect samples", "evalplus greedy"])
def test_the_report_of_imported_logs_is_whole(tmp_path, capsys, tool):
    def write(name, seed, right):
        path = tmp_path / f"{name}{seed}"
        if tool == "inspect samples":
            values = [[int(at + sample + seed < right) for sample in range(3)] for at in range(8)]
            return inspect(path, values, temperature=0.7)
        values = [[int(at + seed < right)] for at in range(8)]
        if tool == "evalplus greedy":
            path = tmp_path / f"{name}{seed}_temp_0.0_eval_results.json"
            return evalplus(path, [[("pass" if ok else "fail", "pass")] for [ok] in values])
        return lm_eval(path, values)

    logs = {
        name: [write(name.replace("=", ""), seed, right) for seed in range(2)]
        for name, right in (("baseline", 3), ("lam=2", 6))
    }
    study = import_study(
        tmp_path / "study", logs, reading=Reading(temperature=0.0) if "evalplus" in tool else None
    )
    page = report(study.root, json=tmp_path / "all.json").read_text(encoding="utf-8")
    assert "None" not in page
    assert page.rstrip().endswith("</html>")
    found = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))
    decoding = "sampled" if tool == "inspect samples" else "greedy"
    [gain] = [each for each in found["gains"] if each["lam"] == 2 and each["decoding"] == decoding]
    arms = [
        study.outcomes(study.recipe.task, Arm(lam), split="test", decoding=decoding) for lam in (2.0, 0.0)
    ]
    assert gain["gain"] == pytest.approx(arms[0].mean() - arms[1].mean())
    assert gain["gain"] > 0
    assert any("validation" in text for text in found["cautions"])


@pytest.mark.parametrize("name", ["a/../../../../x", "..", "/etc", "a b", ""])
def test_an_arm_cannot_be_a_path(tmp_path, name):
    log = lm_eval(tmp_path / "log", [[1], [0]])
    rows = list(records(import_study(tmp_path / "study", {"baseline": [log], "dpo": [log]})))
    renamed = [replace(row, objective=name, arm=name) if row.arm == "dpo" else row for row in rows]
    with pytest.raises(ValueError, match="no arm can be called"):
        study_of_rows(tmp_path / "again", renamed)
    assert not (tmp_path / "again").exists()
