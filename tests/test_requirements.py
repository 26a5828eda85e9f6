"""One list of requirements, said the same way to pip and to conda."""

import tomllib

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text())


def expand(*extras):
    """The project's own requirements and those of extras, extras of extras included."""
    lines = list(PROJECT["dependencies"])
    for extra in extras:
        for line in PROJECT["optional-dependencies"][extra]:
            requirement = Requirement(line)
            inner = expand(*requirement.extras) if requirement.name == "bertlab" else [line]
            lines += [line for line in inner if line not in lines]
    return lines


def pip_section():
    (section,) = (entry["pip"] for entry in CONDA["dependencies"] if isinstance(entry, dict))
    return section


def pins():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def test_conda_installs_what_pip_installs_and_nothing_else():
    section = pip_section()
    assert section[0] == "-c constraints.txt"
    assert section[-1] == "-e ."
    assert sorted(section[1:-1]) == sorted(expand("course"))


def test_conda_itself_brings_only_python_and_pip():
    own = [entry for entry in CONDA["dependencies"] if isinstance(entry, str)]
    assert sorted(Requirement(entry).name for entry in own) == ["pip", "python"]
    (python,) = (Requirement(entry) for entry in own if entry.startswith("python"))
    assert str(python.specifier) == PROJECT["requires-python"]


def test_every_requirement_is_pinned_to_a_version_that_fits():
    pinned = {canonicalize_name(key): version for key, version in pins().items()}
    for line in expand("course", "book", "test", "bench", "peers"):
        requirement = Requirement(line)
        version = pinned[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), f"{line} is pinned to {version}"


def test_the_pins_are_exact_and_name_no_build():
    assert pins()["torch"] == "2.13.0"
    assert all(version and "+" not in version and "*" not in version for version in pins().values())
