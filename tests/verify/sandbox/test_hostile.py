"""Hostile programs in an outer cage: each gets its verdict and has no effect."""

import os
from dataclasses import asdict, dataclass
from functools import cache

import pytest
from toys.hostile import cage, corpus
from toys.hostile.corpus import CATEGORIES, Program

CORPUS = corpus.corpus()
FAST = [name for name, program in CORPUS.items() if not program.slow]
ORDINARY = 65534


@dataclass(frozen=True)
class Place:
    """A place where the corpus runs, and the tier that must be found there."""

    asked: str
    found: str
    uid: int | None = None
    docker: bool = False


PLACES = {
    "namespaces": Place("namespaces", "namespaces"),
    "landlock": Place("landlock", "landlock"),
    "namespaces-ordinary-user": Place("auto", "namespaces", uid=ORDINARY),
    "landlock-ordinary-user": Place("landlock", "landlock", uid=ORDINARY),
    "docker": Place("auto", "landlock", docker=True),
}
IN_TIME, BRIEF = {"cpu": 2.0, "wall": 60.0}, {"cpu": 0.4, "wall": 2.0}
PARTS = {
    "sample": FAST[::3],  # every category is in it
    "cheats": [  # each is kept from what it wants by one layer, or by the two processes
        *("reads_a_secret_file", "asks_whose_processes_exist", "sees_a_name_outside", "writes_to_a_device"),
        *("socket_inet", "forks", "uses_the_keyring", "undoes_its_filter", "has_no_limits", "changes_rights"),
        *("has_the_capability_to_write", "looks_into_a_locked_folder", "yes_to_equality", "lie_of_an_int"),
        "own_memory_holds_the_answer",
    ],
    "fast": FAST,
    "slow": [name for name in CORPUS if name not in FAST],
}
# Without any layer each effect happens, which shows that the cage measures it.
UNPROTECTED = {
    "changes_a_file": "file changed",
    "connects_over_tcp": "network",
    "sends_over_udp": "network",
    "connects_to_a_socket_file": "network",
    "sends_through_a_pair_to_a_file": "network",
    "becomes_a_daemon": "left process",
    "kills_by_number": "victim harmed",
}


@pytest.fixture(scope="module")
def in_a_cage():
    """Skip, with the reason, if no outer cage can be made."""
    if reason := cage.why_no_cage():
        pytest.skip(reason)


needs_cage = pytest.mark.usefixtures("in_a_cage")
slow = pytest.mark.slow


@cache
def lines(place: Place, part: str) -> dict[str, dict]:
    """Return the cage's report on each program of a part by name; "" holds the tier and what was left."""
    if place.uid is not None and os.geteuid() != 0:
        pytest.skip("only root can become another user: this is an ordinary one already")
    order = {"tier": place.asked, "uid": place.uid, "docker": place.docker}
    order["limits"] = BRIEF if part == "slow" else IN_TIME
    return reported(order, [CORPUS[name] for name in PARTS[part]])


def reported(order: dict, programs: list[Program]) -> dict[str, dict]:
    wanted = {"do": "programs", "programs": [asdict(program) for program in programs], **order}
    reports = {"": {}}
    for line in cage.caged(wanted):
        if "name" in line:
            reports[line["name"]] = line
        elif "start" in line:
            reports[""]["last started"] = line["start"]
        else:
            reports[""] |= line
    return reports


def problems(program: Program, line: dict | None, tier: str = "") -> list[str]:
    """Return what is wrong with a verdict and its effects; [] for a program that went as it must."""
    if line is None:
        return ["the run ended before it"]
    wrong = list(line["effects"])
    if tier and program.tiers and tier not in program.tiers:
        return wrong
    if program.expect != "any" and line["accepted"] is not (program.expect == "pass"):
        wrong.append(f"{line['reason']}: {line['detail']}")
    if line["reason"] == "error":
        wrong.append(f"called a fault of ours: {line['detail']}")
    return wrong


def test_the_sample_has_every_category():
    assert {CORPUS[name].category for name in PARTS["sample"]} == set(CATEGORIES)


@needs_cage
@pytest.mark.parametrize("name", PARTS["sample"])
def test_a_program_gets_its_verdict_and_has_no_effect(name):
    reports = lines(PLACES["namespaces"], "sample")
    assert problems(CORPUS[name], reports.get(name), PLACES["namespaces"].found) == [], reports[""]


@needs_cage
@pytest.mark.parametrize(
    ("place", "part"),
    [
        ("landlock", "cheats"),
        *[pytest.param(place, "fast", marks=slow) for place in PLACES],
        *[pytest.param(place, "slow", marks=slow) for place in PLACES],
    ],
)
def test_all_of_a_part_get_their_verdicts_and_have_no_effect(place, part):
    place = PLACES[place]
    reports = lines(place, part)
    assert reports[""]["tier"] == place.found
    wrong = {name: problems(CORPUS[name], reports.get(name), place.found) for name in PARTS[part]}
    assert {name: what for name, what in wrong.items() if what} == {}
    assert reports[""]["closed"] == []
    assert reports[""]["end"]


@needs_cage
@slow
def test_the_cage_sees_each_effect_where_nothing_holds():
    order = {"tier": "none", "limits": IN_TIME}
    for name, effect in UNPROTECTED.items():
        reports = reported(order, [CORPUS[name]])
        seen = " ".join(problems(CORPUS[name], reports.get(name)))
        assert effect in seen or (effect == "victim harmed" and name not in reports), (name, reports)


@needs_cage
@pytest.mark.parametrize(("tier", "least"), [("namespaces", 8), pytest.param("landlock", 7, marks=slow)])
def test_a_killed_supervisor_leaves_no_process(tier, least):
    order = {"do": "orphans", "tier": tier, "count": least, "limits": {"cpu": 60.0, "wall": 60.0}}
    reports = cage.caged(order, seconds=600)
    assert reports[0]["left"] == []
    assert reports[0]["most"] >= least
