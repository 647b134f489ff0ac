"""The check that no finished call is generated again fails for a repeated call and for logs that it cannot read."""

from pathlib import Path

import pytest

from tests.flows.conftest import assert_nothing_finished_was_generated_again
from tests.flows.stack import Stack

STARTED = "2026-01-01 10:00:0{},000 INFO    workers.worker: started run/s0/r1/reason#{}"
ANSWERED = "2026-01-01 10:00:0{},000 INFO    workers.results: answered run/s0/r1/reason#{}"


def stack_with(folder: Path, *lines: str) -> Stack:
    (folder / "inference.log").write_text("\n".join(lines))
    return Stack(folder)


def test_a_call_repeated_before_its_answer_is_accepted(tmp_path: Path) -> None:
    lines = STARTED.format(1, 1), STARTED.format(2, 2), ANSWERED.format(3, 2)
    assert_nothing_finished_was_generated_again(stack_with(tmp_path, *lines))


def test_a_call_that_starts_after_its_answer_is_noticed(tmp_path: Path) -> None:
    lines = STARTED.format(1, 1), ANSWERED.format(2, 1), STARTED.format(3, 2)
    with pytest.raises(AssertionError, match="s0/r1/reason was generated again"):
        assert_nothing_finished_was_generated_again(stack_with(tmp_path, *lines))


@pytest.mark.parametrize("lines", [(), (STARTED.format(1, 1),), (ANSWERED.format(1, 1),)])
def test_logs_without_calls_fail(tmp_path: Path, lines: tuple[str, ...]) -> None:
    with pytest.raises(AssertionError):
        assert_nothing_finished_was_generated_again(stack_with(tmp_path, *lines))
