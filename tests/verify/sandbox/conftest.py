"""The sandbox of a test file, or the reason why none can be set up here."""

import pytest

from erce.verify.sandbox import Sandbox, SandboxUnavailable


@pytest.fixture(scope="module")
def sandbox():
    try:
        with Sandbox() as made:
            yield made
    except SandboxUnavailable as none:
        pytest.skip(str(none))  # a machine on which no tier can be set up runs no program at all
