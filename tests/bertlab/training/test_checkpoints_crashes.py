"""Checkpoints with a full disk, a power failure, or a killed training (really: test_resume.py)."""

import errno
import os
import shutil
import warnings
from contextlib import contextmanager

import pytest

from bertlab.training.checkpoints import CheckpointError
from tests.bertlab.training import test_checkpoints

pytestmark = pytest.mark.slow

DISK = ("mkdir", "open", "fsync", "chmod", "replace", "unlink", "scandir")


class Killed(BaseException):
    """Nobody catches this."""


class Disk:
    """Executes operations until a certain one, which fails.

    kill: so do all after it, as for a program that is no longer there; otherwise the disk is full
    for one moment.
    """

    def __init__(self, fails_at, kill):
        self.fails_at, self.kill = fails_at, kill
        self.log = []

    def operation(self, name):
        self.log.append(name)
        late = len(self.log) - 1 - self.fails_at
        if self.kill and late >= 0:
            raise Killed
        if late == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def wrap(self, name):
        real = getattr(os, name)

        def function(*arguments, **options):
            self.operation(name)
            return real(*arguments, **options)

        return function

    def fdopen(self, *arguments, real=os.fdopen):
        disk, file = self, real(*arguments, buffering=0)

        class File:
            fileno, __enter__ = file.fileno, lambda self: self

            def flush(self):
                disk.operation("flush")

            def write(self, content):
                disk.operation("write nothing")
                file.write(content[: len(content) // 2])
                disk.operation("write half")
                file.write(content[len(content) // 2 :])

            def __exit__(self, *_):
                file.close()

        return File()

    @contextmanager
    def in_use(self):
        with pytest.MonkeyPatch.context() as patch:
            for name in DISK:
                patch.setattr(os, name, self.wrap(name))
            patch.setattr(os, "fdopen", self.fdopen)
            yield


@pytest.fixture
def start(tmp_path):
    """`start(name)`: a new folder with checkpoints 1 and 2, and what a killed training left."""
    first = tmp_path / "start"
    test_checkpoints.save(first, 1), test_checkpoints.save(first, 2)
    left = test_checkpoints.file_of(first, 1)
    shutil.copy(left, first / f".{left.name}.x1y2z3")

    def copy(name, newest_damaged=False):
        folder = shutil.copytree(first, tmp_path / str(name))
        if newest_damaged:
            test_checkpoints.flip(test_checkpoints.file_of(folder, 2))
        return folder

    return copy


def operations(folder, step):
    """How many there are in saving a checkpoint, and which."""
    disk = Disk(-1, kill=False)
    with disk.in_use():
        test_checkpoints.save(folder, step)
    return disk.log


@pytest.mark.parametrize("newest_damaged", [False, True])
def test_a_crash_at_any_moment_leaves_a_checkpoint_to_resume_from(start, newest_damaged):
    # After a damaged checkpoint 2 the training has gone on from 1 and comes to 2 once more.
    step = 2 if newest_damaged else 3
    log = operations(start("all", newest_damaged), step)
    assert len(log) > 12
    outcomes = []
    for n in range(len(log)):
        folder = start(n, newest_damaged)
        with Disk(n, kill=True).in_use(), pytest.raises(Killed):
            test_checkpoints.save(folder, step)
        with warnings.catch_warnings(record=not newest_damaged) as caught:
            warnings.simplefilter("ignore" if newest_damaged else "always")
            found = test_checkpoints.load(folder)
        assert not caught
        outcomes.append(found)
        test_checkpoints.save(folder, 4, most=1)
        assert test_checkpoints.steps_in(folder) == [4]
    renamed = outcomes.index(step)
    assert log[renamed - 1] == "replace"
    assert set(outcomes[:renamed]) == {step - 1}  # the one before, or the new one from then on
    assert set(outcomes[renamed:]) == {step}


def test_a_disk_that_is_full_at_any_moment_loses_nothing(start):
    log = operations(start("all"), 3)
    renamed = log.index("replace")
    # From the new file on; before it the folder is found to be there, and old things go.
    for n in range(log.index("open"), renamed + 3):
        folder = start(n)
        with Disk(n, kill=False).in_use(), pytest.raises(CheckpointError) as error:
            test_checkpoints.save(folder, 3)
        text = str(error.value)
        assert str(folder / "step-00000003-") in text
        assert "could not be written (No space left on device)" in text
        assert "earlier checkpoints are as they were" in text
        assert test_checkpoints.steps_in(folder) == ([1, 2] if n <= renamed else [1, 2, 3])
        assert test_checkpoints.load_without_warnings(folder) == (2 if n <= renamed else 3)


def test_everything_is_on_the_disk_before_it_has_its_name(start):
    log = operations(start("all"), 3)
    log = log[log.index("open") : log.index("replace") + 3]
    file = ["open", "write nothing", "write half", "flush", "fsync", "chmod"]
    assert log == [*file, "replace", "open", "fsync"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no limits for files")
def test_a_real_limit_to_the_size_of_files_loses_nothing(tmp_path):
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = test_checkpoints.save(tmp_path, 1).stat().st_size
    for limit in range(0, size, 50):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
        try:
            with pytest.raises(CheckpointError, match=r"could not be written \(File too large\)"):
                test_checkpoints.save(tmp_path, 2)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert test_checkpoints.steps_in(tmp_path) == [1]
        assert test_checkpoints.load_without_warnings(tmp_path) == 1
    test_checkpoints.save(tmp_path, 2)
