"""One HTML file that opens from disk, runs nothing, fetches nothing, and says the same for the same study."""

import json
import re
from contextlib import redirect_stdout
from html.parser import HTMLParser
from io import StringIO

import pytest
from toys.studies import CONTROL, TASK, make_study

from erce.files import read_json, write_json, write_rows
from erce.reporting import contents, report
from erce.reporting.numbers.examples import LONGEST, examples, shorten
from erce.reporting.numbers.gains import summary
from erce.reporting.pages.html import _logs, document
from erce.study.folder import cell_folder, read_study
from erce.types import Arm

VOID = {"meta", "br", "line", "circle", "path", "use", "rect", "hr", "img", "link", "input", "stop"}


class Page(HTMLParser):
    """Tags, attributes and text, with every tag closed in its turn."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text, self.open = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.text.append(data)

    @property
    def prose(self):
        return re.sub(r"\s+", " ", " ".join(self.text).replace("\u00a0", " "))


def _report(root, capsys, **changes):
    make_study(root / "runs", **changes)
    path = report(root / "runs", json=root / "all.json")
    return path, Page(path.read_text(encoding="utf-8")), capsys.readouterr().out


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The report of a study without faults: its folder, its page, and what was printed."""
    root = tmp_path_factory.mktemp("whole")
    make_study(root / "runs")
    with redirect_stdout(StringIO()) as printed:
        path = report(root / "runs", json=root / "all.json")
    return path, Page(path.read_text(encoding="utf-8")), printed.getvalue()


def test_the_report_is_one_page_with_all_its_parts(whole):
    path, page, printed = whole
    assert path.parts[-3:] == ("runs", "report", "index.html")
    assert page.open == []
    for heading in (
        "The gain, and what speaks for and against it",
        "What could be wrong",
        "Every λ",
        f"The control: {CONTROL}",
        "What the verifier said",
        "Problems gained and lost",
        "Every seed",
        "Training",
        "Recipe and versions",
    ):
        assert heading in page.prose, heading
    assert page.tags.count("figure") == 8
    for text in read_json(path.parents[2] / "all.json")["sentences"]:
        assert text in page.prose
        assert text in re.sub(r"\s+", " ", printed)
    assert (path.parent / "accuracy.svg").is_file()
    assert (path.parent / "tables" / "sums-greedy-seeds.tex").is_file()


def test_the_page_fetches_and_runs_nothing(whole):
    path, page, _ = whole
    assert not {"script", "link", "iframe", "object", "embed", "img", "form", "base"} & set(page.tags)
    policy = next(value for name, value in page.attributes if name == "content" and "default-src" in value)
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'")
    assert "script" not in policy
    for name, value in page.attributes:
        if name in ("src", "href", "xlink:href", "action"):
            assert value.startswith("#"), (name, value)
        assert not name.startswith("on")
    assert not re.search(r"@import|url\((?!#)", path.read_text(encoding="utf-8"))


HOSTILE = (
    "\x00\x1b[31m<script>alert(1)</script>]]></style></pre><img src=x onerror=alert(2)>\u202e &amp; {{ 7*7 }}"
)


def test_what_a_model_wrote_cannot_run_and_is_shown_as_it_is(tmp_path, capsys):
    changes = {"text": lambda cell, number, right: f"{HOSTILE} {number}"}
    path, page, _ = _report(tmp_path, capsys, **changes)
    assert page.open == []
    assert not {"script", "img"} & set(page.tags)
    shown = HOSTILE.replace("\x00", "␀").replace("\x1b", "␛").replace("\u202e", "\\u202e")
    assert shown in page.prose
    raw = path.read_text(encoding="utf-8")
    assert not {"\x00", "\x1b", "\u202e"} & set(raw)
    assert raw.count("</style>") == 1 + raw.count('<style type="text/css">')


