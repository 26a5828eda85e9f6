"""How a row of `WRONG` and of `OTHER_WAYS` is written."""

from textwrap import dedent


def wrong(task, mistake, solution, diagnosis):
    """A plausible mistake, with words that must be in the message that it gets.

    A diagnosis of "" means that the worked examples let it through and the hidden tests must
    catch it.
    """
    return task, mistake, dedent(solution), diagnosis


def right(task, manner, solution):
    """A right solution that is not written as ours is."""
    return task, manner, dedent(solution)


def changed(solution, *changes):
    """A solution with some of its text replaced: pairs of old and new."""
    for old, new in changes:
        assert old in solution, old
        solution = solution.replace(old, new)
    return solution
