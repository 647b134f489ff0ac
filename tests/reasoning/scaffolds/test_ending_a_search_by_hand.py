"""Where a person asks for the end of a search of candidates, no further call is made."""

from typing import Any

import pytest

from apps.reasoning.domain.control import Command
from apps.reasoning.domain.values import Value
from apps.reasoning.scaffolds import nomos, reasoning_cache, rsa, self_check, solver_verifier_corrector
from apps.reasoning.scaffolds.running.controls import NoControls, ScriptedControls
from tests.reasoning.candidates import FAIL, PASS, better, named, score
from tests.reasoning.play import play

END = Command(id="c1", name="write_up", by="alice")
TABLE: dict[str, Any] = {
    "mark/*": score(5),
    "consolidate": '<group number="1">1, 2, 3, 4</group><likeliest>1</likeliest>',
    "final/*/1": better("A"),
    "final/*/2": better("B"),
    "check/1": FAIL,
    "check/*": PASS,
    "turn/*/summarise": "<state>We know $x$.</state>",
    "*": named,
}
NOMOS = nomos.Params(solutions=4, kept=4)
RSA = rsa.Params(population=4, subset=2, steps=1)
POINTS = {
    "nomos": ("solve", "marked", "grouped", "final/1", "final/2"),
    "rsa": ("step/0", "step/1", "final/1", "final/2"),
    "self_check": ("solve", "improve", "check/1", "correct/1"),
    "solver_verifier_corrector": ("solve", "check/1", "correct/1"),
    "reasoning_cache": ("turn/1", "turn/1/summarise"),
}
CHECK, SVC, CACHE = self_check.Params(), solver_verifier_corrector.Params(), reasoning_cache.Params()


@pytest.mark.parametrize(
    ("method", "params", "point", "calls", "reason"),
    [
        ("nomos", NOMOS, "solve", 0, "ended before a solution was written"),
        ("nomos", NOMOS, "marked", 8, "c1.1 is the best of 4 solutions so far: marked 5 of 7"),
        ("nomos", NOMOS, "grouped", 9, "the best of the group held most likely right (4 of 4 solutions)"),
        ("nomos", NOMOS, "final/1", 9, "the best of the group held most likely right (4 of 4 solutions)"),
        ("nomos", NOMOS, "final/2", 13, "the best of 2 solutions that the knock-out in the group held most likely right"),
        ("rsa", RSA, "step/0", 0, "ended before a solution was written"),
        ("rsa", RSA, "step/1", 4, "c1.1 is the first solution of the newest step; no pair was compared."),
        ("rsa", RSA, "final/1", 8, "c2.1 is the first solution of the newest step; no pair was compared."),
        ("rsa", RSA, "final/2", 12, "is one of 2 solutions that the knock-out among 4 had left"),
        ("self_check", CHECK, "solve", 0, "ended before a solution was written"),
        ("self_check", CHECK, "improve", 1, "No check of it was made."),
        ("self_check", CHECK, "check/1", 2, "No check of it was made."),
        ("self_check", CHECK, "correct/1", 3, "no check passed"),
        ("solver_verifier_corrector", SVC, "solve", 0, "ended before a solution was written"),
        ("solver_verifier_corrector", SVC, "correct/1", 2, "no check passed"),
        ("reasoning_cache", CACHE, "turn/1/summarise", 1, "The solution of turn 1"),
    ],
)
async def test_write_up_ends_it_at_the_next_point(method: str, params: Value, point: str, calls: int, reason: str) -> None:
    controls = ScriptedControls({POINTS[method].index(point): [END]})
    run = await play(TABLE, params, scaffold=method, controls=controls)
    assert run.events["control/c1/applied"].model_dump()["point"] == point
    assert len(run.dispatcher.requests) == calls
    assert reason in run.outcome.reason
    assert run.outcome.ended_by == "written-up"
    assert run.outcome.accepted in (None, False)
    again = await play(TABLE, params, scaffold=method, controls=NoControls(), journal=run.journal.cut(len(run.journal.records)))
    assert (again.outcome, again.events, again.dispatcher.requests) == (run.outcome, run.events, [])