def test_a_lone_surrogate_is_spelled_out_and_a_long_text_is_cut():
    assert shorten("a\ud800b") == "a\\ud800b"
    assert shorten("x" * LONGEST) == "x" * LONGEST
    assert shorten("x" * (LONGEST + 5)).endswith("… and 5 characters more")
    assert shorten("a\n\tb") == "a\n\tb"


def test_the_same_study_gives_the_same_bytes_wherever_it_lies(tmp_path):
    for place in ("a", "b/c"):
        make_study(tmp_path / place)
        report(tmp_path / place, json=tmp_path / place / "all.json")
    report(tmp_path / "a", out=tmp_path / "a" / "again")
    study_summary = [tmp_path / "a" / "report", tmp_path / "b/c" / "report", tmp_path / "a" / "again"]
    files = sorted(
        path.relative_to(study_summary[0]) for path in study_summary[0].rglob("*") if path.is_file()
    )
    assert len(files) == 2 + 2 * 2 * 2 * 3
    for name in files:
        assert len({(folder / name).read_bytes() for folder in study_summary}) == 1, name
    assert (tmp_path / "a" / "all.json").read_bytes() == (tmp_path / "b/c" / "all.json").read_bytes()


def test_the_json_holds_every_part_and_no_nan(whole):
    text = (whole[0].parents[2] / "all.json").read_text(encoding="utf-8")
    study_summary = json.loads(text, parse_constant=pytest.fail)
    assert set(study_summary) == {
        *(
            "study",
            "gains",
            "chosen",
            "search",
            "interaction",
            "inference",
            "several",
            "frontier",
            "coverage",
            "changes",
            "base",
            "rows",
            "sentences",
            "cautions",
            "missing",
        ),
    }
    assert study_summary["study"]["task"] == TASK
    assert (study_summary["chosen"]["lam"], set(study_summary["chosen"]["scores"])) == (
        0.5,
        {"0", "0.5", "1"},
    )
    assert {row["lam"] for row in study_summary["base"]} == {None}
    assert len(study_summary["rows"]) == len(study_summary["gains"]) == 12
    assert set(study_summary["rows"][0]["seeds"]) == {"0", "1", "2"}
    assert study_summary["missing"] == []


def test_the_scores_among_which_lam_was_chosen_are_under_its_exact_value(tmp_path):
    lams = (0.0, 0.5, 1e-7 + 1, 1 / 3)
    study_summary = contents(summary(make_study(tmp_path / "runs", control=None, lams=lams)))
    assert list(study_summary["chosen"]["scores"]) == ["0", "0.5", "1.0000001", "0.3333333333333333"]
    assert [float(lam) for lam in study_summary["chosen"]["scores"]] == list(lams)


def test_a_study_without_faults_claims_no_more_than_what_was_looked_for(tmp_path):
    """Some verdicts timed out, fewer than the caution's limit."""
    settings = {"problems": 200, "samples": 2, "control": None, "reasons": ("different",), "validation": 8}
    right = {0.5: 1.0, None: 0.2}
    made = make_study(
        tmp_path / "runs", right=lambda task, arm, decoding: right.get(arm, 0.96), steps=1, **settings
    )
    for cell in made.results:
        path = cell_folder(made.root, made.recipe, cell) / "result.json"
        result = read_json(path)
        result["scores"]["test"]["sampled"]["reasons"]["timeout"] = 0.004
        write_json(path, result)
    prose = Page(document(summary(read_study(made.root)))).prose
    assert "Nothing was noticed" in prose
    assert "1.0 % of a trained row’s completions were cut off and 0.5 % of its verdicts timed out" in prose
    assert "no verdict timed out" not in prose


