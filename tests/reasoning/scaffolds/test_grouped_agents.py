"""What MarsRL learns from: each role answers its inputs by whole groups, and few texts of a role go to the next one."""

from collections import Counter, defaultdict
from typing import Any

import pytest

from apps.reasoning.domain.candidate_events import CandidateDrafted, CandidateJudged
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.scaffolds.grouped_agents import Params
from apps.reasoning.scaffolds.scaffold import Scaffold
from tests.reasoning.candidates import FAIL, PASS, named
from tests.reasoning.play import Played, play, proof

WITH_ANSWER = ProblemText(id="p", version=1, title="A sum", statement="What is $1+1$?", answer="$2$")
FLAWED: dict[str, Any] = {"step/[24]/*": FAIL, "*": named}


async def played(table: dict[str, Any], params: Params | None = None, **more: Any) -> Played:
    return await play(table, params or Params(), scaffold="grouped_agents", **more)


def roles(run: Played) -> Counter[str]:
    return Counter(request.role for request in run.dispatcher.requests)


async def test_eight_answers_to_an_input_and_two_inputs_a_role_are_seventy_two_calls() -> None:
    run = await played(FLAWED)
    assert roles(run) == {"solver": 8, "verifier_1": 16, "corrector_1": 16, "verifier_2": 16, "corrector_2": 16}


async def test_all_answers_of_a_group_had_one_prompt_and_no_two_groups_the_same() -> None:
    run = await played(FLAWED)
    prompts: dict[str, Counter[str]] = defaultdict(Counter)
    for request in run.dispatcher.requests:
        prompts[request.role][run.dispatcher.prompt(request.key)] += 1
    sizes = {role: sorted(found.values()) for role, found in prompts.items()}
    assert sizes.pop("solver") == [8]
    # Two equal reports on one solution are one prompt.
    assert all(set(found) <= {8, 16} for found in sizes.values()), sizes
    assert len({request.seed for request in run.dispatcher.requests}) == 72


async def test_corrections_know_the_solution_that_they_were_made_from() -> None:
    run = await played(FLAWED, Params(group=2, inputs=1))
    parents = {one.candidate: one.parents for one in run.of("candidate.drafted") if isinstance(one, CandidateDrafted)}
    assert parents == {
        "c1.1": (), "c1.2": (), "c2.1": ("c1.1",), "c2.2": ("c1.1",), "c3.1": ("c2.2",), "c3.2": ("c2.2",)
    }  # fmt: skip


async def test_where_no_report_finds_a_fault_there_is_nothing_to_correct() -> None:
    run = await played({"step/2/*": PASS, "*": named})
    assert set(roles(run)) == {"solver", "verifier_1"}
    assert run.outcome.accepted is True
    assert "8 of 8 verdicts" in run.outcome.reason


async def test_an_unreadable_verdict_is_reported_and_is_neither_a_pass_nor_corrected() -> None:
    run = await played({"step/2/*/1": "I like turtles.", "step/2/*": PASS, "*": named}, Params(group=4, inputs=1))
    verdicts = [one for one in run.of("candidate.judged") if isinstance(one, CandidateJudged)]
    assert [one.passed for one in sorted(verdicts, key=lambda one: one.index)] == [None, True, True, True]
    assert run.outcome.reason == "Accepted: 3 of 3 verdicts on it found no fault; 1 of 4 could not be read."
    few = await played({"step/2/*/1": PASS, "step/2/*": "I like turtles.", "*": named}, Params(group=4, inputs=1))
    assert few.outcome.accepted is False, "one verdict of four is no panel"
    assert few.outcome.reason.endswith("1 of 1 verdicts on it found no fault; 3 of 4 could not be read, and 2 are needed.")


async def test_fewer_roles_are_played_where_they_are_asked_for() -> None:
    assert set(roles(await played(FLAWED, Params(steps=3)))) == {"solver", "verifier_1", "corrector_1"}


# --- which inputs ----------------------------------------------------------------------------------------------------

