"""In a trial every role of every program answers once, and readable answers are counted."""

import pytest

from apps.reasoning.programs.registry import PROGRAMS
from apps.reasoning.scaffolds.running.hearing import AGAIN
from apps.reasoning.trying.program import PROGRAM, Params, trials
from apps.reasoning.trying.trial import kinds_for, methods
from tests.trying.play import ATTEMPTS, PROBLEM, Model, play

#: Roles that quick presets leave out. Each shares the prompt of a tried role, or needs a tool.
LEFT_OUT = {
    ("alpha_apollo", "solver_2"), ("alpha_apollo", "solver_3"), ("alpha_apollo", "rewriter"), ("alpha_apollo", "librarian"),
}  # fmt: skip


async def test_every_role_of_every_scaffold_and_grader_is_tried() -> None:
    found = await play()
    roles = {(method, role.name) for method in methods() for role in PROGRAMS[method].roles}
    of_other_graders = {(name, role) for name, role in roles if name == "best_of" and role not in ("solver", "grader", "judge")}
    assert {(one.method, one.role) for one in found.answers} == roles - LEFT_OUT - of_other_graders
    assert found.outcome.reason.endswith(f"of {len(found.answers)} answers were read.")


async def test_judges_get_right_incomplete_and_wrong_solutions_and_correctors_one_with_a_gap() -> None:
    found = await play(methods=("self_check",))
    verifier = found.of("self_check", "verifier")
    assert {kind: one.accepts for kind, one in verifier.items()} == {"right": True, "gap": True, "wrong": True}
    assert set(found.of("self_check", "corrector")) == {"gap"}
    assert found.of("self_check", "solver")["right"].accepts is None
    assert kinds_for("judge") == ("right",), "a judge of pairs does not judge single solutions"


async def test_answers_readable_only_on_retry_are_counted_separately() -> None:
    found = (await play(Model("I looked at it.", again='{"decision": "fail"}'), methods=("self_check",))).of(
        "self_check", "verifier"
    )
    assert {one.reading for one in found.values()} == {"again"}
    assert found["wrong"].accepts is False
    assert found["wrong"].again != found["wrong"].call
    assert found["wrong"].tokens == 14, "both calls count"


async def test_an_unread_answer_has_a_reason_and_no_judgement() -> None:
    found = (await play(Model("I like turtles."), methods=("self_check",))).of("self_check", "verifier")
    assert {(one.reading, one.reason, one.accepts) for one in found.values()} == {("unread", "there is no decision", None)}


async def test_an_answer_with_an_ignored_part_counts_as_read() -> None:
    dangling = Model("<proof><step>By Lemma 21 the sum is even, and so the problem is solved.</step></proof>")
    found = (await play(dangling, methods=("intern_s1_mo",))).of("intern_s1_mo", "reviser")
    assert {one.reading for one in found.values()} == {"at once"}


async def test_a_refusal_is_recognised() -> None:
    refusing = Model("<no-proof>I cannot find a bound for the second case.</no-proof>")
    found = (await play(refusing, methods=("self_check",))).of("self_check", "solver")["right"]
    assert found.reading == "declined"


async def test_a_failing_engine_gives_failed_answers_and_the_trial_ends() -> None:
    found = await play(Model(is_broken=True), methods=("self_check", "single_turn"))
    assert {one.reading for one in found.answers} == {"failed"}
    assert found.of("self_check", "solver")["right"].reason == "the engine is gone"


async def test_a_prompt_beyond_the_context_is_a_failed_answer_with_advice() -> None:
    found = (await play(methods=("self_check",), context=700)).of("self_check", "solver")["right"]
    assert found.reading == "failed"
    assert "Choose a model with a longer context" in found.reason


async def test_roles_with_the_same_prompt_share_one_answer() -> None:
    found = await play(methods=("nomos", "rsa"))
    one, other = found.of("nomos", "solver")["right"], found.of("rsa", "solver")["right"]
    assert one.call == other.call
    keys = [request.key for request in found.model.requests]
    assert len(set(keys)) == len(keys)


async def test_an_interrupted_trial_resumes_without_repeated_calls() -> None:
    whole = await play(methods=("self_check", "nomos", "single_turn"))
    for cut in range(0, len(whole.model.requests) + 1, 4):
        again = await play(methods=("self_check", "nomos", "single_turn"), journal=whole.journal.cut(cut))
        assert {one.model_dump_json() for one in again.answers} == {one.model_dump_json() for one in whole.answers}
        assert len(again.model.requests) == len(whole.model.requests) - cut


async def test_an_exhausted_budget_ends_a_trial_with_partial_results() -> None:
    found = await play(calls=5, methods=("self_check",))
    assert found.outcome.ended_by == "budget"
    assert len(found.model.requests) == 5


async def test_graders_without_their_material_are_left_out() -> None:
    tried = {method for method, _, _ in trials(PROBLEM, Params(attempts=ATTEMPTS))}
    assert "single_turn" in tried
    assert not {"ref3", "scheme"} & tried


def test_an_unknown_program_and_a_trial_without_a_right_attempt_are_rejected() -> None:
    for params, why in (({"methods": ["oracle"]}, "there is no scaffold or grader oracle"), ({}, "")):
        attempts = ATTEMPTS if params else [one for one in ATTEMPTS if one.kind != "right"]
        with pytest.raises(Exception, match=why or "at least one of the attempts must be right"):
            PROGRAM.read_params({"attempts": [one.model_dump() for one in attempts], **params})


async def test_the_number_of_calls_stays_within_the_estimate() -> None:
    params = Params(attempts=ATTEMPTS, methods=("self_check", "nomos"))
    found = await play(Model("I like turtles."), methods=params.methods)
    assert len(found.model.requests) <= PROGRAM.estimate(params).calls_max
    assert all(AGAIN not in request.key for request in found.model.requests), "keys name the request, not the attempt"
