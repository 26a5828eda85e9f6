"""How much work a function does, counted and not timed: growth that no busy machine can change."""

import sys

import numpy as np


def operations(function):
    """Each executed line of Python counts one; a C method, the length of its owner.

    The owner of a method is the string, list or array that it may have to traverse; appending
    counts one.
    """
    count = 0

    def count_line(frame, event, argument):
        nonlocal count
        count += event == "line"
        return count_line

    def count_method(frame, event, argument):
        nonlocal count
        if event == "c_call" and argument.__name__ != "append":
            owner = argument.__self__
            if isinstance(owner, np.ndarray):
                count += owner.size
            else:
                count += len(owner) if isinstance(owner, str | list) else 1

    before = sys.gettrace(), sys.getprofile()
    sys.settrace(count_line)
    sys.setprofile(count_method)
    try:
        function()
    finally:
        sys.settrace(before[0])
        sys.setprofile(before[1])
    return count
