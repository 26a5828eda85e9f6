"""One list of requirements, the same for pip and conda, with all that the code imports: the
tests' environment has every extra, so a missing line would not be noticed otherwise."""

import re
import sys
import tomllib
from importlib.metadata import packages_distributions

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT, read_page
from tests.house.clean_setups import WAYS
from tests.house.test_floors import imported

LIBRARY, COURSE = (
    tomllib.loads((ROOT / path).read_text())["project"]
    for path in ("pyproject.toml", "course/pyproject.toml")
)
PROJECTS = {project["name"]: project for project in (LIBRARY, COURSE)}
MAKEFILE = (ROOT / "Makefile").read_text()
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text())

# What a file may import; the longest prefix of its path counts.
EXTRAS = {
    "bertlab": "bertlab",
    "bertlab/data": "bertlab[data]",
    "bertlab/data/published.py": "bertlab[published]",
    "bertlab/interpretability": "bertlab[probes]",
    "bertlab/viz": "bertlab[viz]",
    "lectures": "bertlab-course",
    "exercises": "bertlab-course",
    "solutions": "bertlab-course[grading]",
    "course": "bertlab-course[grading]",
    "course/experiments": "bertlab-course",
    "course/models": "bertlab-course",
    "course/feedback": "bertlab-course",
    "course/widgets": "bertlab-course",
    "course/toyworld": "bertlab-course",
    "course/publishing/lectures.py": "bertlab-course",
    "course/publishing/notebooks.py": "bertlab-course",
    "course/publishing/book": "bertlab-course[book]",
    "course/jupyterhub": "bertlab-course[hub]",
    "benchmarks": "bertlab-course[peers,test]",
    "tests": "bertlab-course[test]",
}
# Optional imports: lecture 3 compares with gensim, the leaderboard hides its files; three
# peers are installed by hand, and tiktoken brings tiktoken_ext along.
OPTIONAL = {
    "lectures": {"gensim"},
    "course": {"gensim"},
    "benchmarks": {"d2l", "minbpe", "real-wordpiece", "tiktoken-ext"},
}
# Required, although nothing here imports it: what other packages import without requiring it,
# files that we read, programs that we start, plugins that other packages load by name.
NEVER_IMPORTED = {
    "cryptography": "distributed makes certificates with it (Security.temporary)",
    "bertviz": "its scripts, for the views of attention",
    "mpld3": "d3, for the same views",
    "xstatic-jquery": "jQuery, for the same views",
    "ipykernel": "the kernel of the notebooks",
    "jupyterlab": "a program",
    "psycopg": "SQLAlchemy's way to PostgreSQL",
    "jupyterhub-idle-culler": "a program, which the hub starts",
    "myst-nb": "an extension of Sphinx",
    "sphinx-book-theme": "an extension of Sphinx",
    "sphinx-revealjs": "an extension of Sphinx",
    "sphinx-mathjax-offline": "an extension of Sphinx",
    "ruff": "a program",
    "mypy": "a program",
    "mwparserfromhell": "a reference of the tests, where it is",
    "pandas": "its columns and tables in the tests, where it is",
}


def expand(asked):
    """The packages that a line such as "bertlab-course[test]" installs, without ours."""
    asked = Requirement(asked)
    project = PROJECTS[asked.name]
    lines = list(project["dependencies"])
    for extra in sorted(asked.extras):
        lines += project["optional-dependencies"][extra]
    found = []
    for line in lines:
        inner = expand(line) if Requirement(line).name in PROJECTS else [line]
        found += [line for line in inner if line not in found]
    return found


def pip_section():
    (section,) = (entry["pip"] for entry in CONDA["dependencies"] if isinstance(entry, dict))
    return section


def pins():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def test_conda_installs_what_pip_installs_and_only_python_and_pip_itself():
    section = pip_section()
    assert section[0] == "-c constraints.txt"
    assert section[1].split()[0] == "--extra-index-url"
    assert section[-2:] == ["-e .", "-e ./course"]
    assert sorted(section[2:-2]) == sorted(expand("bertlab-course"))
    own = [entry for entry in CONDA["dependencies"] if isinstance(entry, str)]
    assert LIBRARY["requires-python"] == COURSE["requires-python"] == ">=3.11"
    assert own == ["python=3.11", "pip"]


