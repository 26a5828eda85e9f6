"""Does every installed package have a wheel for the systems and Pythons of students?

`python -m tests.house.wheels_elsewhere` in an environment with the extra `course` and nothing else.
pip reports what it would download of the same versions for another system; a package without
a wheel would need a compiler there. What only another system needs (pywinpty, colorama, appnope)
is not installed here, so it is not checked.
"""

import re
import subprocess
import sys
from importlib.metadata import distributions
from tempfile import TemporaryDirectory

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
OLD_LINUX = ("manylinux_2_17", "manylinux2014", "manylinux_2_12", "manylinux2010", "manylinux_2_5")
LINUX = ("manylinux_2_28", "manylinux_2_27", "manylinux_2_24", *OLD_LINUX, "manylinux1", "linux")
SYSTEMS = {
    "Windows": ["win_amd64"],
    "macOS on ARM": ["macosx_14_0_arm64"],
    "Linux": [f"{tag}_x86_64" for tag in LINUX],
    "Linux on ARM": [f"{tag}_aarch64" for tag in LINUX],
}
NOT_ASKED = {"bertlab", "pip", "setuptools"}


def main() -> int:
    """Print a table; 1 if a wheel is missing somewhere."""
    pins = {one.name: one.version.split("+")[0] for one in distributions()}
    pins = [f"{name}=={pins[name]}" for name in sorted(pins) if name not in NOT_ASKED]
    print(f"Wheels of {len(pins)} packages elsewhere:", flush=True)
    failed = False
    for system, platforms in SYSTEMS.items():
        for python in PYTHONS:
            missing = without_wheel(pins, python, platforms)
            failed = failed or bool(missing)
            found = f"missing: {', '.join(missing)}" if missing else "all there"
            print(f"  {system:13} Python {python}  {found}", flush=True)
    if not failed:
        print(f"{len(pins)} packages have wheels for {len(SYSTEMS)} systems, {', '.join(PYTHONS)}")
    return int(failed)


def without_wheel(pins: list[str], python: str, platforms: list[str]) -> list[str]:
    """Those of the pinned packages that pip could not install there as a wheel."""
    left, missing = list(pins), []
    options = ["--dry-run", "--no-deps", "--only-binary=:all:", "--implementation=cp", "--quiet"]
    options += [f"--python-version={python}", *(f"--platform={name}" for name in platforms)]
    while True:
        with TemporaryDirectory() as target:
            pip = [sys.executable, "-m", "pip", "install", *options, "--target", target]
            done = subprocess.run([*pip, *left], capture_output=True, text=True)
        if not done.returncode:
            return missing
        named = re.search(r"No matching distribution found for (\S+)", done.stderr)
        if named is None or named[1] not in left:
            raise RuntimeError(done.stderr)
        left.remove(named[1])
        missing.append(named[1])


if __name__ == "__main__":
    sys.exit(main())
