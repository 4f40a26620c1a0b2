"""Numbers and sentences → what a reader opens: the terminal's tables, HTML, LaTeX, figures, a model card."""
