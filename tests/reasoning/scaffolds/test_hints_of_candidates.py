"""Scaffolds that compare solutions: a hint is applied where a writer follows, not where only verifiers do."""

import pytest

from apps.reasoning.domain.control import Command
from apps.reasoning.scaffolds import self_check
from apps.reasoning.scaffolds.running.controls import ScriptedControls
from tests.reasoning.candidates import FAIL, PASS, named
from tests.reasoning.play import Played, play
from tests.reasoning.plays import Table

HINT = Command(id="c1", name="hint", by="alice", args={"text": "Reverse the sum."})
PARAMS = self_check.Params(accept=2, give_up=3, iterations=6)
# Control points of the run: solve, improve, check/1, correct/1, check/2, check/3.
CHECK_1, CHECK_2 = 2, 4


async def hinted(point: int) -> Played:
    table: Table = {"check/1": FAIL, "check/*": PASS, "*": named}
    return await play(table, PARAMS, scaffold="self_check", controls=ScriptedControls({point: [HINT]}))


async def test_a_hint_during_a_check_waits_for_the_correction() -> None:
    played = await hinted(CHECK_1)
    (applied,) = played.of("control.applied")
    assert applied.model_dump()["point"] == "correct/1"
    assert "Reverse the sum" in played.dispatcher.prompt("correct/1")


@pytest.mark.parametrize("point", [CHECK_2, CHECK_2 + 1])
async def test_a_hint_after_the_last_correction_is_never_applied(point: int) -> None:
    played = await hinted(point)
    assert played.outcome.accepted is True
    assert played.of("control.applied") == []
