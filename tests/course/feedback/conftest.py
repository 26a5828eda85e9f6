"""Fixtures for the tests of checks."""

import pytest

from course.feedback import checks


@pytest.fixture(autouse=True)
def fresh_session():
    """No check has failed or passed before, and the state is reset afterwards."""
    checks.start_over()
    yield
    checks.start_over()
