"""A study's lock on file systems without flock, or with one that does not work."""

import errno
import fcntl
import os

import pytest
from filelock import SoftFileLock

from erce.errors import InputError, RunError
from erce.study.engines.locks import cell_lock, study_lock
from erce.study.folder import LOCKS


@pytest.fixture
def flock_fails(monkeypatch):
    """From the call on, flock fails with this error everywhere."""

    def fail(number: int) -> None:
        def flock(file, operation):
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(fcntl, "flock", flock)

    return fail


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP], ids=errno.errorcode.get)
@pytest.mark.parametrize("lock", [study_lock, lambda root: cell_lock(root, "toy")], ids=["study", "cell"])
def test_locks_that_do_not_work_are_a_sentence_with_the_path_and_the_way_out(
    tmp_path, flock_fails, lock, number
):
    flock_fails(number)
    with (
        pytest.raises(RunError, match=rf"{tmp_path}/.*\.lock cannot be locked \(.*\); .* --out"),
        lock(tmp_path),
    ):
        pass


def test_a_file_that_flock_has_left_blocks_nobody_without_flock(tmp_path, flock_fails):
    with study_lock(tmp_path):
        pass
    assert (tmp_path / LOCKS / "driver.lock").exists()
    flock_fails(errno.ENOSYS)
    for _ in range(2):
        with study_lock(tmp_path), cell_lock(tmp_path, "toy"):
            pass


def test_without_flock_a_second_driver_is_refused_and_told_which_file_to_delete(tmp_path, flock_fails):
    flock_fails(errno.ENOSYS)
    held = tmp_path / LOCKS / "driver.process"
    with (
        study_lock(tmp_path),
        pytest.raises(RunError, match=rf"{held} says that another erce"),
        study_lock(tmp_path),
    ):
        pass
    with SoftFileLock(held):
        held.write_text("1\nanother-host\n")
        with pytest.raises(RunError, match="delete the file if none is"), study_lock(tmp_path):
            pass
        held.unlink()
        with study_lock(tmp_path):
            pass


def test_with_flock_a_second_driver_is_refused(tmp_path):
    with (
        study_lock(tmp_path),
        pytest.raises(InputError, match="another erce is running"),
        study_lock(tmp_path),
    ):
        pass
