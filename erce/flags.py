"""The flags of a command, added to its parser; `erce.cli` reads them."""

import argparse
from pathlib import Path
from typing import Any


def add_import(added: argparse.ArgumentParser) -> None:
    added.add_argument("out", type=Path, help="the study's folder, which is made")
    source = added.add_mutually_exclusive_group(required=True)
    text = "what gains are measured from: one log a seed, a file or the folder that a run wrote"
    source.add_argument("--baseline", nargs="+", metavar="LOG", help=text)
    source.add_argument(
        "--rows", type=Path, metavar="FILE", help="a .jsonl of `erce records`, all arms in it"
    )
    text = "an arm and its logs, one a seed; lam=2 is the λ 2, base the untrained model, else any name"
    several: dict[str, Any] = {"action": "append", "nargs": "+", "default": [], "metavar": ("NAME", "LOG")}
    added.add_argument("--arm", **several, help=text)
    text = "an arm's logs of validation problems, in the order of its seeds; also for the arm baseline"
    added.add_argument("--validation", **several, help=text)
    formats = ("auto", "lm-eval", "inspect", "evalplus")
    added.add_argument("--format", choices=formats, default="auto", help="who wrote the logs (auto)")
    added.add_argument("--task", help="one of those in a folder of lm-eval; else what to call the task")
    added.add_argument("--metric", help="lm-eval: the metric that is the verdict")
    added.add_argument("--filter", help="lm-eval: the filter whose answers are judged")
    added.add_argument("--scorer", help="inspect: the scorer that is the verdict")
    added.add_argument("--plus", action="store_true", help="evalplus: judged with the added tests")
    text = "of logs that do not say it; 0 is greedy"
    added.add_argument("--temperature", type=float, metavar="T", help=text)


def add_verify(added: argparse.ArgumentParser) -> None:
    text = "rows of answer and completion, or program and tests (JSON Lines), or a study's folder"
    added.add_argument("file", type=Path, nargs="?", help=text)
    added.add_argument("--answer", help="the reference answer")
    added.add_argument("--completion", help="what a model wrote")
    added.add_argument("--program", type=Path, metavar="FILE", help="a program, judged by every --test")
    added.add_argument("--test", action="append", default=[], metavar="ASSERT", help="one assert")
    kinds = ("math", "answer", "number", "program")
    text = "how to read it: math (box in a completion), answer (bare), number (GSM8K), program"
    added.add_argument("--as", dest="kind", choices=kinds, help=text)
    added.add_argument("--mode", choices=("ours", "paper"), default="ours", help="whose procedure (ours)")
    added.add_argument("--explain", action="store_true", help="what was judged, and why so")
    added.add_argument("--workers", type=int, help="processes that judge a file (one a core)")
    added.add_argument("--limit", type=int, default=20, help="disagreements to print (20)")
    added.add_argument("--json", type=Path, metavar="FILE", help="write every row's verdicts to FILE")
    add_sandbox(added)


def add_run(added: argparse.ArgumentParser) -> None:
    """Which recipe, and the settings that win over it."""
    added.add_argument("recipe", help="a TOML file, or the name of a recipe that comes with erce")
    added.add_argument("--out", type=Path, help="the study's folder (runs/NAME)")
    added.add_argument("--task", help="one that comes with erce, or your own: package.module:NAME")
    added.add_argument("--model", help="tiny, a folder, or a model's name on the hub")
    added.add_argument("--data", help="the folder with the task's original files, or a file of your own")
    added.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="any setting of the recipe"
    )


def add_plan(added: argparse.ArgumentParser) -> None:
    """Of `run`: a smaller study, and what one would take."""
    text = "at most N problems each to train on, validate on and test on: a quick look (runs/NAME-limitN)"
    added.add_argument("--limit", type=int, metavar="N", help=text)
    text = "say what would run, how many steps and tokens, how much memory and for how long; write nothing"
    added.add_argument("--dry-run", action="store_true", help=text)
    text = "for --dry-run: a100, a100-40, h100, h200, l40s, l4, rtx4090 or cpu (h100)"
    added.add_argument("--device", default="h100", metavar="NAME", help=text)
    text = "for --dry-run: measured there, instead of a share of the device's peak"
    pair: dict[str, Any] = {"nargs": 2, "type": float, "metavar": ("TRAINED", "DRAWN")}
    added.add_argument("--tokens-per-second", **pair, help=text)


def add_sandbox(parser: argparse.ArgumentParser) -> None:
    text = "the protection that programs run in; seccomp and none only when named"
    parser.add_argument("--sandbox", choices=("auto", "namespaces", "landlock", "seccomp", "none"), help=text)