@pytest.mark.parametrize(
    ("penalty", "order", "shown"),
    [
        ("shannon", 1.0, "Model tiny, Shannon’s entropy as penalty,"),
        ("renyi", 0.5, "Model tiny, Rényi’s entropy of order 0.5 as penalty,"),
        ("support-size", 2.0, "Model tiny, the support size of order 2 as penalty,"),
        ("mylosses:GINI", 1.0, "Model tiny, mylosses:GINI as penalty,"),
        ("<script>:GINI", 1.0, "Model tiny, <script>:GINI as penalty,"),
    ],
)
def test_the_page_says_what_the_penalty_is_also_of_ones_own(tmp_path, penalty, order, shown):
    study_summary = summary(make_study(tmp_path / "runs", control=None, problems=4, validation=2, steps=1))
    for name, value in (("penalty", penalty), ("order", order)):
        object.__setattr__(
            study_summary.study.recipe, name, value
        )  # past its rules, which are not the page's
    page = Page(document(study_summary))
    assert shown in page.prose
    assert "script" not in page.tags


def test_other_objectives_are_in_every_table_of_the_page_and_in_the_json(tmp_path, capsys):
    changes = {"lams": (-0.1, 0.0, 0.5), "objectives": ("dft", "focal:2"), "skip": {(TASK, "dft", 0)}}
    path, page, printed = _report(tmp_path, capsys, **changes)
    assert "3 strengths λ and 2 other objectives × 3 seeds" in page.prose
    assert "are reported and not chosen from" in page.prose
    tables = 2 * (1 + 2 + 2) + 1  # a task: every λ; the verdicts and every seed, by decoding; pass@k
    assert path.read_text(encoding="utf-8").count('<th scope="row">dft</th>') == tables
    assert page.prose.count("−0.1 confidence penalty") == tables
    assert "dft, focal:2" in page.prose
    assert "sums-dft-seed0" in re.sub(r"\s+", " ", printed)
    study_summary = read_json(tmp_path / "all.json")
    assert study_summary["study"]["objectives"] == ["dft", "focal:2"]
    assert [(row["lam"], row["objective"]) for row in study_summary["rows"][::2][:5]] == [
        *((lam, "cross-entropy") for lam in (-0.1, 0.0, 0.5)),
        *((0.0, name) for name in ("dft", "focal:2")),
    ]
    assert {row["objective"] for row in study_summary["base"]} == {None}
    assert set(study_summary["chosen"]["scores"]) == {"-0.1", "0", "0.5"}


def test_the_curves_and_examples_of_cross_entropy_hold_no_other_objective(tmp_path):
    study_summary = [
        summary(make_study(tmp_path / str(len(objectives)), objectives=objectives))
        for objectives in ((), ("dft",))
    ]
    assert _logs(study_summary[0], "ce") == _logs(study_summary[1], "ce")
    assert examples(study_summary[0]) == examples(study_summary[1])


def test_an_unfinished_study_says_what_is_missing(tmp_path, capsys):
    _, page, printed = _report(tmp_path, capsys, skip={(TASK, 1.0, 2), (CONTROL, 0.0, 0)})
    for text in (page.prose, re.sub(r"\s+", " ", printed)):
        assert "2 of 20 cells are missing (sums-lam1-seed2, sums-answer-only-lam0-seed0)" in text
    assert "unfinished, 18 of 20 cells" in page.prose
    assert read_json(tmp_path / "all.json")["missing"] == ["sums-lam1-seed2", "sums-answer-only-lam0-seed0"]


EVERY = {(task, lam, seed) for task in (TASK, CONTROL) for lam in (None, 0.0, 0.5, 1.0) for seed in range(3)}


