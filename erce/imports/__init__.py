"""Logs of lm-eval, and rows of verdicts → a study for `erce report`.

readers   a log → rows
study     the logs of each arm → a study's folder
"""

from erce.imports.readers import Reading
from erce.imports.study import BASELINE, import_study

__all__ = ["BASELINE", "Reading", "import_study"]
