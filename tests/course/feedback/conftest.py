"""What the tests of checks share."""

import pytest

from course.feedback import checks


@pytest.fixture(autouse=True)
def fresh_session():
    """No check has failed or passed yet, and nothing is left behind."""
    checks.start_over()
    yield
    checks.start_over()
