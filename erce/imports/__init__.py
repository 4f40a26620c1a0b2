"""Logs of lm-eval, inspect and evalplus, or rows that `erce records` wrote → a study for `erce report`.

lm_eval, inspect_ai, evalplus   one tool's log → columns of `erce records`
logs                            a log of any of them, or our own .jsonl file → rows
study                           the logs of each arm, or rows → a study's folder
"""

from erce.imports.logs import Reading, read_log, read_rows_file
from erce.imports.study import BASELINE, import_study, study_of_rows

__all__ = ["BASELINE", "Reading", "import_study", "read_log", "read_rows_file", "study_of_rows"]
