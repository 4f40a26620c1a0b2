"""A journal while a cell is drawn; then flat rows, one a sample, ours or imported, that other tools read."""

from erce.records.arrays import outcome_arrays
from erce.records.inspect_logs import from_inspect
from erce.records.lm_eval import from_lm_eval
from erce.records.rows import COLUMNS, export, records

__all__ = ["COLUMNS", "export", "from_inspect", "from_lm_eval", "outcome_arrays", "records"]
