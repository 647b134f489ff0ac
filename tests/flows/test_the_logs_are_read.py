"""The check that no finished call is generated again can fail: on a call that begins twice, and on logs it cannot read."""

from pathlib import Path

import pytest

from tests.flows.conftest import assert_nothing_finished_was_generated_again
from tests.flows.stack import Stack

BEGAN = "2026-01-01 10:00:0{},000 INFO    workers.worker: began run/s0/r1/reason#{}"
ANSWERED = "2026-01-01 10:00:0{},000 INFO    workers.results: answered run/s0/r1/reason#{}"


def stack_with(folder: Path, *lines: str) -> Stack:
    (folder / "inference.log").write_text("\n".join(lines))
    return Stack(folder)


def test_a_call_that_is_repeated_before_its_answer_is_no_fault(tmp_path: Path) -> None:
    lines = BEGAN.format(1, 1), BEGAN.format(2, 2), ANSWERED.format(3, 2)
    assert_nothing_finished_was_generated_again(stack_with(tmp_path, *lines))


def test_a_call_that_begins_after_its_answer_is_noticed(tmp_path: Path) -> None:
    lines = BEGAN.format(1, 1), ANSWERED.format(2, 1), BEGAN.format(3, 2)
    with pytest.raises(AssertionError, match="s0/r1/reason was generated again"):
        assert_nothing_finished_was_generated_again(stack_with(tmp_path, *lines))


@pytest.mark.parametrize("lines", [(), (BEGAN.format(1, 1),), (ANSWERED.format(1, 1),)])
def test_logs_that_tell_of_no_call_fail(tmp_path: Path, lines: tuple[str, ...]) -> None:
    with pytest.raises(AssertionError):
        assert_nothing_finished_was_generated_again(stack_with(tmp_path, *lines))
