"""Solutions of a problem with an answer end with it: their writers are asked for the line, and once more if it is missing."""

import pytest

from apps.reasoning.domain.candidate_events import CandidateDrafted
from apps.reasoning.domain.errors import RequestRejected
from apps.reasoning.domain.event_base import Kind
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.answer_line import answer_line
from apps.reasoning.scaffolds.running.hearing import AGAIN
from apps.reasoning.scaffolds.spec import Budget
from tests.reasoning.play import PROBLEM, WITH_ANSWER, Answer, Played, play, proof
from tests.reasoning.plays import Table, plays_of

LINE = "\n\n" + answer_line(WITH_ANSWER)
#: Beginnings of the names of roles that write whole solutions.
WRITERS = ("solver", "improver", "corrector", "aggregator", "refiner", "writer", "reviser")


def prompts(played: Played) -> dict[str, tuple[str, str]]:
    """Role and system text of every first call."""
    firsts = (one for one in played.dispatcher.requests if not one.key.endswith(f"/{AGAIN}"))
    return {request.key: (request.role, request.messages[0].content) for request in firsts}


#: Those that can run without an answer as well.
EITHER_WAY = [name for name, one in SCAFFOLDS.items() if not one.cannot_run(PROBLEM, plays_of(name).golden.params)]


@pytest.mark.parametrize("name", EITHER_WAY)
async def test_writers_are_asked_for_an_answer_line_only_where_there_is_an_answer(name: str) -> None:
    golden = plays_of(name).golden
    with_answer = prompts(await play(golden.table, golden.params, scaffold=name, problem=WITH_ANSWER))
    without = prompts(await play(golden.table, golden.params, scaffold=name, problem=PROBLEM))
    assert with_answer.keys() == without.keys()
    asked = {role for role, text in with_answer.values() if text.endswith(LINE)}
    assert all(role.startswith(WRITERS) for role in asked)
    assert asked
    for key, (role, text) in without.items():
        assert "Answer:" not in text
        assert with_answer[key][1] == text + (LINE if role in asked else "")


def test_an_answer_of_white_space_is_none() -> None:
    assert answer_line(PROBLEM.model_copy(update={"answer": " \n"})) == ""


async def solved(table: Table, scaffold: str = "single_call", problem: ProblemText = WITH_ANSWER) -> Played:
    return await play(table, SCAFFOLDS[scaffold].read_params({}), scaffold=scaffold, problem=problem)


def drafted(played: Played) -> CandidateDrafted:
    (event,) = played.of(Kind.CANDIDATE_DRAFTED)
    assert isinstance(event, CandidateDrafted)
    return event


@pytest.mark.parametrize("said", ["Answer: $29$", "The line is:\n\nAnswer: $29$.", "$29$", "**Answer:** \\boxed{29}"])
async def test_a_solution_without_its_answer_is_kept_and_its_writer_asked_for_the_line_alone(said: str) -> None:
    played = await solved({"solve": proof("We square.", "Hence $x^2+y^2=29$."), "solve/again": said})
    assert played.dispatcher.keys == ["solve", "solve/again"]
    found = drafted(played)
    assert found.steps == ("We square.", "Hence $x^2+y^2=29$.\n\nAnswer: $29$")
    assert (found.call, found.read_as) == ("solve", "tags")
    question = played.dispatcher.requests[-1].messages
    assert "Write only this line" in question[-1].content
    assert "Hence $x^2+y^2=29$." in question[-2].content


@pytest.mark.parametrize(
    "said",
    [
        "Answer: unknown",
        "Answer: …",
        "Answer: N/A",
        "Answer: I cannot determine it.",
        "There is no answer.",
        "It is not known",
        "",
        "I do not know what else to say.\n\nThe rest follows.",
        RequestRejected("too long"),
        "Answer: " + "9" * 400,
    ],
)
async def test_a_writer_that_names_no_answer_keeps_its_solution(said: Answer) -> None:
    played = await solved({"solve": proof("We square.", "Hence $x^2+y^2=29$."), "solve/again": said})
    found = drafted(played)
    assert (found.steps, found.call) == (("We square.", "Hence $x^2+y^2=29$."), "solve")


