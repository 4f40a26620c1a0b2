"""What is asked of a policy: settings that sample nothing are refused where they are made."""

from dataclasses import replace

import pytest

from erce.errors import InputError
from erce.generate.decoding import GenerationSettings

SAMPLED = GenerationSettings(temperature=1.0, samples=3, max_new_tokens=14, batch_size=64)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"temperature": -1.0}, r"temperature = -1\.0"),
        ({"temperature": float("nan")}, "temperature = nan"),
        ({"samples": 0}, "samples = 0"),
        ({"max_new_tokens": 0}, "max_new_tokens = 0"),
        ({"batch_size": 0}, "batch_size = 0"),
        ({"temperature": 0.0, "samples": 2}, "samples = 2 at temperature 0"),
        ({"stop": "ab"}, "stop = 'ab' is one text"),
        ({"stop": ("",)}, "has ''"),
        ({"stop": ("a", "b\ufffd")}, "U\\+FFFD"),
    ],
    ids=str,
)
def test_settings_out_of_range_are_refused(changes, message):
    with pytest.raises(InputError, match=message):
        replace(SAMPLED, **changes)
