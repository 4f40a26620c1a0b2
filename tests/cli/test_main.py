"""The command line: its words, its sentences, its exit codes."""

import os
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from erce.cli.main import main
from erce.cli.terminal import KEPT, KEPT_CELLS, WIDTH, fitted
from erce.study.engines import ENGINES

ROOT = Path(__file__).parents[2]
GOES_ON = "are kept, and the same command goes on from there"


def sets(*pairs: str) -> list[str]:
    return [word for pair in pairs for word in ("--set", pair)]


def test_every_command_has_a_summary(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    assert end.value.code == 0
    assert {"demo", "run", "report", "records", "import", "tasks"} <= set(capsys.readouterr().out.split())


def test_tasks_are_listed(capsys):
    assert main(["tasks"]) == 0
    listed = capsys.readouterr().out
    assert "mini-sums-answer-only" in listed
    assert "  competition mathematics; the answer is a formula in a box" in listed
    assert "recipes, for `erce run`: gsm8k, " in listed


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["run", "recipes/nothing.toml"], "no recipe 'recipes/nothing.toml'"),
        (["run", "mini", "--set", "lambs=[0, 1]"], "no setting 'lambs'; did you mean 'lams'?"),
        (["run", "mini", "--set", "limit=5"], "--set: no setting 'limit'; "),
        (["run", "mini", "--dry-run", "--set", "out=x"], "--set: no setting 'out'; "),
        (["run", "mini", "--set", "jobs=2"], "--set: no setting 'jobs'; "),
        (["run", "mini", "--set", "recipe=x"], "--set: no setting 'recipe'; "),
        (["run", "mini", "--dry-run", "--set", "path=x"], "--set: no setting 'path'; "),
        (
            ["run", "mini", "--jobs", "0", "--set", "takes=x"],
            "no setting 'takes'; did you mean 'task'?",
        ),
        (["run", "mini", "--set", "lams=[0, one]"], "not KEY=VALUE as in TOML"),
        (
            ["run", "mini", "--model", "/no/such", "--dry-run"],
            "no model '/no/such' could be loaded (there is no such folder); give 'tiny'",
        ),
        (["run", "mini", "--jobs", "0"], "jobs = 0"),
        (["run", "mini", "--engine", "rya"], f"no engine 'rya'; there are {', '.join(ENGINES)}"),
        (["run", "mini", "--engine", "here", "--jobs", "2"], "this one process; use 'processes'"),
        (["run", "mini", *sets("resources.gpus=64")], "gpus = 64"),
        (["report", "no/such/study"], "no study in 'no/such/study'"),
        (["records", "no/such/study", "rows.jsonl"], "no study in 'no/such/study'"),
        (["verify", "--program", "no/program.py"], "nothing to verify, or two things"),
        (["verify", "no/rows.jsonl"], "'no/rows.jsonl' cannot be read or written (No such file"),
        (["import", "--baseline", "no/log"], "no log at 'no/log'; give a file, or the folder"),
        (["import", "--baseline", "a", "--arm", "x"], "arm 'x' has no files; write its name, then one log"),
        (["import", "--baseline", "a", "--arm", "baseline", "b"], "arm 'baseline' is named twice"),
        (["import", "--baseline", "a", "--validation", "y", "b"], "validation logs for 'y'"),
        (["import", "--baseline", "a", "--temperature", "-1"], "temperature = -1 is below 0; 0 is greedy"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2_and_writes_nothing(words, sentence, tmp_path, capsys):
    out = ["--out", str(tmp_path / "study")] if words[0] == "run" else []
    words = [words[0], str(tmp_path / "study"), *words[1:]] if words[0] == "import" else words
    assert main([*words, *out]) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.startswith("erce: ")
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_flag_for_lam_is_told_where_lam_is(capsys):
    for words, lams in ((["--lam", "2"], "[0, 2]"), (["--lams", "0", "4", "8"], "[0, 4, 8]")):
        with pytest.raises(SystemExit) as end:
            main(["run", "mini", *words])
        assert end.value.code == 2
        assert f"--set 'lams={lams}'" in capsys.readouterr().err


def test_a_missing_extra_is_named_with_the_command_that_installs_it(monkeypatch, capsys):
    monkeypatch.setattr("erce.cli.main.NEEDS_STUDY", ("trl", "not_installed"))
    assert main(["run", "nothing.toml"]) == 2
    assert "this command needs not_installed; run: pip install 'erce[study]'" in capsys.readouterr().err


def test_the_help_names_every_engine(capsys):
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert f"what runs the cells: {', '.join(ENGINES)}, " in text


def test_sigterm_ends_a_command_as_ctrl_c_does_with_its_own_exit_code(monkeypatch, capsys):
    monkeypatch.setattr("erce.study.run.run", lambda *_, **__: os.kill(os.getpid(), signal.SIGTERM))
    before = signal.getsignal(signal.SIGTERM)
    assert main(["run", "mini"]) == 143
    assert capsys.readouterr().err == f"erce: terminated; {KEPT} {GOES_ON}\n"
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize(
    ("words", "at", "way_on"),
    [
        (["run", "mini"], "erce.study.run.run", f"; {KEPT} {GOES_ON}"),
        (["run", "mini", "--engine", "ray"], "erce.study.run.run", f"; {KEPT_CELLS} {GOES_ON}"),
        (["demo"], "erce.study.run.run", f"; {KEPT} {GOES_ON}"),
        (["run", "mini", "--dry-run"], "erce.study.dry_run.dry_run", ""),
        (["verify", "rows.jsonl"], "erce.cli.side_by_side.reverify_file", ""),
        (["tasks"], "erce.tasks.load_task", ""),
    ],
)
def test_an_interruption_says_how_to_go_on_where_a_command_does(words, at, way_on, monkeypatch, capsys):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(at, interrupted)
    assert main(words) == 130
    assert capsys.readouterr().err == f"erce: interrupted{way_on}\n"


@pytest.mark.parametrize("words", [["demo"], ["run", "mini-styles"]])
def test_a_limit_takes_fewer_problems_into_a_folder_of_its_own(words, monkeypatch):
    called = []

    def stopped(recipe: Path, **options: object) -> None:
        called.append(options)
        raise KeyboardInterrupt

    monkeypatch.setattr("erce.study.run.run", stopped)
    assert main(words) == 130
    assert main([*words, "--limit", "16"]) == 130
    whole, limited = called
    assert whole["out"] == Path("runs", words[-1])
    assert limited["out"] == Path("runs", f"{words[-1]}-limit16")
    assert "n_test" not in whole
    assert (limited["n_train"], limited["n_validation"], limited["n_test"]) == (16, 16, 16)


def test_what_an_error_quotes_cannot_steer_the_terminal(tmp_path, capsys):
    folder = tmp_path / "red\x1b[31m\u202e"
    folder.mkdir()
    (folder / "thesis.tex").write_text("mine", encoding="utf-8")
    assert main(["run", "mini", "--out", str(folder)]) == 2
    assert "red\\x1b[31m\\u202e exists and holds no study" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (
            PermissionError(13, "Permission denied", "a\x1bb"),
            "'a\\x1bb' cannot be read or written (Permission denied); give another path, or repair this one",
        ),
        (OSError(28, "No space left on device"), "No space left on device"),
        (ConnectionError("no answer from\nhttp://here"), "no answer from\nhttp://here"),
        (BrokenPipeError(32, "Broken pipe"), "Broken pipe"),  # another pipe than standard output
    ],
)
def test_what_the_system_refuses_is_a_sentence(error, sentence, monkeypatch, capsys):
    def refused(name: str) -> None:
        raise error

    monkeypatch.setattr("erce.tasks.load_task", refused)
    assert main(["tasks"]) == 2
    printed = capsys.readouterr()
    assert printed.err == f"erce: {sentence}\n"
    assert printed.out == "" or isinstance(error, BrokenPipeError)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_leaves_early_ends_the_command_in_silence(unbuffered):
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run(
        [sys.executable, "-m", "erce.cli.main", "tasks"],
        stdout=writer,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
        check=False,
    )
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (141, b"")


