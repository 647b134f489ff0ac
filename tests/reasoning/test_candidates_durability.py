"""Whatever interrupts a scaffold of candidates, and in whatever order calls end, it ends alike; estimates are kept."""

from collections import Counter
from collections.abc import Callable, Mapping

import pytest

from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.domain.values import Value
from apps.reasoning.scaffolds import (
    deepseek_math,
    grouped_agents,
    nomos,
    reasoning_cache,
    rsa,
    self_check,
    solver_verifier_corrector,
)
from apps.reasoning.scaffolds.alpha_apollo.params import Params as ApolloParams
from apps.reasoning.scaffolds.hearing import AGAIN
from apps.reasoning.scaffolds.registry import SCAFFOLDS
from apps.reasoning.scaffolds.spec import Budget
from tests.reasoning import agents
from tests.reasoning.candidates import FAIL, PASS, better, named, score
from tests.reasoning.play import Answer, Played, play

Table = Mapping[str, Answer | Callable[[GenerationRequest], Answer]]
CASES: dict[str, tuple[Value, Table]] = {
    "reasoning_cache": (
        reasoning_cache.Params(turns=3),
        {"turn/2/solve": "nothing", "turn/*/solve": named, "turn/*/summarise": "<state>We know $x$.</state>"},
    ),
    "self_check": (
        self_check.Params(accept=2, iterations=6),
        {"check/1": FAIL, "check/3": FAIL, "check/*": PASS, "correct/2": "nothing", "*": named},
    ),
    "solver_verifier_corrector": (
        solver_verifier_corrector.Params(accept=2, corrections=3),
        {"check/1": FAIL, "check/2": "unread", "check/4": FAIL, "check/*": PASS, "*": named},
    ),
    "grouped_agents": (
        grouped_agents.Params(group=3),
        {
            "step/1/2": "nothing",
            "step/2/*/1": PASS,
            "step/2/*/2": "unread",
            "step/4/*/3": PASS,
            "step/[24]/*": FAIL,
            "step/3/1/2": "nothing",
            "*": named,
        },
    ),
    "nomos": (
        nomos.Params(solutions=5, kept=4),
        {
            "solve/2": "nothing",
            "solve/*": named,
            "mark/c1.3": score(7),
            "mark/*": score(4),
            "consolidate": '<group number="1">1, 2, 3, 4</group><likeliest>1</likeliest>',
            "final/*": better("A"),
        },
    ),
    "rsa": (
        rsa.Params(population=4, subset=2, steps=2),
        {"step/1/3": "nothing", "step/*": named, "final/*/1": better("A"), "final/*/2": better("B")},
    ),
    "deepseek_math": (
        deepseek_math.Params(proofs=2, examinations=2, rounds=3, meta=True),
        {
            "round/1/2": "nothing",
            "round/*": named,
            "examine/c3.1/*": score(1),
            "examine/*": score(0.5),
            "meta/c2.1/1": score(0),
            "meta/*": score(1),
        },
    ),
    "alpha_apollo": (
        ApolloParams(rounds=3, evaluators=2, threads=2, turns=3),
        agents.follows(
            {
                "solve/c1.1/turn/1": agents.python("print(2+2)"),
                "solve/c1.1/turn/2": agents.ask(),
                "solve/c1.2/turn/*": "nothing",
                "solve/c2.1/turn/1": agents.python("import sympy\nsympy.slove(1)"),
                "solve/c2.1/turn/1/python": agents.raised("AttributeError: module 'sympy' has no attribute 'slove'"),
                "judge/c1.1/2/turn/1": agents.python("print(3)"),
                "judge/c1.1/2/turn/2": agents.report(0),
                "judge/c2.1/4/turn/1": "unread",
                "judge/c2.1/4/turn/2": agents.report(0),
            }
        ),
    ),
}
METHODS = sorted(CASES)


def _calls(run: Played) -> int:
    """Model calls; those of tools are in no budget and no estimate, and what is asked once more comes on top of it."""
    return len(_requests(run))


def _requests(run: Played) -> list[GenerationRequest]:
    return [one for one in run.dispatcher.requests if one.job == "generate" and not one.key.endswith(f"/{AGAIN}")]


def test_every_scaffold_of_candidates_is_tried_here() -> None:
    assert {*CASES, "intern_s1_mo"} == set(SCAFFOLDS)


