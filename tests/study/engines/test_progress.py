"""What a run says of its cells while they end, where nobody watches a bar."""

from erce.recipe import Cell
from erce.study.engines import Done
from erce.study.engines.progress import Pace, progress

CELLS = [Cell("toy", 1.0, seed) for seed in range(3)]


def test_a_line_a_cell_says_how_many_are_done_and_a_failure_why_on_one_line(capsys):
    with progress(5, 3, messages=["λ = 1 leads"]) as advance:
        advance(Done(CELLS[0], seconds=1.25))
        advance(Done(CELLS[1], "RuntimeError: " + "no luck " * 30))
        advance(Done(CELLS[1], seconds=2.0))
        advance(Done(CELLS[2], seconds=0.5))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "λ = 1 leads"
    assert lines[1].startswith("done: toy-lam1-seed0 in 1.2 s, 3 of 5, 0 s so far, about ")
    assert lines[2] == "failed: toy-lam1-seed1: RuntimeError: " + "no luck " * 30
    assert lines[3].startswith("done: toy-lam1-seed1 in 2.0 s, 4 of 5, 0 s so far, about ")
    assert lines[4] == "done: toy-lam1-seed2 in 0.5 s, 5 of 5, 0 s so far"


def test_cells_that_take_hours_have_a_time_left_too():
    ticks = iter([0.0, 7200.0, 7300.0])  # two side by side
    pace = Pace(4, clock=lambda: next(ticks))
    assert [pace.after_another(), pace.after_another()] == ["about 6.0 h left", "about 2.0 h left"]
