"""The house: who imports whom, what is loaded when, and that the project stands alone."""

import ast
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "erce").rglob("*.py"))

GROUND = {"catalog", "errors", "events", "files", "types"}  # everybody may import these

ARROWS = {  # room → the rooms of ours that it may import, beside the ground
    "loss": set(),
    "stats": set(),
    "verify": set(),
    "score": set(),
    "recipe": set(),
    "tasks": {"verify"},
    "hf": {"loss"},
    "integrations": {"hf", "loss", "verify"},
    "train": {"hf", "loss", "recipe"},
    "generate": {"hf", "recipe"},
    "evaluation": {"generate", "hf", "recipe", "score", "stats", "tasks"},
    "study": {"evaluation", "generate", "hf", "loss", "recipe", "score", "stats", "tasks", "train", "verify"},
    "imports": {"recipe", "study"},
    "reporting": {"recipe", "score", "stats", "study", "tasks"},
    "cli": {"imports", "loss", "recipe", "reporting", "study", "tasks", "train", "verify"},
}
PARTS = {path.relative_to(ROOT / "erce").parts[0].removesuffix(".py") for path in MODULES}
HEAVY = {"torch", "transformers", "trl", "peft", "datasets", "matplotlib", "scipy", "rich", "jinja2", "numpy"}


def part(path: Path) -> str:
    return path.relative_to(ROOT / "erce").parts[0].removesuffix(".py")


@cache
def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.add(node.module or "")
            names |= {f"erce.{each.name}" for each in node.names if node.module == "erce"}
    return names


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_follow_the_arrows(path):
    if path == ROOT / "erce" / "__init__.py":
        return
    ours = {name.split(".")[1] for name in imported(path) if name.startswith("erce.")} & PARTS
    allowed = {"errors"} if part(path) in GROUND else ARROWS[part(path)] | GROUND
    assert ours - {part(path)} <= allowed


@pytest.mark.parametrize(("library", "place"), [("trl", "train"), ("ray", "study/engines/ray.py")])
def test_a_fast_moving_library_stays_in_one_place(library, place):
    users = [path for path in MODULES if library in {name.split(".")[0] for name in imported(path)}]
    assert users
    assert all(path.is_relative_to(ROOT / "erce" / place) for path in users)


def loaded_after(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(out.stdout.split("\n")[-2].split())


@pytest.mark.parametrize(
    ("statement", "allowed"),
    [
        ("import erce", set()),
        ("from erce.cli.main import main\ntry: main(['--help'])\nexcept SystemExit: pass", set()),
        ("import erce.catalog, erce.recipe", set()),
        ("import erce.tasks, erce.verify.number, erce.verify.program, erce.integrations.rewards", set()),
        ("import erce.stats, erce.study.folder, erce.study.rounds, erce.score", {"numpy", "scipy", "rich"}),
        ("import erce.loss", {"torch", "numpy"}),
        pytest.param(
            "from erce.study.stages import base_policy\nbase_policy('tiny', 'auto')",
            HEAVY - {"trl", "datasets", "matplotlib"},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_heavy_libraries_wait_until_they_are_needed(statement, allowed):
    assert loaded_after(statement) & HEAVY <= allowed


def test_every_public_name_is_there_and_documented():
    import erce

    stub = ast.parse((ROOT / "erce" / "__init__.pyi").read_text(encoding="utf-8"))
    typed = next(ast.literal_eval(each.value) for each in stub.body if isinstance(each, ast.Assign))
    assert sorted(typed) == sorted([*erce.__all__, *erce._PARTS])
    for name in erce.__all__:
        public = getattr(erce, name)
        tables = isinstance(public, dict | str)
        assert tables or (public.__doc__ and public.__doc__ != type(public).__doc__), name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = erce.nothing


def test_without_an_extra_a_public_name_says_what_to_install(monkeypatch):
    import erce

    def missing(name):
        raise ModuleNotFoundError("No module named 'scipy'", name="scipy")

    monkeypatch.setattr(erce, "import_module", missing)
    for name in ("stats", "report"):
        with pytest.raises(
            ModuleNotFoundError, match=rf"^erce.{name} needs scipy; run: pip install 'erce\[study\]'$"
        ):
            erce.__getattr__(name)


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("an archive without git has no list of tracked files")
    return [ROOT / line for line in listed.stdout.splitlines()]


def test_the_project_names_no_place_outside_itself():
    outside = re.compile(r"\.\./" + r"shared|/w" + r"ork/")
    texts = [
        path for path in tracked() if path.suffix in {".py", ".md", ".toml", ".txt", ".yml", ".html", ".j2"}
    ]
    assert [
        str(path) for path in texts if path.is_file() and outside.search(path.read_text(encoding="utf-8"))
    ] == []


def test_no_two_public_classes_share_a_name():
    classes = Counter(
        node.name
        for path in MODULES
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, count in classes.items() if count > 1] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_say_what_they_do(path):
    text = path.read_text(encoding="utf-8")
    if text:
        assert ast.get_docstring(ast.parse(text)), "the first line says what the file turns into what"