@pytest.mark.parametrize(
    "changes",
    [
        {"skip": EVERY},
        pytest.param({"skip": EVERY - {(TASK, None, 0)}}, marks=pytest.mark.slow),
        {"skip": EVERY - {(TASK, 0.5, 1)}},
        {"skip": {(TASK, 0.0, seed) for seed in range(3)}, "control": CONTROL},
        pytest.param(
            {"skip": {(CONTROL, None, 0), (TASK, None, 0)}, "control": CONTROL}, marks=pytest.mark.slow
        ),
        pytest.param({}, marks=pytest.mark.slow),
        {"seeds": (7,)},
        {"lams": (0.0,)},
        pytest.param({"lams": (0.0, 2.0)}, marks=pytest.mark.slow),
        {"lams": (-0.5, 0.0, 0.5)},
        pytest.param({"lams": (0.0,), "objectives": ("dft",)}, marks=pytest.mark.slow),
        {"lams": (0.0,), "objectives": ("dft",), "skip": EVERY},
        {"objectives": ("dft", "eaft"), "skip": EVERY | {(TASK, "eaft", seed) for seed in range(3)}},
        {"validation": 0},
        {"problems": 1},
        {"steps": 0},
        pytest.param({"steps": 1}, marks=pytest.mark.slow),
        {"right": lambda task, lam, decoding: 1.0},
        pytest.param({"right": lambda task, lam, decoding: 0.0}, marks=pytest.mark.slow),
        {"right": lambda task, lam, decoding: 0.9 - 0.3 * (lam or 0)},
    ],
)
def test_every_kind_of_study_has_a_report(tmp_path, capsys, changes):
    path, page, _ = _report(tmp_path, capsys, **({"control": None} | changes))
    assert page.open == []
    assert "nan" not in page.prose.lower().split()
    assert "None" not in page.prose
    assert path.stat().st_size < 2_000_000


def test_examples_are_the_largest_differences_with_the_completions_that_made_them(tmp_path):
    study_summary = summary(make_study(tmp_path / "runs"))
    shown = examples(study_summary)
    arms = [
        study_summary.study.outcomes(TASK, Arm(lam), split="test", decoding="sampled") for lam in (0.0, 0.5)
    ]
    names = sorted(f"test-{number}" for number in range(30))
    gains = dict(zip(names, arms[1].mean(axis=(0, 2)) - arms[0].mean(axis=(0, 2)), strict=True))
    sides = [gains[each.problem] for each in shown.gained]
    assert sides == sorted(gains.values(), reverse=True)[:3]
    assert [gains[each.problem] for each in shown.lost] == sorted(
        gain for gain in gains.values() if gain < 0
    )[:3]
    for each in (*shown.gained, *shown.lost):
        number = int(each.problem.removeprefix("test-"))
        for side in (each.before, each.after):
            at = names.index(each.problem)
            assert side.right == arms[side.lam == 0.5][:, at].sum()
            assert side.accepted == (side.right > side.judged / 2)
            answer = number % 50 if side.accepted else (number + 10) % 50
            assert side.text.endswith(f"#### {answer}")
            assert side.accepted == (side.reason == "numeric")


def test_prompts_are_shown_where_the_study_keeps_them(tmp_path, capsys):
    make_study(tmp_path / "runs")
    rows = [
        {"task": task, "split": split, "problem": f"test-{n}", "prompt": f"{text} <{n}>."}
        for task, split, text in ((TASK, "test", "Work out"), (TASK, "train", "No"), (CONTROL, "test", "No"))
        for n in range(30)
    ]
    write_rows(tmp_path / "runs" / "problems.jsonl", rows)
    shown = examples(summary(make_study(tmp_path / "runs")))
    assert all(each.prompt == f"Work out <{each.problem.removeprefix('test-')}>." for each in shown.gained)
    path = report(tmp_path / "runs")
    assert "Work out &lt;" in path.read_text(encoding="utf-8")


def test_where_cross_entropy_won_the_runner_up_stands_beside_it(tmp_path):
    study_summary = summary(
        make_study(tmp_path / "runs", right=lambda task, lam, decoding: 0.9 - 0.3 * (lam or 0))
    )
    assert examples(study_summary).lam == 0.5


def test_the_json_is_what_contents_returns(tmp_path):
    study_summary = summary(make_study(tmp_path / "runs", control=None))
    report(tmp_path / "runs", json=tmp_path / "deep" / "all.json")
    assert read_json(tmp_path / "deep" / "all.json") == json.loads(json.dumps(contents(study_summary)))


def test_a_folder_without_a_study_stops_the_report(tmp_path):
    with pytest.raises(ValueError, match="no study in"):
        report(tmp_path / "nothing")
    assert list(tmp_path.iterdir()) == []