@pytest.mark.parametrize("said", ["Answer: none", "Answer: no such $n$", "Answer: all even $n$", "Answer: Alice", "29"])
async def test_words_may_be_an_answer(said: str) -> None:
    played = await solved({"solve": proof("We square.", "So it is."), "solve/again": said})
    assert drafted(played).steps[-1].endswith(f"\n\nAnswer: {said.removeprefix('Answer: ')}")


@pytest.mark.parametrize("scaffold", ["single_call", "majority_vote", "self_check", "rsa"])
async def test_a_budget_that_ends_at_the_second_question_loses_no_solution(scaffold: str) -> None:
    solution = proof("We square.", "So it is.")
    params = SCAFFOLDS[scaffold].read_params({})
    played = await play(
        {"*": solution}, params, scaffold=scaffold, problem=WITH_ANSWER, budget=Budget(calls=1), one_by_one=True
    )
    assert drafted(played).steps == ("We square.", "So it is.")
    assert played.outcome.proof or scaffold == "majority_vote"  # Only stated answers vote.


async def test_a_kept_solution_does_not_count_as_unread() -> None:
    for said in ("Answer: 29", "Answer: unknown"):
        played = await solved({"solve": proof("We square.", "So it is."), "solve/again": said})
        assert played.of(Kind.OUTPUT_UNREAD) == []
    assert len((await solved({"solve": "I give up.", "solve/again": "No."})).of(Kind.OUTPUT_UNREAD)) == 2


async def test_a_stated_answer_or_a_problem_without_one_needs_no_second_question() -> None:
    assert (await solved({"solve": proof("So it is.\n\nAnswer: $2$")})).dispatcher.keys == ["solve"]
    assert (await solved({"solve": proof("So it is.")}, problem=PROBLEM)).dispatcher.keys == ["solve"]


@pytest.mark.parametrize(
    "below", ["Answer: 420", "<no-proof>There is no missing step.</no-proof>\n\n**Answer:** 420", "The final answer is 420."]
)
async def test_an_answer_below_the_tags_of_the_proof_belongs_to_it(below: str) -> None:
    played = await solved({"solve": proof("We square both of the sides and add the results.") + f"\n\n{below}"})
    assert played.dispatcher.keys == ["solve"]
    assert drafted(played).steps[-1].removesuffix(".") == "We square both of the sides and add the results.\n\nAnswer: 420"


async def test_a_solution_that_was_asked_for_again_is_not_asked_for_a_third_time() -> None:
    played = await solved({"solve": "I give up.", "solve/again": proof("Hence it is two.")})
    assert played.dispatcher.keys == ["solve", "solve/again"]
    assert (drafted(played).steps, drafted(played).call) == (("Hence it is two.",), "solve/again")


async def test_a_copy_of_the_prompt_is_not_asked_for_its_answer_but_for_a_solution() -> None:
    table: dict[str, Answer] = {"solve/again": proof("We square.\n\nAnswer: $2$")}
    played = await solved({"solve": lambda request: request.messages[0].content, **table})
    assert "holds no solution that can be read" in played.dispatcher.requests[-1].messages[-1].content
    assert drafted(played).call == "solve/again"


async def test_writers_of_a_search_of_lemmas_are_asked_too() -> None:
    golden = plays_of("intern_s1_mo").golden
    played = await play({**golden.table, "final/write/1/again": "Answer: $7$"}, golden.params, problem=WITH_ANSWER)
    (found, *_) = played.of(Kind.PROOF_DRAFTED)
    assert found.model_dump()["text"].endswith("\n\nAnswer: $7$")
    assert found.model_dump()["call"] == "final/write/1"
