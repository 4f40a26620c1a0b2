"""A recipe → one folder of cells, each trained, sampled, verified and scored. Read `cell.py` first."""
