"""Logs of lm-eval, inspect and evalplus, and our own rows → a study that `erce report` reads."""

from erce.imports.evalplus import from_evalplus
from erce.imports.folder import study_of_rows
from erce.imports.inspect_ai import from_inspect
from erce.imports.lm_eval import from_lm_eval
from erce.imports.logs import Reading, read_log
from erce.imports.study import import_study

__all__ = [
    "Reading",
    "from_evalplus",
    "from_inspect",
    "from_lm_eval",
    "import_study",
    "read_log",
    "study_of_rows",
]