@pytest.mark.parametrize("method", METHODS)
async def test_resumed_at_every_call_it_ends_as_the_uninterrupted_one(method: str) -> None:
    params, table = CASES[method]
    whole = await play(table, params, scaffold=method)
    assert whole.outcome.proof
    for cut in range(len(whole.journal.records) + 1):
        again = await play(table, params, scaffold=method, journal=whole.journal.cut(cut))
        assert again.outcome == whole.outcome
        assert again.told == whole.told, cut
        assert len(again.dispatcher.requests) == len(whole.journal.records) - cut


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(6))
async def test_the_order_in_which_calls_end_changes_nothing(method: str, seed: int) -> None:
    params, table = CASES[method]
    whole = await play(table, params, scaffold=method)
    shuffled = await play(table, params, scaffold=method, shuffle=seed)
    assert shuffled.told == whole.told
    assert shuffled.outcome == whole.outcome


@pytest.mark.parametrize("method", METHODS)
async def test_the_calls_made_lie_within_the_estimate(method: str) -> None:
    params, table = CASES[method]
    estimate = SCAFFOLDS[method].estimate(params)
    made = _calls(await play(table, params, scaffold=method))
    assert estimate.calls_min <= made <= estimate.calls_max
    silent = _calls(await play({"*": "I like turtles."}, params, scaffold=method))
    assert estimate.calls_min <= silent <= estimate.calls_max
    assert estimate.calls_min <= estimate.calls_expected <= estimate.calls_max
    assert {role.role for role in estimate.roles} == {role.name for role in SCAFFOLDS[method].roles}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("table", ["a course", "nothing readable", "the most"])
async def test_the_calls_of_every_role_lie_within_its_estimate(method: str, table: str) -> None:
    courses: dict[str, tuple[Value, Table]] = {
        "a course": CASES[method],
        "nothing readable": (CASES[method][0], {"*": "I like turtles."}),
        "the most": MOST[method],
    }
    params, answers = courses[table]
    run = await play(answers, params, scaffold=method)
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


MOST: dict[str, tuple[Value, Table]] = {
    "reasoning_cache": (
        reasoning_cache.Params(turns=2, states=2, attempts=3, marks=True),
        {"turn/*/summarise": lambda request: f"<state>State after {request.key}.</state>", "mark/*": score(3), "*": named},
    ),
    "grouped_agents": (grouped_agents.Params(group=3, inputs=4), {"step/[24]/*": FAIL, "*": named}),
    "self_check": (self_check.Params(give_up=3, iterations=9), {"check/[36]": PASS, "check/*": FAIL, "*": named}),
    "solver_verifier_corrector": (
        solver_verifier_corrector.Params(accept=2, corrections=3),
        {"check/[2468]": FAIL, "check/*": PASS, "*": named},
    ),
    "nomos": (
        nomos.Params(solutions=4, kept=4),
        {**CASES["nomos"][1], "solve/2": named},
    ),
    "rsa": CASES["rsa"],
    "deepseek_math": (
        deepseek_math.Params(proofs=2, examinations=3, rounds=3, meta=True),
        {"round/*": named, "examine/*": score(0.5), "meta/*": score(1)},
    ),
    "alpha_apollo": (
        ApolloParams(rounds=2, evaluators=2, threads=2, turns=2),
        agents.follows(
            {
                "*/turn/1": agents.ask(),
                "judge/*/[123]/turn/2": agents.report(1),
                "judge/*/turn/2": agents.report(0),
            }
        ),
    ),
}


@pytest.mark.parametrize("method", METHODS)
async def test_the_most_that_is_estimated_can_happen(method: str) -> None:
    params, table = MOST[method]
    made = _calls(await play(table, params, scaffold=method))
    assert made == SCAFFOLDS[method].estimate(params).calls_max


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("calls", [1, 2, 4, 7])
async def test_a_budget_that_ends_it_leaves_what_is_there(method: str, calls: int) -> None:
    params, table = CASES[method]
    run = await play(table, params, scaffold=method, budget=Budget(calls=calls))
    assert _calls(run) <= calls
    whole = await play(table, params, scaffold=method)
    if _calls(whole) > calls:
        assert run.outcome.ended_by in {"budget", "accepted"}
        assert run.outcome.proof or "No solution was written" in run.outcome.reason


@pytest.mark.parametrize("method", METHODS)
async def test_a_model_that_follows_no_format_ends_honestly(method: str) -> None:
    run = await play({"*": "I like turtles."}, CASES[method][0], scaffold=method)
    assert run.outcome.accepted is None
    assert run.outcome.ended_by == "nothing-readable"
    assert run.of("output.unread")
    assert not run.of("proof.drafted")
