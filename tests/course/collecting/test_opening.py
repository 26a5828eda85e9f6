"""What a student handed in is opened in a process that may die."""

import json
import os
import signal
import time

import pytest

from course.collecting import opening
from course.collecting.opening import Refused, opened


def double(content):
    return 2 * content


def raises(kind):
    raise kind("what a student wrote")


def dies(number):
    os.kill(os.getpid(), number)


def spins():
    while True:
        pass


def sleeps():
    time.sleep(1_000)


def grows(megabytes):
    return len(bytearray(megabytes * 2**20))


def long(megabytes):
    return bytes(megabytes * 2**20)


def again(*arguments):
    return [opened(*arguments, seconds=1) for _ in range(2)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "limits", "reason"),
    [
        ((raises, Refused), {}, "^what a student wrote$"),
        ((raises, ZeroDivisionError), {}, r"^it cannot be read \(ZeroDivisionError\)$"),
        ((raises, RecursionError), {}, r"\(RecursionError\)$"),
        ((json.loads, "[" * 100_000), {}, r"\(RecursionError\)$"),
        ((dies, signal.SIGKILL), {}, "^it cannot be read within 10 s and 1,000 MB of memory$"),
        ((dies, signal.SIGSEGV), {}, "cannot be read within"),
        ((spins,), {"seconds": 0.5}, "^it cannot be read within 0.5 s"),
        ((grows, 200), {"megabytes": 100}, "too much memory|cannot be read within"),
        ((long, 3), {"most_mb": 2}, "^it becomes more than 2 MB when it is read$"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_whatever_goes_wrong_is_one_sentence_and_the_next_call_works(call, limits, reason):
    with pytest.raises(Refused, match=reason):
        opened(*call, **limits)
    assert opened(double, b"x") == b"xx"


@pytest.mark.slow
def test_a_call_that_waits_for_ever_ends(monkeypatch):
    monkeypatch.setattr(opening, "PATIENCE", (1, 0))
    with pytest.raises(Refused, match="within 1 s"):
        opened(sleeps, seconds=1)


def test_within_its_limits_a_call_may_take_memory():
    assert opened(grows, 100, megabytes=200) == 100 * 2**20
    assert len(opened(long, 1, most_mb=2)) == 2**20
    assert opened(double, "\ud800") == "\ud800\ud800"


@pytest.mark.slow
def test_calls_may_be_nested_and_the_inner_one_has_its_own_limits():
    assert opened(again, double, 2, seconds=0.5, megabytes=100) == [4, 4]
    with pytest.raises(Refused, match="within 1 s"):
        opened(again, spins)


def test_the_process_that_forks_is_replaced_when_it_was_killed():
    assert opened(double, 1) == 2
    opening._Opener.process.kill()
    opening._Opener.process.wait()
    assert opened(double, 1) == 2


def test_a_fork_of_this_process_uses_the_same_one():
    opened(double, 1)
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.write(writing, str(opened(double, 4)).encode())
        os._exit(0)
    os.wait()
    assert os.read(reading, 9) == b"8"
    assert opened(double, 1) == 2


def odd(number, what):
    if number == 23:
        raise Refused("odd")
    if number == 37:
        os.kill(os.getpid(), signal.SIGKILL)
    return number + what


def test_of_many_items_each_has_its_result_or_its_reason():
    found = list(opening.opened_each(odd, range(45), 1))
    reasons = {n: str(one) for n, one in enumerate(found) if isinstance(one, Refused)}
    assert (reasons.keys(), reasons[23]) == ({23, 37}, "odd")
    assert reasons[37].startswith("it cannot be read within")
    assert [one for n, one in enumerate(found) if n not in reasons] == [
        n + 1 for n in range(45) if n not in reasons
    ]


def test_without_fork_it_is_called_here(monkeypatch):
    monkeypatch.setattr(opening, "CAN_FORK", False)
    assert opened(double, 1) == 2
    with pytest.raises(Refused, match="ZeroDivisionError"):
        opened(raises, ZeroDivisionError)
