"""The paper's printed tables, as values that studies and our statistics are compared with.

tables         tables.json → typed tables, found by task, decoding, penalty and order
regenerate     per-seed values → the printed tables, row for row
significance   the tables → which gains a test supports; `python -m erce.paper` prints both
"""

from erce.paper.tables import PaperRow, PaperTable, citation, lookup, tables

__all__ = ["PaperRow", "PaperTable", "citation", "lookup", "tables"]
