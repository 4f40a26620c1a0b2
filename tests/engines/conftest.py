"""The chaos scripts put toys in the place of modules: they run in processes of their own alone."""

collect_ignore = ["chaos_cells.py", "chaos_study.py"]
