"""What a room refuses: one line for each call and its message."""

import pytest


def rejected(message, call, *arguments, error=ValueError, **options):
    """Assert that a call raises an error with this message, a regular expression."""
    with pytest.raises(error, match=message):
        call(*arguments, **options)
