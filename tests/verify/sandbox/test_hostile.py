"""Hostile programs in an outer cage: each gets its verdict and has no effect, and each layer matters."""

import os
from collections import Counter
from dataclasses import asdict, dataclass
from functools import cache

import pytest
from toys.hostile import cage, corpus
from toys.hostile.corpus import CATEGORIES, EXPECTATIONS, Program

from erce.types import REASONS
from erce.verify.sandbox import Sandbox, SandboxUnavailable

CORPUS = corpus.corpus()
FAST = [name for name, program in CORPUS.items() if not program.slow]
EFFECTS = {  # what the cage measures; the rest of `must_not` is what a probe says of itself
    "disk",
    "file changed",
    "left process",
    "memory",
    "network",
    "processes",
    "supervisor harmed",
    "supervisor memory",
    "time",
    "victim harmed",
}
OF_PROBES = {"wrong pass", "secret read", "kernel reached", "state kept"}
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
IN_TIME = {"cpu": 2.0, "wall": 60.0}
LIMITS = {"sample": IN_TIME, "cheats": IN_TIME, "fast": IN_TIME, "slow": {"cpu": 0.4, "wall": 2.0}}

# (tier, layer): programs that are kept from what they want by this layer alone
LAYERS = {
    ("namespaces", "namespaces"): ["reads_a_secret_file", "asks_whose_processes_exist"],
    ("namespaces", "root"): ["sees_a_name_outside", "reads_the_accounts"],
    ("namespaces", "landlock"): ["writes_to_a_device"],
    ("namespaces", "seccomp"): ["socket_inet", "forks", "uses_the_keyring", "undoes_its_filter"],
    ("namespaces", "rlimits"): ["has_no_limits"],
    ("namespaces", "capabilities"): ["has_the_capability_to_write"],
    ("namespaces", "split"): ["yes_to_equality", "lie_of_an_int", "collector_holds_the_answer"],
    ("landlock", "landlock"): ["reads_a_secret_file", "lists_a_folder"],
    ("landlock", "seccomp"): ["socket_inet", "forks", "changes_rights"],
    ("landlock", "rlimits"): ["has_no_limits"],
    ("landlock", "capabilities"): ["looks_into_a_locked_folder"],
    ("landlock", "split"): ["yes_to_equality", "own_memory_holds_the_answer"],
}
PARTS = {
    "sample": FAST[::3],  # every category is in it
    "cheats": list(dict.fromkeys(name for names in LAYERS.values() for name in names)),
    "fast": FAST,
    "slow": [name for name in CORPUS if name not in FAST],
}
# Without any layer each effect happens, which shows that the cage measures it.
UNPROTECTED = {
    "writes_a_new_file": "file changed",
    "connects_over_tcp": "network",
    "sends_over_udp": "network",
    "connects_to_an_abstract_socket": "network",
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
    order = {"tier": place.asked, "uid": place.uid, "docker": place.docker, "limits": LIMITS[part]}
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
    if program.reason and line["reason"] != program.reason:
        wrong.append(f"{line['reason']}, not {program.reason}: {line['detail']}")
    if line["reason"] == "error" and program.reason != "error":
        wrong.append(f"called a fault of ours: {line['detail']}")
    return wrong


def test_the_sample_has_every_category():
    assert {CORPUS[name].category for name in PARTS["sample"]} == {CORPUS[name].category for name in FAST}


@needs_cage
@pytest.mark.parametrize("name", PARTS["sample"])
def test_a_program_gets_its_verdict_and_has_no_effect(name):
    reports = lines(PLACES["namespaces"], "sample")
    assert problems(CORPUS[name], reports.get(name), PLACES["namespaces"].found) == [], reports[""]


@needs_cage
@slow
@pytest.mark.parametrize("place", ["namespaces", "landlock", "docker", "namespaces-ordinary-user"])
def test_the_whole_corpus_gets_its_verdicts_and_has_no_effect(place):
    assert_all(PLACES[place], "fast")


@needs_cage
@pytest.mark.parametrize("place", ["landlock", pytest.param("docker", marks=slow)])
def test_a_cheat_of_each_kind_fails_in_the_lesser_sandboxes(place):
    assert_all(PLACES[place], "cheats")


@needs_cage
@slow
@pytest.mark.parametrize("place", ["namespaces", "landlock", "namespaces-ordinary-user", "docker"])
def test_what_uses_up_a_limit_ends_there(place):
    assert_all(PLACES[place], "slow")


@needs_cage
@slow
def test_the_corpus_as_an_ordinary_user_with_landlock():
    assert_all(PLACES["landlock-ordinary-user"], "fast")


def assert_all(place: Place, part: str) -> None:
    reports = lines(place, part)
    assert reports[""]["tier"] == place.found
    wrong = {name: problems(CORPUS[name], reports.get(name), place.found) for name in PARTS[part]}
    assert {name: what for name, what in wrong.items() if what} == {}
    assert reports[""]["closed"] == []
    assert reports[""]["end"]


@needs_cage
@pytest.mark.parametrize(
    ("tier", "layer"),
    [pytest.param(*each, marks=slow) if each[0] == "landlock" else each for each in LAYERS],
    ids=lambda value: value,
)
def test_each_layer_is_missed(tier, layer):
    if (tier, layer) == ("landlock", "capabilities") and os.geteuid() != 0:
        pytest.skip("an ordinary user has no capabilities to lose")
    names = LAYERS[tier, layer]
    whole = lines(PLACES[tier], "cheats")
    assert [name for name in names if problems(CORPUS[name], whole.get(name))] == []
    order = {"tier": tier, "without": [layer], "limits": LIMITS["fast"]}
    missed = reported(order, [CORPUS[name] for name in names])
    assert [name for name in names if not problems(CORPUS[name], missed.get(name))] == []


@needs_cage
@slow
def test_the_cage_sees_each_effect_where_nothing_holds():
    order = {"tier": "none", "without": ["rlimits"], "limits": LIMITS["fast"]}
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


@needs_cage
@slow
@pytest.mark.parametrize("tier", ["namespaces", "landlock"])
def test_two_thousand_verdicts_leave_nothing(tier):
    quick = [asdict(CORPUS[name]) for name in FAST if name.startswith(("lie_", "yes_", "wrong_", "exit_by"))]
    order = {"do": "soak", "tier": tier, "count": 2000, "programs": quick, "limits": LIMITS["fast"]}
    before, after, _ = cage.caged(order)
    assert after["wrong"] == 0
    assert after["descriptors"] == before["descriptors"]
    assert after["processes"] == before["processes"]
    assert after["supervisor"] - before["supervisor"] < 2
    assert after["workers"] - before["workers"] < 8


@pytest.mark.slow
def test_lies_and_errors_get_their_verdicts_without_a_cage():
    programs = [
        program
        for program in CORPUS.values()
        if program.category in ("honest", "wrong") and not program.slow and not program.tiers
    ] + [program for program in CORPUS.values() if program.name.startswith(("lie_", "yes_"))]
    try:
        sandbox = Sandbox()
    except SandboxUnavailable as error:
        pytest.skip(str(error))
    with sandbox:
        for program in programs:
            verdict = sandbox.run(
                program.program,
                program.tests,
                setup=program.setup,
                entry_points=program.entry_points,
                mode=program.mode,
            )
            assert problems(program, {"effects": [], **asdict(verdict)}) == [], program.name


@pytest.mark.parametrize("category", CATEGORIES)
def test_the_corpus_has_enough_of_every_category(category):
    counted = Counter(program.category for program in CORPUS.values())
    assert counted.keys() == CATEGORIES.keys()
    assert counted[category] >= CATEGORIES[category]


@pytest.mark.parametrize("name", CORPUS)
def test_a_program_says_what_it_is_for(name):
    program = CORPUS[name]
    assert program.expect in EXPECTATIONS
    assert program.reason in ("", *REASONS)
    assert set(program.must_not) <= EFFECTS | OF_PROBES
    assert program.must_not or program.category in ("honest", "wrong")
    assert set(program.tiers) <= {"namespaces", "landlock"}
