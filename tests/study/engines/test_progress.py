"""What a run says of its cells while they run and end: the lines, and the time that is left."""

import pytest
from rich.console import Console
from toys import engine_work
from toys.engine_work import CELLS as TOY_CELLS
from toys.engine_work import RECIPE

from erce import events
from erce.events import Event, listening
from erce.recipe import Cell
from erce.study.engines import Done, Work, open_engine
from erce.study.engines.progress import Display

CELLS = [Cell("toy", 1.0, seed) for seed in range(3)]


class Clock:
    def __init__(self):
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_line_a_cell_says_what_it_took_and_how_many_are_done_and_a_failure_why(capsys, clock):
    display = Display(clock)
    display.total, display.n_done = 5, 1
    base, *trained = Cell("toy", None, 0), *CELLS
    clock.seconds = 4.0
    display.ended(Done(base, seconds=4.0), accuracy="14.5 % greedy")
    clock.seconds = 104.0
    display.ended(Done(trained[0], seconds=100.0))
    display.ended(Done(trained[1], "RuntimeError: " + "no luck " * 30))
    clock.seconds = 304.0
    display.ended(Done(trained[1], seconds=200.0))
    display.ended(Done(trained[2], seconds=150.0))
    display.ended(Done(trained[2], seconds=9.0), again=True)
    # The base model does not tell how long a training takes.
    assert capsys.readouterr().err.splitlines() == [
        "done: toy-base in 4 s, 14.5 % greedy, 2 of 5 cells",
        "done: toy-lam1-seed0 in 2 min, 3 of 5 cells, about 3 min left",
        "failed: toy-lam1-seed1: RuntimeError: " + "no luck " * 30,
        "done: toy-lam1-seed1 in 3 min, 4 of 5 cells, about 2 min left",
        "done: toy-lam1-seed2 in 2 min, 5 of 5 cells",
        "done: toy-lam1-seed2 at further temperatures in 9 s, 5 of 5 cells",
    ]


@pytest.mark.parametrize(
    "heard", [True, False], ids=["processes", "Ray, whose cells are heard of at their end"]
)
def test_cells_side_by_side_share_the_time(capsys, clock, heard):
    display = Display(clock)
    display.total = 8
    for cell in CELLS[:2] if heard else ():
        display.hear(Event(cell.name, "training", 0, 10))
    clock.seconds = 60.0
    for cell in CELLS[:2]:
        display.ended(Done(cell, seconds=60.0))
    first, last = capsys.readouterr().err.splitlines()[-2:]
    assert first.endswith(f"1 of 8 cells, about {4 if heard else 7} min left")
    assert last.endswith("2 of 8 cells, about 3 min left")


def test_an_event_has_the_time_since_its_stage_began_and_the_stage_ends_with_the_next(monkeypatch, clock):
    told = []
    monkeypatch.setattr("time.monotonic", clock)
    with listening(told.append):
        events.begin("training", 10, cell="a")
        for clock.seconds in (2.0, 5.0):
            events.advance(1, tokens=10)
        events.begin("generation", 4)
        clock.seconds = 6.0
        events.advance(1, tokens=3)
    assert [event.seconds for event in told] == [0.0, 2.0, 5.0, 0.0, 1.0]
    assert [event.in_words() for event in told[2::2]] == [
        "training, step 2 of 10, 4 tokens/s",
        "generation, 1 of 4, 3 tokens/s",
    ]


def test_what_runs_is_said_at_once_and_then_every_half_minute(capsys, clock):
    display = Display(clock)
    display.hear(Event("a", "loading the model"))
    clock.seconds = 1.0
    display.hear(Event("a", "training", 0, 10))
    for seconds, done, tokens, loss in [
        (29.0, 3, 60, 0.7),
        (31.0, 4, 70, 0.612),
        (32.0, 5, 88, 0.5),
        (61.0, 6, 90, 0.5),
    ]:
        clock.seconds = seconds
        display.hear(Event("a", "training", done, 10, tokens, loss, seconds - 1.0))
    assert capsys.readouterr().err.splitlines() == [
        "now: a: loading the model",
        "now: a: training, step 4 of 10, loss 0.612, 2 tokens/s",
        "now: a: training, step 6 of 10, loss 0.500, 2 tokens/s",
    ]


def test_a_training_that_goes_on_says_from_which_step(capsys, clock):
    display = Display(clock)
    for event in (
        Event("a", "loading the model"),
        Event("a", "training", 12, 60),
        Event("a", "training", 13, 60),
    ):
        display.hear(event)
    display.hear(Event("b", "training", 0, 60))
    resumed = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("now: ")]
    assert resumed == ["resumed: a: training, from step 12 of 60"]


def test_in_eighty_columns_lam_and_the_seed_are_there(clock):
    display = Display(clock)
    display.total, display.n_done = 26, 3
    name = "a_module_with_a_long_name.of_a_package-problems-label-smoothing-0.1-lam0.25-seed13"
    display.hear(Event(name, "training", 4, 60, 4000, 0.612, 1.0))
    lines = Console(width=80).render_lines(display.rows(), pad=False)  # as a live view does
    first, cell = ("".join(segment.text for segment in line) for line in lines)
    assert first == "3 of 26 cells, 0 s so far"
    assert "-lam0.25-seed13: training, step 4 of 60" in cell
    assert len(cell) <= 80


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
