"""Freed memory stays at hand: counted in page faults, which do not depend on the clock."""

import platform
import subprocess
import sys

import pytest

from bertlab.model.memory import keep_freed_memory

pytestmark = pytest.mark.slow

COUNT_FAULTS = """
import resource, sys, torch
if sys.argv[1] == "kept":
    from bertlab.model.memory import keep_freed_memory
for _ in range(21):
    tensors = [torch.zeros(int(sys.argv[2])) for _ in range(4)]  # as activations come and go
    del tensors
    if _ == 0:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
GLIBC = platform.libc_ver()[0] == "glibc"


def faults(how, numbers):
    command = [sys.executable, "-c", COUNT_FAULTS, how, str(numbers)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(not GLIBC, reason="only glibc has this threshold")
@pytest.mark.parametrize(("megabytes", "times_fewer"), [(8, 1), (80, 5)])
def test_with_the_model_imported_freed_memory_is_used_again(megabytes, times_fewer):
    numbers = megabytes * 2**20 // 4
    # Tensors of 8 MB glibc learns to keep by itself, after a few that it has given back; and the
    # kernel may take back once what lies unused. Nothing kept would be 20 times as many.
    assert faults("kept", numbers) < faults("as it comes", numbers) / times_fewer


def test_it_says_whether_it_could_be_set(monkeypatch):
    assert keep_freed_memory() == GLIBC
    monkeypatch.setattr(platform, "libc_ver", lambda: ("", ""))
    assert keep_freed_memory() is False
