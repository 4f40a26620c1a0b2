"""A page that opens from disk, runs nothing, fetches nothing, and says every number of a study once."""

import json
import re
import shutil
from contextlib import redirect_stdout
from html.parser import HTMLParser
from io import StringIO

import pytest
from toys.studies import CONTROL, TASK, make_study

from erce.files import read_json, write_json, write_rows
from erce.recipe import Cell
from erce.reporting import _print, contents, report
from erce.reporting.numbers.completions import LONGEST_CHARACTERS, examples, shorten
from erce.reporting.numbers.gains import summary
from erce.reporting.pages.html import document
from erce.reporting.pages.templates import environment
from erce.reporting.words.cautions import faults
from erce.reporting.words.sentences import sentences
from erce.study.folder import read_study

SMALL = {"control": None, "problems": 12, "validation": 4, "steps": 2}
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

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.text.append(data)

    @property
    def prose(self):
        return re.sub(r"\s+", " ", " ".join(self.text).replace("\u00a0", " "))


def _page(root, **changes):
    """Return the page of a small study as it is built, and what is in it."""
    study_summary = summary(make_study(root / "runs", **(SMALL | changes)))
    raw = document(study_summary)
    return study_summary, raw, Page(raw)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The report of a study without faults: its page on disk, the page parsed, and what was printed."""
    root = tmp_path_factory.mktemp("whole")
    make_study(root / "runs")
    write_rows(root / "runs" / "problems.jsonl", _prompts())
    with redirect_stdout(StringIO()) as printed:
        path = report(root / "runs", json=root / "all.json", verbose=True)
    return path, Page(path.read_text(encoding="utf-8")), printed.getvalue()


def _prompts():
    """Rows of problems.jsonl: only a test problem of the main task has its prompt on the page."""
    return [
        {"task": task, "split": split, "problem": f"test-{n}", "prompt": f"{text} <{n}>."}
        for task, split, text in ((TASK, "test", "Work out"), (TASK, "train", "No"), (CONTROL, "test", "No"))
        for n in range(30)
    ]


def test_the_terminal_begins_with_the_verdict_and_shows_few_sentences_unless_it_is_asked_for_all(
    whole, capsys
):
    path, _, everything = whole
    _print(summary(read_study(path.parents[1])), verbose=False)
    brief = capsys.readouterr().out
    verdict = sentences(summary(read_study(path.parents[1])))["verdict"]
    assert " ".join(brief.split()).startswith(verdict)
    for shown in (
        "In samples validation prefers λ = 0.5, of 4 arms",
        "With greedy decoding",
        "What to do next:",
    ):
        assert shown in " ".join(brief.split())
    assert "minus that on the control" not in brief
    assert "minus that on the control" in everything
    assert max(map(len, brief.splitlines())) <= 80


def test_the_terminal_names_three_faults_at_most(tmp_path, capsys):
    made = summary(make_study(tmp_path / "runs", seeds=(0,), problems=10, skip={(CONTROL, 0.0, 0)}))
    wrong = faults(made)
    assert len(wrong) > 3
    _print(made, verbose=False)
    brief = " ".join(capsys.readouterr().out.split())
    listed = brief.partition("What could be wrong: ")[2].partition(" What to do next:")[0]
    shown = [
        *(caution.fault for caution in wrong[:3]),
        f"{len(wrong) - 3} more on the page and with --verbose.",
    ]
    assert listed == " ".join(f"· {text}" for text in shown)


def test_the_page_has_all_its_parts_in_the_order_of_reading(whole):
    path, page, printed = whole
    assert path.parts[-3:] == ("runs", "report", "index.html")
    assert page.open == []
    html = path.read_text(encoding="utf-8")
    places = [
        html.index(text)
        for text in (
            '<section class="headline"',
            'class="drawings"',
            "<h2>What could be wrong",
            "<h2>What to do next",
            "<h2>Every arm",
            "<h2>Is it only temperature?",
            "<h2>As a start for reinforcement learning",
            "<h2>Problems gained and lost",
            "<h2>More",
            f"<summary>The control: {CONTROL}",
            "<summary>What the verifier checks, and what it said",
            "<summary>Every seed",
            "<summary>What the words mean",
            "<summary>Recipe and versions",
        )
    ]
    assert places == sorted(places)
    assert page.tags.count("figure") == 3
    printed = re.sub(r"\s+", " ", printed)
    numbers = read_json(path.parents[2] / "all.json")
    assert all(text in printed for text in (*numbers["sentences"], *numbers["next"]))
    shown = [*numbers["sentences"][:4], *(text.replace("`", "") for text in numbers["next"])]
    assert all(text in page.prose for text in shown)
    assert "<code>erce card RUNS" in html
    assert (path.parent / "accuracy.svg").is_file()
    assert (path.parent / "tables" / "sums-greedy.tex").is_file()


def test_the_page_fetches_and_runs_nothing(whole):
    path, page, _ = whole
    assert not {"script", "link", "iframe", "object", "embed", "img", "form", "base"} & set(page.tags)
    policy = next(value for name, value in page.attributes if name == "content" and "default-src" in value)
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'")
    assert "script" not in policy
    for name, value in page.attributes:
        if name in ("src", "href", "xlink:href", "action"):
            assert value.startswith(("#", "completions.html")), (name, value)
        assert not name.startswith("on")
    assert not re.search(r"@import|url\((?!#)", path.read_text(encoding="utf-8"))


def test_every_link_into_the_page_has_its_target_and_every_word_its_explanation(whole):
    attributes = whole[1].attributes
    targets = {value for name, value in attributes if name == "id"}
    links = {value[1:] for name, value in attributes if name == "href" and value.startswith("#")}
    assert {"wrong", "next", "arms", "temperature", "rl", "examples", "more"} <= links <= targets
    titles = {value for name, value in attributes if name == "title"}
    rare = {"maj@n", "best@n", "control", "any form", "rft, self"}  # that this study's tables lack
    terms = environment().get_template("parts.html").module.terms
    assert {text for name, text in terms.items() if name not in rare} <= titles


HOSTILE = (
    "\x00\x1b[31m<script>alert(1)</script>]]></style></pre><img src=x onerror=alert(2)>\u202e &amp; {{ 7*7 }}"
)


def test_what_a_model_wrote_cannot_run_and_is_shown_as_it_is(tmp_path):
    _, raw, page = _page(tmp_path, text=lambda cell, number, right: f"{HOSTILE} {number}")
    assert page.open == []
    assert not {"script", "img"} & set(page.tags)
    shown = HOSTILE.replace("\x00", "␀").replace("\x1b", "␛").replace("\u202e", "\\u202e")
    assert shown in page.prose
    assert not {"\x00", "\x1b", "\u202e"} & set(raw)
    assert raw.count("</style>") == 1 + raw.count('<style type="text/css">')


def test_what_the_verifier_says_of_itself_stands_above_what_it_said_and_is_only_text(tmp_path):
    study = make_study(tmp_path / "runs", **SMALL)
    write_json(study.folder(Cell(TASK, None, 0)) / "cell.json", {"checks": "Accept <b>rows</b> of `answer`."})
    raw = document(summary(study))
    assert "says of itself: “Accept &lt;b&gt;rows&lt;/b&gt; of <code>answer</code>.”" in raw


def test_a_lone_surrogate_is_spelled_out_and_a_long_text_is_cut():
    assert shorten("a\ud800b") == "a\\ud800b"
    assert shorten("x" * LONGEST_CHARACTERS) == "x" * LONGEST_CHARACTERS
    assert shorten("x" * (LONGEST_CHARACTERS + 5)).endswith("… and 5 characters more")
    assert shorten("a\n\tb") == "a\n\tb"


@pytest.mark.slow
def test_the_same_study_gives_the_same_bytes_wherever_it_lies_and_however_long_it_took(whole, tmp_path):
    first = whole[0].parent
    copy = shutil.copytree(first.parent, tmp_path / "copy", ignore=shutil.ignore_patterns("report"))
    for cell in (copy / "cells").iterdir():
        write_json(cell / "timing.json", {"train": 1e6})
    report(copy, json=tmp_path / "all.json")
    files = sorted(path.relative_to(first) for path in first.rglob("*") if path.is_file())
    assert len(files) == 3 + 2 * 2 * 3
    for name in files:
        assert (first / name).read_bytes() == (copy / "report" / name).read_bytes(), name
    assert (first.parents[1] / "all.json").read_bytes() == (tmp_path / "all.json").read_bytes()


PARTS = """verdict study chosen interaction temperatures coverage rows own
    sentences cautions next missing"""


def test_the_json_holds_every_part_and_no_nan(whole):
    text = (whole[0].parents[2] / "all.json").read_text(encoding="utf-8")
    study_summary = json.loads(text, parse_constant=pytest.fail)
    assert set(study_summary) == set(PARTS.split())
    assert next(iter(study_summary)) == "verdict"
    assert study_summary["verdict"]["sentence"] == study_summary["sentences"][0]
    assert study_summary["verdict"]["sampled"]["use"]["label"] == "λ = 0.5"
    assert study_summary["study"]["task"] == TASK
    assert study_summary["chosen"]["lam"] == 0.5
    assert set(study_summary["chosen"]["scores"]) == {"0", "0.5", "1"}
    assert [row["lam"] for row in study_summary["rows"][::2]] == [None, 0.0, 0.5, 1.0] * 2
    assert [row["lam"] for row in study_summary["rows"] if row["is_preferred"]] == [0.0, 0.5] * 2
    assert set(study_summary["rows"][2]["seeds"]) == {"0", "1", "2"}
    assert study_summary["missing"] == []


def test_the_scores_among_which_lam_was_chosen_are_under_its_exact_value(tmp_path):
    lams = (0.0, 0.5, 1e-7 + 1, 1 / 3)
    study_summary = contents(summary(make_study(tmp_path / "runs", **SMALL, lams=lams)))
    assert list(study_summary["chosen"]["scores"]) == ["0", "0.5", "1.0000001", "0.3333333333333333"]
    assert [float(lam) for lam in study_summary["chosen"]["scores"]] == list(lams)


def test_other_methods_are_in_every_table_of_the_page_and_in_the_json(tmp_path):
    changes = {"control": CONTROL, "lams": (-0.1, 0.0, 0.5), "methods": ("dft", "focal:2")}
    study_summary, raw, page = _page(tmp_path, **changes, skip={(TASK, "dft", 0)})
    assert "3 strengths λ and 2 other methods × 3 seeds" in page.prose
    # A task: every arm, the verdicts and every seed, by decoding. Then several samples.
    tables = 2 * (2 + 2 + 2) + 1
    assert raw.count('<th scope="row">dft</th>') == tables
    assert len(re.findall(r'<th scope="row">λ = −0\.1( <span|</th>)', raw)) == tables
    assert '"methods": [ "dft", "focal:2" ]' in page.prose
    numbers = contents(study_summary)
    assert [(row["lam"], row["method"]) for row in numbers["rows"][2::2][:5]] == [
        *((lam, "cross-entropy") for lam in (-0.1, 0.0, 0.5)),
        *((0.0, name) for name in ("dft", "focal:2")),
    ]
    for text in (page.prose, " ".join(numbers["cautions"])):
        assert "1 of 32 cells are unfinished (sums-dft-seed0)" in text
    assert "unfinished, 31 of 32 cells" in page.prose
    assert numbers["missing"] == ["sums-dft-seed0"]


EVERY = {(task, lam, seed) for task in (TASK, CONTROL) for lam in (None, 0.0, 0.5, 1.0) for seed in range(3)}


@pytest.mark.parametrize(
    "changes",
    [
        {"skip": EVERY},
        {"lams": (0.0,)},
        {"right": lambda task, lam, decoding: 0.9 - 0.3 * (lam or 0)},
        {"right": lambda task, lam, decoding: 0.0},
        *(
            pytest.param(changes, marks=pytest.mark.slow)
            for changes in (
                {},
                {"skip": EVERY - {(TASK, 0.5, 1)}},
                {"skip": EVERY - {(TASK, None, 0)}},
                {"skip": {(TASK, 0.0, seed) for seed in range(3)}, "control": CONTROL},
                {"skip": {(CONTROL, None, 0), (TASK, None, 0)}, "control": CONTROL},
                {"lams": (-0.5, 0.0, 0.5)},
                {"lams": (0.0,), "methods": ("dft",)},
                {"methods": ("dft", "eaft"), "skip": EVERY | {(TASK, "eaft", seed) for seed in range(3)}},
                {"validation": 0},
                {"steps": 0},
                {"right": lambda task, lam, decoding: float(bool(lam))},
                {"problems": 1, "seeds": (0,), "samples": 1, "steps": 1},
            )
        ),
    ],
)
def test_every_kind_of_study_has_a_report(tmp_path, changes):
    make_study(tmp_path / "runs", **(SMALL | changes))
    path = report(tmp_path / "runs", json=tmp_path / "all.json", verbose=True)
    page = Page(path.read_text(encoding="utf-8"))
    assert page.open == []
    assert "nan" not in page.prose.lower().split()
    assert "None" not in page.prose
    assert path.stat().st_size < 2_000_000


def test_a_reader_of_the_terminal_who_leaves_early_finds_the_page(tmp_path, monkeypatch):
    def closed(*operands, **settings):
        raise BrokenPipeError

    make_study(tmp_path / "runs", **SMALL)
    monkeypatch.setattr("erce.reporting._print", closed)
    with pytest.raises(BrokenPipeError):
        report(tmp_path / "runs", json=tmp_path / "all.json")
    assert (tmp_path / "runs" / "report" / "index.html").is_file()
    assert (tmp_path / "all.json").is_file()


def test_with_one_seed_the_page_speaks_of_problems_alone(tmp_path):
    _, _, page = _page(tmp_path, seeds=(7,))
    assert "over problems alone; other seeds may differ" in page.prose
    for words in ("problems and seeds", "over seeds"):
        assert words not in page.prose.partition("What the words mean")[0]


def test_prompts_are_shown_where_the_study_keeps_them(whole):
    shown = examples(summary(read_study(whole[0].parents[1])))
    assert all(each.prompt == f"Work out <{each.problem.removeprefix('test-')}>." for each in shown["gained"])
    assert "Work out &lt;" in whole[0].read_text(encoding="utf-8")
    assert "No &lt;" not in whole[0].read_text(encoding="utf-8")
