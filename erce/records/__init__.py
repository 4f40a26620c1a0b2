"""A journal while a cell is drawn; then flat rows, one a sample, ours or imported, that other tools read."""

from erce.records.arrays import outcome_arrays
from erce.records.evalplus import from_evalplus
from erce.records.folder import study_of_rows
from erce.records.imported import import_study
from erce.records.inspect_logs import from_inspect
from erce.records.lm_eval import from_lm_eval
from erce.records.logs import Reading, read_log
from erce.records.rows import COLUMNS, export, records

__all__ = [
    "COLUMNS",
    "Reading",
    "export",
    "from_evalplus",
    "from_inspect",
    "from_lm_eval",
    "import_study",
    "outcome_arrays",
    "read_log",
    "records",
    "study_of_rows",
]
