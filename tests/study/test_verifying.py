"""The version of a verifier: what it runs, and no more."""

import shutil

import erce.verify
from erce.study.verifying import verifier_version
from erce.tasks import TASKS


def test_a_verifiers_version_covers_the_files_that_it_imports_and_no_others(tmp_path, monkeypatch):
    copy = shutil.copytree(erce.verify.__path__[0], tmp_path / "verify")
    monkeypatch.setattr(erce.verify, "__path__", [str(copy)])

    def versions() -> dict[str, str]:
        return {name: verifier_version(TASKS[name].verify) for name in ("gsm8k", "math", "mini-code")}

    def changed_by(file: str) -> set[str]:
        before = versions()
        with (copy / file).open("a", encoding="utf-8") as source:
            source.write("# a comment\n")
        return {name for name, version in versions().items() if version != before[name]}

    assert changed_by("sandbox/host.py") == {"mini-code"}
    assert changed_by("answers/reference.py") == {"math"}
    assert changed_by("number.py") == {"gsm8k", "math"}
    assert changed_by("extract.py") == {"gsm8k", "math", "mini-code"}
