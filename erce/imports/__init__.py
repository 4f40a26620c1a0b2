"""Logs of lm-eval, inspect and evalplus, or rows that `erce records` wrote → a study for `erce report`.

readers   a log of one of the tools, or our own .jsonl file → rows
study     the logs of each arm, or rows → a study's folder
"""

from erce.imports.readers import Reading, read_log, read_rows_file
from erce.imports.study import BASELINE, import_study, study_of_rows

__all__ = ["BASELINE", "Reading", "import_study", "read_log", "read_rows_file", "study_of_rows"]
