"""What a run says of its cells while they run and end: the lines, and the time that is left."""

import re

from toys import engine_work
from toys.engine_work import CELLS as TOY_CELLS
from toys.engine_work import RECIPE

from erce.events import Event, listening
from erce.recipe import Cell
from erce.study.engines import Done, Work, open_engine
from erce.study.engines.progress import Display, progress

CELLS = [Cell("toy", 1.0, seed) for seed in range(3)]


class Clock:
    def __init__(self):
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_a_line_a_cell_says_how_many_are_done_and_a_failure_why_on_one_line(capsys):
    with progress(5, 3, messages=["λ = 1 leads"]) as display:
        display.ended(Done(CELLS[0], seconds=1.25), accuracy="14.5 % greedy")
        display.ended(Done(CELLS[1], "RuntimeError: " + "no luck " * 30))
        display.ended(Done(CELLS[1], seconds=2.0))
        display.ended(Done(CELLS[2], seconds=0.5))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "λ = 1 leads"
    passed = r"\d+ s so far"  # by the clock of a machine that may be busy
    assert re.match(f"done: toy-lam1-seed0 in 1.2 s, 14.5 % greedy, 3 of 5, {passed}, about ", lines[1])
    assert lines[2] == "failed: toy-lam1-seed1: RuntimeError: " + "no luck " * 30
    assert re.match(f"done: toy-lam1-seed1 in 2.0 s, 4 of 5, {passed}, about ", lines[3])
    assert re.fullmatch(f"done: toy-lam1-seed2 in 0.5 s, 5 of 5, {passed}", lines[4])


def test_what_runs_is_said_at_once_and_then_every_half_minute(capsys):
    clock = Clock()
    display = Display(4, 4, clock=clock)
    display.hear(Event("a", "loading the model"))
    said = [
        (10.0, 0, 0, 0.7),
        (29.0, 3, 60, 0.7),
        (31.0, 4, 70, 0.612),
        (32.0, 5, 88, 0.5),
        (50.0, 6, 90, 0.5),
    ]
    clock.seconds = 1.0
    display.hear(Event("a", "training", 0, 10))
    for seconds, done, tokens, loss in said:
        clock.seconds = seconds
        display.hear(Event("a", "training", done, 10, tokens, loss))
    clock.seconds = 60.0  # nothing is heard any more: a step may be long
    display.tick()
    clock.seconds = 61.0
    display.tick()
    assert capsys.readouterr().err.splitlines() == [
        "now: a: loading the model",
        "now: a: training, step 4 of 10, loss 0.612, 2 tokens/s, about 45 s left of it",
        "now: a: training, step 6 of 10, loss 0.500, 2 tokens/s, about 40 s left of it",
    ]


def test_what_is_begun_counts_towards_the_pace_and_what_was_done_before_does_not(capsys):
    """Completions end together, at the end of a batch; until then their tokens tell how fast it goes."""
    clock = Clock()
    display = Display(1, 1, clock=clock)
    display.hear(Event("a", "generation", 20, 60))
    clock.seconds = 30.0
    display.hear(Event("a", "generation", 21, 60, tokens=600, begun=9.0))
    assert capsys.readouterr().err.splitlines() == [
        "now: a: generation, 20 of 60 completions",
        "now: a: generation, 21 of 60 completions, 20 tokens/s, about 2 min left of it",
    ]


def test_the_time_left_is_that_of_the_cells_that_have_ended_here(capsys):
    """Four cells of an hour each that ended after one hour ran side by side; a failed one is still to run."""
    clock = Clock()
    display = Display(10, 6, clock=clock)
    clock.seconds = 3600.0
    for _ in range(4):
        display.ended(Done(CELLS[0], seconds=3600.0))
    display.ended(Done(CELLS[1], "RuntimeError: no luck"))
    assert capsys.readouterr().err.splitlines()[3].endswith("8 of 10, 3600 s so far, about 30 min left")


def test_a_worker_of_the_pool_tells_its_driver_of_every_stage(tmp_path):
    told = []
    with (
        open_engine(
            Work(tmp_path, RECIPE, engine_work.tell_of_two_stages), engine="processes", jobs=2
        ) as run,
        listening(told.append),
    ):
        assert [done.failure for done in run(TOY_CELLS[:2])] == ["", ""]
    for cell in TOY_CELLS[:2]:
        stages = [(event.stage, event.done, event.total) for event in told if event.cell == cell.name]
        assert [stage for stage in stages if stage[1] in (0, 7)] == [
            ("loading the model", 0, 0),
            ("training", 0, 3),
            ("generation", 7, 9),
        ]