def test_no_folder_hides_the_environment_file_from_binder():
    """And `python=3.11` above: repo2docker reads no other form, and would take Python 3.10."""
    assert [name for name in ("binder", ".binder") if (ROOT / name).exists()] == []


def test_every_requirement_is_pinned_exactly_to_a_version_that_fits():
    pinned = {canonicalize_name(key): version for key, version in pins().items()}
    for line in expand("bertlab-course[test,peers]"):
        requirement = Requirement(line)
        version = pinned[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), f"{line} is pinned to {version}"
    assert pins()["torch"] == "2.13.0"
    assert all(version and "+" not in version and "*" not in version for version in pins().values())


def sources(path):
    """The code of a module, or of each code cell of a notebook without its commands."""
    if path.suffix == ".py":
        return [path.read_text(encoding="utf-8")]
    lines = (cell.source.splitlines() for cell in read_page(path).code)
    return ["\n".join(line for line in cell if not line.startswith(("%", "!"))) for cell in lines]


@pytest.fixture(scope="module")
def imports_by_room():
    """For each key of EXTRAS the distributions that its files import, wherever in them."""
    known = packages_distributions()
    found = {room: set() for room in EXTRAS}
    folders = sorted({room.split("/")[0] for room in EXTRAS})
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.*")]
    for path in files:
        if path.suffix not in (".py", ".ipynb"):
            continue
        place = str(path.relative_to(ROOT))
        room = max((room for room in EXTRAS if place.startswith(room)), key=len)
        names = {name.split(".")[0] for source in sources(path) for name in imported(source)}
        for name in names - sys.stdlib_module_names:
            ours = (ROOT / name).is_dir() or path.with_name(f"{name}.py").is_file()
            if not ours:
                found[room] |= {canonicalize_name(one) for one in known.get(name, [name])[:1]}
    return found


@pytest.mark.slow
def test_what_a_room_imports_is_required_by_its_extra(imports_by_room):
    missing = {}
    for room, imports in imports_by_room.items():
        asked = {canonicalize_name(Requirement(line).name) for line in expand(EXTRAS[room])}
        if too_much := imports - asked - OPTIONAL.get(room, set()):
            missing[room] = too_much
    assert missing == {}


@pytest.mark.slow
def test_what_is_required_is_imported_or_has_a_reason(imports_by_room):
    lines = expand("bertlab-course[test,peers]")
    asked = {canonicalize_name(Requirement(line).name) for line in lines}
    assert asked - set().union(*imports_by_room.values()) == set(NEVER_IMPORTED)
    assert "cryptography" in expand("bertlab-course[grading]")


def test_every_extra_that_a_guide_installs_is_tried_in_a_clean_environment():
    guides = ["README.md", "course/README.md", "course/jupyterhub/README.md"]
    tried = " ".join([*WAYS.values(), MAKEFILE])
    named, known = (
        set(re.findall(r"\./course(?:\[\w+\])?", text))
        for text in (" ".join((ROOT / guide).read_text() for guide in guides), tried)
    )
    extras = ("", "[book]", "[grading]", "[hub]", "[test]")
    assert known == {f"./course{extra}" for extra in extras}
    assert named <= known


def test_every_setup_command_has_its_way():
    stamps = re.findall(r"^(\w+): \$\((?:COURSE|GRADING|BOOK|TEST)\).*##", MAKEFILE, re.MULTILINE)
    tried = " ".join(WAYS)
    missing = {target for target in stamps if f"make {target}" not in tried}
    # These use the environments of `lab` and `test`.
    assert missing == {"check", "quick", "lectures", "launch", "exercises", "format"}


def test_the_citation_and_the_course_are_of_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (citation["version"], citation["license"]) == (LIBRARY["version"], LIBRARY["license"])
    assert COURSE["version"] == LIBRARY["version"]
