"""The time limit of a claim holds even if the first alarm is swallowed."""

import signal
from contextlib import suppress

import pytest

from apps.mathcheck.testing.alarm import TookTooLong, within


def spin(times: int) -> int:
    return sum(number * number for number in range(times))


def test_work_that_is_over_in_time_is_not_disturbed() -> None:
    with within(5):
        assert spin(10) == 285
    assert spin(1_000_000) > 0


def swallowed_once() -> None:
    with within(0.05):
        with suppress(TookTooLong):
            while True:
                spin(10_000)
        while True:
            spin(10_000)


def test_a_caught_alarm_is_raised_again() -> None:
    with pytest.raises(TookTooLong):
        swallowed_once()


def test_an_alarm_that_rings_at_the_very_end_leaves_no_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    set_timer = signal.setitimer

    def late(kind: int, seconds: float, again: float = 0) -> tuple[float, float]:
        if not seconds:
            signal.raise_signal(signal.SIGPROF)
        return set_timer(kind, seconds, again)

    before = signal.getsignal(signal.SIGPROF)
    with monkeypatch.context() as patched:
        patched.setattr(signal, "setitimer", late)
        with within(5):
            spin(10)
    assert signal.getitimer(signal.ITIMER_PROF) == (0, 0)
    assert signal.getsignal(signal.SIGPROF) == before
