"""Run lm-eval's own command line with a model "scripted", which answers from a file."""

import json
from pathlib import Path

from lm_eval.__main__ import cli_evaluate  # pyright: ignore[reportMissingImports]
from lm_eval.api.model import LM  # pyright: ignore[reportMissingImports]
from lm_eval.api.registry import register_model  # pyright: ignore[reportMissingImports]


@register_model("scripted")
class Scripted(LM):
    """A model that gives each question the answer that a file of rows has for it."""

    def __init__(self, answers, **_):
        super().__init__()
        rows = [json.loads(line) for line in Path(answers).read_text(encoding="utf-8").splitlines()]
        self.answers = {row["question"]: row["response"] for row in rows}

    def generate_until(self, requests, disable_tqdm=False):
        return [self.answers[request.args[0]] for request in requests]

    def loglikelihood(self, requests, disable_tqdm=False):
        raise NotImplementedError

    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        raise NotImplementedError


cli_evaluate()
