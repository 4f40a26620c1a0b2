"""The page about the loss: its Python runs as it is printed."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "loss.md"


def test_the_pages_python_runs_from_top_to_bottom_and_prints_what_it_says(capsys):
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), flags=re.M | re.S)
    assert len(blocks) >= 4
    namespace: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), namespace)
    promised = re.findall(r"print\(.*\)  # (.*)$", "".join(blocks), flags=re.M)
    printed = capsys.readouterr().out.splitlines()
    assert promised == printed[-len(promised) :]
