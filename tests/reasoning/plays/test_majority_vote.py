"""How `majority_vote` is played in the tests of all scaffolds, and how it counts."""

import pytest

from apps.reasoning.domain.candidate_events import GroupsFormed
from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.scaffolds import majority_vote
from tests.reasoning.play import WITH_ANSWER, Played, play, proof
from tests.reasoning.plays import Course, Golden, Plays, Table


def answering(*answers: str) -> Table:
    """A solution for each slot with this answer; "" states none."""

    def written(request: GenerationRequest) -> str:
        answer = answers[int(request.key.split("/")[1]) - 1]
        return proof(f"This is what {request.key} wrote.", f"So it is.\nAnswer: {answer}" if answer else "So it is plain.")

    return {"solve/*": written}


THREE = majority_vote.Params(solutions=3)
COURSE: Course = (majority_vote.Params(solutions=4), {"solve/2": "nothing", **answering("$2$", "", "", "$4/2$")})
PLAYS = Plays(
    course=COURSE,
    problem=WITH_ANSWER,
    most=(THREE, answering("$1$", "$2$", "$3$")),
    # All are written, and counting needs no call.
    golden=Golden(THREE, answering("$1$", "$2$", "$4/2$"), "solve/{1,2,3}", "exhausted", None, "2 of 3 votes are for $2$"),
)


async def voted(*answers: str) -> Played:
    return await play(answering(*answers), majority_vote.Params(solutions=len(answers)), scaffold="majority_vote")


def groups(run: Played) -> GroupsFormed:
    event = run.events["pool/grouped"]
    assert isinstance(event, GroupsFormed)
    return event


async def test_equal_answers_make_a_class_however_they_are_written_and_the_largest_wins() -> None:
    run = await voted("$3$", "$1/2$", "$0.5$", "$\\frac12$")
    assert groups(run).groups == (("c1.1",), ("c1.2", "c1.3", "c1.4"))
    assert groups(run).answers == ("$3$", "$1/2$")
    assert groups(run).chosen == 1
    assert run.outcome.reason.startswith("3 of 4 votes are for $1/2$; c1.2 is the first of them.")
    assert "solve/2 wrote" in run.events["proof/1"].model_dump()["text"]


async def test_of_two_answers_with_as_many_votes_the_one_given_first_wins_and_it_is_said() -> None:
    run = await voted("$5$", "$3$", "$3$", "$5$")
    assert groups(run).chosen == 0
    assert "2 of 4 votes are for $5$; c1.1 is the first" in run.outcome.reason
    assert "As many are for $3$: the answer that was given first wins." in run.outcome.reason


async def test_a_solution_without_an_answer_votes_for_none_and_is_counted_as_such() -> None:
    run = await voted("", "$7$", "")
    assert groups(run).groups == (("c1.2",),)
    assert "1 of 1 votes are for $7$" in run.outcome.reason
    assert "2 solutions state no final answer and did not vote (c1.1, c1.3)" in run.outcome.reason


async def test_incomparable_answers_count_separately_and_the_reason_is_recorded() -> None:
    run = await voted("the regular ones", "$7$", "$7$")
    assert groups(run).groups == (("c1.1",), ("c1.2", "c1.3"))
    assert "could not be decided, so they count apart: the regular ones and $7$" in run.outcome.reason


async def test_without_any_answer_there_is_no_vote_and_no_result() -> None:
    run = await voted("", "")
    assert (run.outcome.ended_by, run.outcome.accepted, run.outcome.proof) == ("nothing-readable", None, "")
    assert run.outcome.reason.startswith("There is no vote: 2 solutions state no final answer")
    assert "pool/grouped" not in run.events


async def test_an_answer_too_long_for_a_sentence_is_named_by_its_solution_and_never_cut() -> None:
    run = await voted("$" + "+".join(["x"] * 60) + "$")
    assert "1 of 1 votes are for the answer of c1.1" in run.outcome.reason


@pytest.mark.parametrize("answer", ["", "  "])
async def test_a_problem_without_an_answer_is_refused_in_words_that_say_what_to_use(answer: str) -> None:
    problem = WITH_ANSWER.model_copy(update={"answer": answer})
    refused = majority_vote.cannot_run(problem, THREE)
    assert "no final answer" in refused
    assert "Best of n" in refused
    run = await play(answering("$1$", "$1$", "$1$"), THREE, scaffold="majority_vote", problem=problem)
    assert run.outcome == Outcome(accepted=None, reason=refused, ended_by="nothing-readable")
    assert run.dispatcher.keys == []


def test_a_problem_with_an_answer_can_be_voted_on() -> None:
    assert majority_vote.cannot_run(WITH_ANSWER, THREE) == ""
