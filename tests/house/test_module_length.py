"""Modules stay short enough to read."""

from tests.conftest import ROOT


def test_modules_stay_short_enough_to_read():
    def limit(path):
        # The catalogue and an assignment's checks are lists of facts, looked up, not read through.
        return 400 if path.endswith("catalogue.py") or "/feedback/ex" in path else 260

    lengths = {
        path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for house in ("bertlab", "course")
        for path in (ROOT / house).rglob("*.py")
    }
    assert len(lengths) > 200
    assert {path: length for path, length in lengths.items() if length > limit(path)} == {}
