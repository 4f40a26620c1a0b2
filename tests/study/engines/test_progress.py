"""What a run says of its cells while they run and end: the lines, and the time that is left."""

import re

import pytest
from toys import engine_work
from toys.engine_work import CELLS as TOY_CELLS
from toys.engine_work import RECIPE

from erce.events import Event, listening
from erce.recipe import Cell
from erce.study.engines import Done, Work, open_engine
from erce.study.engines.progress import Display, Forecast, progress

CELLS = [Cell("toy", 1.0, seed) for seed in range(3)]
AMOUNTS = {"training": 10, "generation": 100, "verification": 100}


class Clock:
    def __init__(self):
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


def heard(forecast, clock, *events):
    """Let the forecast hear (seconds since the start, event)."""
    for seconds, event in events:
        clock.seconds = seconds
        forecast.hear(event)


def test_a_line_a_cell_says_how_many_are_done_and_a_failure_why_on_one_line(capsys):
    missing = {cell.name: {"generation": 2} for cell in CELLS}
    with progress(5, missing, messages=["λ = 1 leads"]) as display:
        display.ended(Done(CELLS[0], seconds=1.25), accuracy="14.5 % greedy", seconds={"generation": 1.0})
        display.ended(Done(CELLS[1], "RuntimeError: " + "no luck " * 30))
        display.ended(Done(CELLS[1], seconds=2.0), seconds={"generation": 1.0})
        display.ended(Done(CELLS[2], seconds=0.5))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "λ = 1 leads"
    passed = r"\d+ s so far"  # by the clock of a machine that may be busy
    assert re.match(f"done: toy-lam1-seed0 in 1.2 s, 14.5 % greedy, 3 of 5, {passed}, about ", lines[1])
    assert lines[2] == "failed: toy-lam1-seed1: RuntimeError: " + "no luck " * 30
    assert re.match(f"done: toy-lam1-seed1 in 2.0 s, 4 of 5, {passed}, about ", lines[3])
    assert re.fullmatch(f"done: toy-lam1-seed2 in 0.5 s, 5 of 5, {passed}", lines[4])


def test_what_runs_is_said_at_once_and_then_every_half_minute(capsys, clock):
    display = Display(2, Forecast({"a": AMOUNTS, "b": AMOUNTS}, clock))
    display.hear(Event("a", "loading the model"))
    said = [
        (10.0, 0, 0, None),
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
        "now: a: training, step 4 of 10, loss 0.612, 2 tokens/s, over 12 s left in this cell",
        "     over 32 s left in all: training 32 s, generation not known yet, verification not known yet",
        "now: a: training, step 6 of 10, loss 0.500, 2 tokens/s, over 28 s left in this cell",
        "     over 2 min left in all: training 2 min, generation not known yet, verification not known yet",
    ]


def test_the_base_models_cell_counts_as_what_it_is(clock):
    """It trains nothing, and its pace is taken for other cells only while they have none."""
    base = {"generation": 100, "verification": 100}
    forecast = Forecast({"base": base, "a": AMOUNTS, "b": AMOUNTS}, clock)
    heard(
        forecast, clock, (0, Event("base", "generation", 0, 100)), (50, Event("base", "generation", 50, 100))
    )
    assert forecast.left("base") == {"generation": 50.0, "verification": None}
    assert forecast.in_all() == {"training": None, "generation": 250.0, "verification": None}
    heard(
        forecast,
        clock,
        (100, Event("base", "verification", 0, 100)),
        (101, Event("base", "verification", 100, 100)),
    )
    forecast.end("base", {"generation": 999.0})
    heard(forecast, clock, (110, Event("a", "training", 0, 10)), (120, Event("a", "training", 5, 10)))
    assert forecast.in_all() == {"training": 10.0 + 20.0, "generation": 200.0, "verification": 2.0}
    heard(forecast, clock, (130, Event("a", "generation", 0, 100)), (140, Event("a", "generation", 100, 100)))
    assert forecast.in_all() == {"training": 20.0, "generation": 10.0, "verification": 2.0}


def test_what_is_begun_counts_towards_the_pace_and_not_as_done(capsys, clock):
    """Completions end together, at the end of a batch; until then their tokens tell how fast it goes."""
    display = Display(1, Forecast({"a": {"generation": 40}}, clock))
    display.hear(Event("a", "generation", 0, 40))
    clock.seconds = 30.0
    display.hear(Event("a", "generation", 1, 40, tokens=600, begun=9.0))
    assert capsys.readouterr().err.splitlines() == [
        "now: a: generation, 0 of 40 completions",
        "now: a: generation, 1 of 40 completions, 20 tokens/s, about 2 min left in this cell",
    ]
    assert display.forecast.left("a") == {"generation": 90.0}


def test_what_comes_before_the_first_token_is_not_counted_for_every_completion(clock):
    """A compiled step, say: half a minute, once."""
    forecast = Forecast({"a": {"generation": 1000}}, clock)
    begun = [(30.0, 1.0), (31.0, 11.0), (33.0, 31.0)]
    events = [(seconds, Event("a", "generation", 0, 1000, begun=share)) for seconds, share in begun]
    heard(forecast, clock, (0, Event("a", "generation", 0, 1000)), *events)
    assert forecast.left("a") == {"generation": pytest.approx(96.9)}


def test_a_resumed_cell_counts_as_what_is_left_of_it(clock):
    forecast = Forecast({"a": AMOUNTS | {"training": 0}}, clock)
    heard(forecast, clock, (0, Event("a", "generation", 60, 100)), (10, Event("a", "generation", 80, 100)))
    assert forecast.left("a") == {"generation": 10.0, "verification": None}


def test_cells_side_by_side_share_the_time(clock):
    forecast = Forecast({name: {"generation": 10} for name in "abcd"}, clock)
    for name in "ab":
        heard(forecast, clock, (0, Event(name, "generation", 0, 10)))
    for name in "ab":
        heard(forecast, clock, (3600, Event(name, "generation", 5, 10)))
    assert forecast.in_all() == {"generation": (2 * 5 + 2 * 10) * 720 / 2}


def test_cells_that_say_nothing_have_the_pace_of_their_files(clock):
    """On Ray a cell is heard of at its end; four of an hour each in one hour ran side by side."""
    forecast = Forecast({str(n): {"generation": 10} for n in range(6)}, clock)
    clock.seconds = 3600.0
    for n in range(4):
        forecast.end(str(n), {"generation": 3600.0, "verification": 0.0})
    assert forecast.in_all() == {"generation": 2 * 3600 / 4}


def test_a_failed_cell_is_still_to_run(clock):
    forecast = Forecast({"a": {"generation": 10}}, clock)
    heard(forecast, clock, (0, Event("a", "generation", 0, 10)), (10, Event("a", "generation", 5, 10)))
    forecast.end("a", {}, failed=True)
    assert forecast.in_all() == {"generation": 20.0}


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
