"""The paper's printed tables, as values that studies and our statistics are compared with.

tables     tables.json → typed tables, found by task, decoding, penalty and order
__main__   `python -m erce.paper`: its tables made from its own seeds, and which gains a test supports
"""

from erce.paper.tables import PaperRow, PaperTable, citation, lookup, tables

__all__ = ["PaperRow", "PaperTable", "citation", "lookup", "tables"]
