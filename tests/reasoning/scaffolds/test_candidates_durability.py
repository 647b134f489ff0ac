"""Whatever interrupts a scaffold, and in whatever order calls end, it ends alike; estimates are kept."""

from collections import Counter
from typing import Any

import pytest

from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds import deepseek_math, self_check, solver_verifier_corrector
from apps.reasoning.scaffolds.running.hearing import AGAIN
from apps.reasoning.scaffolds.spec import Budget
from tests.reasoning.candidates import FAIL, PASS, named, score
from tests.reasoning.play import Played, play
from tests.reasoning.plays import Course, Table, plays_of

PLAYS = {name: plays_of(name) for name in SCAFFOLDS}
METHODS = sorted(PLAYS)
SILENT: Table = {"*": "I like turtles."}


async def _played(method: str, course: Course, **more: Any) -> Played:
    params, table = course
    return await play(table, params, scaffold=method, problem=PLAYS[method].problem, **more)


def _calls(run: Played) -> int:
    """Model calls; those of tools are in no budget and no estimate, and what is asked once more comes on top of it."""
    return len(_requests(run))


def _requests(run: Played) -> list[GenerationRequest]:
    return [one for one in run.dispatcher.requests if one.job == "generate" and not one.key.endswith(f"/{AGAIN}")]


@pytest.mark.parametrize("method", METHODS)
async def test_resumed_at_every_call_it_ends_as_the_uninterrupted_one(method: str) -> None:
    course = PLAYS[method].course
    whole = await _played(method, course)
    assert whole.outcome.proof
    for cut in range(len(whole.journal.records) + 1):
        again = await _played(method, course, journal=whole.journal.cut(cut))
        assert again.outcome == whole.outcome
        assert again.events == whole.events, cut
        assert len(again.dispatcher.requests) == len(whole.journal.records) - cut


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(6))
async def test_the_order_in_which_calls_end_changes_nothing(method: str, seed: int) -> None:
    course = PLAYS[method].course
    whole = await _played(method, course)
    shuffled = await _played(method, course, shuffle=seed)
    assert shuffled.events == whole.events
    assert shuffled.outcome == whole.outcome


@pytest.mark.parametrize("method", METHODS)
async def test_the_calls_made_lie_within_the_estimate(method: str) -> None:
    params, table = PLAYS[method].course
    estimate = SCAFFOLDS[method].estimate(params)
    made = _calls(await _played(method, (params, table)))
    assert estimate.calls_min <= made <= estimate.calls_max
    silent = _calls(await _played(method, (params, SILENT)))
    assert estimate.calls_min <= silent <= estimate.calls_max
    assert estimate.calls_min <= estimate.calls_expected <= estimate.calls_max
    assert {role.role for role in estimate.roles} == {role.name for role in SCAFFOLDS[method].roles}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("table", ["a course", "nothing readable", "the most"])
async def test_the_calls_of_every_role_lie_within_its_estimate(method: str, table: str) -> None:
    plays = PLAYS[method]
    courses: dict[str, Course] = {
        "a course": plays.course,
        "nothing readable": (plays.course[0], SILENT),
        "the most": plays.most,
    }
    params, answers = courses[table]
    run = await _played(method, (params, answers))
    made = Counter(request.role for request in _requests(run))
    for role in SCAFFOLDS[method].estimate(params).roles:
        assert role.calls_min <= made[role.role] <= role.calls_max, role.role
        assert role.calls_min <= role.calls_expected <= role.calls_max, role.role


@pytest.mark.parametrize("corrections", [0, 2])
async def test_where_no_correction_can_be_read_the_first_roles_do_all_of_it(corrections: int) -> None:
    params = solver_verifier_corrector.Params(accept=2, corrections=corrections)
    table: Table = {"check/[2468]": FAIL, "check/*": PASS, "correct/*": "nothing", "*": named}
    run = await play(table, params, scaffold="solver_verifier_corrector")
    made = Counter(request.role for request in _requests(run))
    most = {role.role: role.calls_max for role in SCAFFOLDS["solver_verifier_corrector"].estimate(params).roles}
    assert (made["verifier_1"], made["corrector_1"]) == (most["verifier_1"], most["corrector_1"])
    assert made["verifier_2"] == made["corrector_2"] == 0


async def test_unread_checks_between_failures_bring_as_many_corrections_as_are_estimated() -> None:
    params = self_check.Params(accept=1, give_up=3, iterations=9)
    table: Table = {"check/[36]": "Hm.", "check/*": FAIL, "*": named}
    run = await play(table, params, scaffold="self_check")
    corrections = sum(request.role == "corrector" for request in run.dispatcher.requests)
    most = {role.role: role.calls_max for role in SCAFFOLDS["self_check"].estimate(params).roles}
    assert corrections == most["corrector"] == 6


async def test_one_readable_proof_of_many_that_is_accepted_is_the_shortest_course_of_deepseek_math() -> None:
    params = deepseek_math.Params(proofs=5, examinations=3, rounds=4)
    table: Table = {"round/1/2": named, "round/*": "nothing", "examine/*": score(1)}
    made = _calls(await play(table, params, scaffold="deepseek_math"))
    assert made == SCAFFOLDS["deepseek_math"].estimate(params).calls_min == 8


@pytest.mark.parametrize("method", METHODS)
async def test_the_most_that_is_estimated_can_happen(method: str) -> None:
    params, table = PLAYS[method].most
    made = _calls(await _played(method, (params, table)))
    assert made == SCAFFOLDS[method].estimate(params).calls_max


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("calls", [1, 2, 4, 7])
async def test_a_budget_that_ends_it_leaves_what_is_there(method: str, calls: int) -> None:
    course = PLAYS[method].course
    run = await _played(method, course, budget=Budget(calls=calls))
    assert _calls(run) <= calls
    whole = await _played(method, course)
    if _calls(whole) > calls:
        assert run.outcome.ended_by in {"budget", "accepted"}
        assert run.outcome.proof or "was written by then" in run.outcome.reason


@pytest.mark.parametrize("method", METHODS)
async def test_a_model_that_follows_no_format_ends_honestly(method: str) -> None:
    run = await _played(method, (PLAYS[method].course[0], SILENT))
    assert run.outcome.accepted is None
    assert run.outcome.ended_by == "nothing-readable"
    assert run.of("output.unread")
    assert not run.of("proof.drafted")
