"""The sandbox of a test file, or the reason why none can be set up here."""

import pytest

from erce.verify.sandbox import Limits, Sandbox, SandboxUnavailable

PATIENT = Limits(cpu=2.0, wall=60.0)


@pytest.fixture(scope="module")
def sandbox():
    try:
        with Sandbox() as made:
            yield made
    except SandboxUnavailable as none:
        pytest.skip(str(none))


@pytest.fixture
def ruled(sandbox):
    """Return a function that judges a program and returns reason and detail."""

    def reason_and_detail(program, *tests, **options):
        verdict = sandbox.run(program, tests, limits=PATIENT, **options)
        assert verdict.accepted == (verdict.reason == "passed")
        return verdict.reason, verdict.detail

    return reason_and_detail
