"""What is read back at once is not walked again and again by Python's collector; afterwards it works as before."""

import gc
from collections.abc import Iterator

import pytest

from apps.processes import garbage


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    yield
    gc.unfreeze()
    assert gc.isenabled()


def test_the_collector_works_again_when_it_is_let_go() -> None:
    with garbage.held() as let_go:
        assert not gc.isenabled()
        let_go()
        assert gc.isenabled()
        let_go()
    assert gc.isenabled()


def test_the_collector_works_again_where_what_held_it_failed() -> None:
    with pytest.raises(OSError, match="the disk"), garbage.held():
        raise OSError("the disk")
    assert gc.isenabled()


def test_the_collector_waits_for_the_last_of_two_that_hold_it() -> None:
    with garbage.held() as first, garbage.held() as second:
        first()
        first()
        assert not gc.isenabled()
        second()
        assert gc.isenabled()


def test_what_was_made_meanwhile_is_left_out_of_later_walks() -> None:
    with garbage.held():
        made = [[number] for number in range(1000)]
    assert gc.get_freeze_count() >= len(made)
