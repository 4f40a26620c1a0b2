"""The doctor's findings are what was tried on this machine."""

import pytest

from erce.cli import examination
from erce.cli.examination import FURTHER_ATTEMPTS, examine
from erce.verify.sandbox import TIERS, pool
from erce.verify.sandbox.pool import ATTEMPTS


@pytest.mark.parametrize("tier", ["namespaces", pytest.param("landlock", marks=pytest.mark.slow)])
def test_every_attempt_fails_in_a_tier_that_isolates(tier):
    rows = examine(tier)
    if not {row.name: row.good for row in rows if row.kind == "tier"}[tier]:
        pytest.skip(f"no tier {tier} here")
    assert [row.name for row in rows if row.kind == "tier"] == list(TIERS)
    attempts = {row.name: row for row in rows if row.kind == "attempt"}
    assert list(attempts) == [*ATTEMPTS, *FURTHER_ATTEMPTS, "compute for ever"]
    assert [row for row in attempts.values() if not row.good] == []
    assert all(row.detail.startswith(("refused: ", "over 0.2 s")) for row in attempts.values())


def test_an_attempt_that_succeeds_is_shown():
    rows = {row.name: row for row in examine("seccomp") if row.kind == "attempt"}
    if not rows:
        pytest.skip("no tier seccomp here")
    assert not rows["read /etc/passwd"].good
    assert rows["read /etc/passwd"].detail.startswith("reached: ")


def test_without_protection_nothing_is_attempted():
    rows = examine("none")
    assert [row.name for row in rows if row.kind == "attempt"] == ["compute for ever"]


def test_where_no_tier_works_the_rows_say_why(monkeypatch):
    def refuse(tier):
        raise OSError(f"unshare: no {tier}")

    monkeypatch.setattr(examination, "working_worker", refuse)
    rows = examine()
    assert [(row.kind, row.good) for row in rows] == [("tier", False)] * 4
    assert rows[0].detail == "unshare: no namespaces"


def test_the_tier_of_the_environment_is_the_one_that_is_examined(monkeypatch):
    monkeypatch.setenv("ERCE_SANDBOX", "none")
    assert {row.name for row in examine() if row.kind == "chosen"} == {"none"}


def test_a_tier_in_which_an_attempt_succeeds_is_not_taken(monkeypatch):
    monkeypatch.setitem(ATTEMPTS, pool.READ, "return 'a secret'")
    with pytest.raises(OSError, match="a program tried to read /etc/passwd: reached: 'a secret'"):
        pool.working_worker("landlock")
