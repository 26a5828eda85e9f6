"""Freed memory stays at hand: counted in page faults, which do not depend on the clock."""

import platform
import subprocess
import sys

import pytest

COUNT_FAULTS = """
import resource, sys, torch
if sys.argv[1] == "kept":
    from bertlab.model.memory import keep_freed_memory
for _ in range(21):
    tensors = [torch.zeros(2**21) for _ in range(4)]  # 4 times 8 MB, as activations come and go
    del tensors
    if _ == 0:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(how):
    command = [sys.executable, "-c", COUNT_FAULTS, how]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has this threshold")
def test_with_the_model_imported_freed_memory_is_used_again():
    assert faults("kept") < faults("as it comes") / 10