@pytest.mark.parametrize(
    ("file", "sentence"),
    [("", "is a folder; name a file in it"), ("f/x.json", "is a file, not a folder; choose")],
)
@pytest.mark.parametrize("words", [["verify", "f"], ["report", "no/such/study"]])
def test_a_json_that_cannot_be_written_is_refused_before_anything_is_computed(
    words, file, sentence, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f").write_text('{"answer": "1", "completion": ""}', encoding="utf-8")
    assert main([*words, "--json", str(tmp_path / file)]) == 2
    printed = capsys.readouterr()
    assert f"--json {str(tmp_path / file)!r}" in printed.err
    assert sentence in printed.err
    assert printed.out == ""


@pytest.mark.parametrize(("tier", "code"), [("seccomp", 1), ("none", 0)])
def test_the_doctor_says_what_runs_and_its_exit_code_whether_a_program_reached_anything(
    tier, code, capsys, monkeypatch
):
    monkeypatch.setenv("ERCE_SANDBOX", "auto")
    assert main(["doctor", "--sandbox", tier]) == code
    printed = capsys.readouterr().out
    assert f"programs run in the tier '{tier}'; what a program tried there:" in printed
    assert ("FAIL read /etc/passwd" in printed) == bool(code)
    assert max(map(len, printed.splitlines())) <= 80
    assert "What a sandbox does not cover stands in docs/sandbox.md." in printed
    assert f"torch          {version('torch')}" in printed
    assert "kernels        no CUDA device: the loss runs in plain PyTorch" in printed


def test_a_text_with_double_blanks_keeps_its_words():
    text = "She sells  sixteen eggs,  eats three,  bakes four,  and sells  what is left at 2 dollars  each"
    lines = fitted(f"  text     {text}").split("\n")
    assert len(lines) == 2
    assert max(map(len, lines)) <= WIDTH
    assert " ".join(lines).split() == ["text", *text.split()]


def test_a_program_that_is_no_text_is_named(tmp_path, capsys):
    (tmp_path / "program.py").write_bytes(b"\xff")
    assert main(["verify", "--program", str(tmp_path / "program.py"), "--test", "assert f()"]) == 2
    assert f"erce: '{tmp_path}/program.py' is not text in UTF-8; give" in capsys.readouterr().err
