"""The paper's printed tables → values that studies are held against and that our statistics are tested on."""

from erce.paper.tables import PaperRow, PaperTable, citation, lookup, tables

__all__ = ["PaperRow", "PaperTable", "citation", "lookup", "tables"]
