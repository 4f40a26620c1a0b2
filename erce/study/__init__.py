"""A study: a recipe → one folder of cells, each trained, drawn, judged and scored. Read `cell.py` first."""