#: Solutions 1 to 4 are right, 5 to 8 are wrong; of each eight reports the first four object.
MIXED: dict[str, Any] = {
    "step/1/[1-4]": proof("It is $2$.", "The answer is $2$"),
    "step/1/*": proof("It is $3$.", "The answer is $3$"),
    "step/2/*/[1-4]": FAIL,
    "step/2/*": PASS,
    "step/4/*": PASS,
    "*": named,
}
RIGHT = {"c1.1", "c1.2", "c1.3", "c1.4"}


def examined(run: Played) -> list[str]:
    """The solutions that the first verifier was given."""
    return sorted({key.split("/")[2] for key in run.dispatcher.keys if key.startswith("step/2/")})


@pytest.mark.parametrize("seed", range(6))
async def test_adaptive_choice_gives_wrong_solutions_to_the_verifier_and_right_reports_to_the_corrector(seed: int) -> None:
    run = await played(MIXED, Params(choice="adaptive"), problem=WITH_ANSWER, seed=seed)
    assert not RIGHT & set(examined(run))
    corrected = {one.parents[0] for one in run.of("candidate.drafted") if isinstance(one, CandidateDrafted) and one.parents}
    assert not RIGHT & corrected


@pytest.mark.parametrize("seed", range(6))
async def test_balanced_choice_takes_one_of_each_kind(seed: int) -> None:
    run = await played(MIXED, Params(choice="balanced"), problem=WITH_ANSWER, seed=seed)
    assert len(RIGHT & set(examined(run))) == 1


async def test_without_an_answer_inputs_are_drawn_and_the_draw_follows_from_the_seed() -> None:
    draws = [examined(await played(MIXED, Params(choice="adaptive"), seed=seed)) for seed in (1, 1, 2, 3, 4, 5)]
    assert draws[0] == draws[1]
    assert len({tuple(draw) for draw in draws}) > 2


async def test_the_answer_is_in_no_prompt() -> None:
    secret = WITH_ANSWER.model_copy(update={"answer": "$424242$"})
    run = await played(FLAWED, Params(choice="adaptive", group=2, inputs=1), problem=secret)
    assert all("424242" not in run.dispatcher.prompt(key) for key in run.dispatcher.keys)


def test_it_says_what_it_costs() -> None:
    from apps.reasoning.programs.registry import SCAFFOLDS

    scaffold: Scaffold = SCAFFOLDS["grouped_agents"]
    found = scaffold.estimate(Params())
    assert (found.calls_min, found.calls_expected, found.calls_max) == (8, 72, 72)


async def test_a_solution_whose_answer_is_undecided_is_neither_right_nor_wrong() -> None:
    """Right: 1 to 4; wrong: 5 and 6; undecided: 7 and 8, which come after the wrong and before the right ones."""
    unclear: dict[str, Any] = {"step/1/[78]": proof("We add.", "Answer: as big as can be")}
    table = {**unclear, **MIXED}
    run = await played(table, Params(choice="adaptive", inputs=2, steps=2), problem=WITH_ANSWER)
    assert examined(run) == ["c1.5", "c1.6"]
    run = await played(table, Params(choice="adaptive", inputs=4, steps=2), problem=WITH_ANSWER)
    assert examined(run) == ["c1.5", "c1.6", "c1.7", "c1.8"]
    run = await played(table, Params(choice="balanced", inputs=6, steps=2), problem=WITH_ANSWER)
    assert not {"c1.7", "c1.8"} & set(examined(run))


async def test_an_equal_answer_in_other_words_is_right() -> None:
    table = {"step/1/1": proof("Hence the only value is $n=\\frac{4}{2}$."), **MIXED}
    run = await played(table, Params(choice="adaptive", inputs=8, steps=2, group=8), problem=WITH_ANSWER)
    assert len(examined(run)) == 8
    few = await played(table, Params(choice="adaptive", inputs=4, steps=2), problem=WITH_ANSWER)
    assert "c1.1" not in examined(few)
