"""Freed memory is reused: counted in page faults, which do not depend on the clock."""

import platform
import resource
import subprocess
import sys

import pytest

from bertlab.training.fast import keep_freed_memory

pytestmark = pytest.mark.slow

COUNT_FAULTS = """
import resource, sys, torch
import bertlab.model
if sys.argv[1] == "kept":
    from bertlab.training.fast import keep_freed_memory
    keep_freed_memory()
for number in range(20):
    tensors = [torch.zeros(int(sys.argv[2])) for _ in range(4)]  # as activations come and go
    del tensors
    if number == 9:  # until its fourth turn the heap grows
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
GLIBC = platform.libc_ver()[0] == "glibc"


def faults(how, numbers):
    command = [sys.executable, "-c", COUNT_FAULTS, how, str(numbers)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(not GLIBC, reason="only glibc has this threshold")
def test_freed_memory_is_used_again_and_importing_the_model_alone_changes_nothing():
    """Tensors of 80 MB are given back; those of 8 MB glibc learns to keep by itself."""
    pages = 2**20 // resource.getpagesize()  # of a megabyte
    small, large = (faults("kept", megabytes * 2**20 // 4) for megabytes in (8, 80))
    assert small < 3 * 8 * pages  # of forty such tensors the heap may still grow by two
    assert large < 3 * 80 * pages
    assert large < faults("as it comes", 80 * 2**20 // 4) / 10


def test_it_says_whether_it_could_be_set(monkeypatch):
    assert keep_freed_memory() == GLIBC
    monkeypatch.setattr(platform, "libc_ver", lambda: ("", ""))
    assert keep_freed_memory() is False
