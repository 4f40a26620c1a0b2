"""A mark for tests of programs that import NumPy."""

import pytest

from erce.verify.sandbox.host import numpy_folder

NEEDS_NUMPY = pytest.mark.skipif(
    not numpy_folder(), reason="NumPy lies under /tmp, where programs have a folder of their own"
)
