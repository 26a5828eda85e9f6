"""The environment check of lecture 00 reports what is missing, and never fails itself."""

import os
import subprocess
import sys
from importlib import metadata

import pytest

from course.feedback import environment as check


@pytest.fixture
def requires(monkeypatch):
    """Let the distribution require what a test says."""

    def set_requirements(*lines):
        monkeypatch.setattr(metadata, "requires", lambda _: list(lines))

    return set_requirements


def test_every_package_is_found_in_this_environment():
    findings = {finding.name: finding.ok for finding in check.packages()}
    assert all(findings.values())
    assert {"torch", "jupyterlab", "bertviz"} <= set(findings)
    assert "pytest" not in findings, "the tests' tools are not asked of a student"
    names = [finding.name for finding in check.environment().findings]
    assert len(names) == len(set(names)), "one that both distributions require is named once"


def test_missing_packages_and_old_versions_are_reported_with_what_to_do(requires):
    requires("no-such-package-anywhere>=1")
    report = check.Report(tuple(check.packages()))
    assert not report.ok
    assert "✗ no-such-package-anywhere: not installed" in str(report)
    assert "pip install -c constraints.txt" in str(report)
    requires("torch>=999")
    (finding,) = check.packages()
    assert not finding.ok
    assert finding.found.endswith("needed >=999")


def test_an_old_python_and_missing_corpora_are_reported_with_what_to_do(monkeypatch):
    monkeypatch.setattr(check.sys, "version_info", (3, 9, 1))
    assert not check.python_version().ok
    assert "install Python 3.11 or newer" in str(check.python_version())
    monkeypatch.setattr("bertlab.data.missing", lambda group: ["wikipedia"], raising=False)
    finding = check.corpora()
    assert not finding.ok
    assert "python -m bertlab.data fetch core" in str(finding)


def test_what_is_missing_is_printed_last():
    missing, there = check.Finding("b", False, "gone", "get it"), check.Finding("a", True, "here")
    told = "✓ a: here\n✗ b: gone\n  → get it\n\n1 missing: see the arrows."
    assert str(check.Report((missing, there))) == told


@pytest.mark.slow
def test_an_exercise_finds_its_checks_from_any_folder(tmp_path):
    elsewhere = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-c", "from course.feedback import ex01_bpe as check"]
    subprocess.run(command, cwd=tmp_path, env=elsewhere, check=True)
