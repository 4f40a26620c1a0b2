"""Logs of lm-eval, inspect and evalplus, or rows that `erce records` wrote → a study for `erce report`.

lm_eval, inspect_ai, evalplus   one tool's log → rows with the columns of `erce records`
own_rows                        the rows of our own .jsonl file
logs                            whichever of the three tools wrote a log → rows; `Reading` says what to read
arms                            the logs of each arm → rows → a study
rows_to_study                   rows → a study's folder
"""

from erce.imports.arms import import_study
from erce.imports.evalplus import from_evalplus
from erce.imports.inspect_ai import from_inspect
from erce.imports.lm_eval import from_lm_eval
from erce.imports.logs import Reading, read_log
from erce.imports.rows_to_study import study_of_rows

__all__ = [
    "Reading",
    "from_evalplus",
    "from_inspect",
    "from_lm_eval",
    "import_study",
    "read_log",
    "study_of_rows",
]
