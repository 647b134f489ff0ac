"""A model's remark exists only where its votes agree on a step, and only in words that reveal nothing."""

import asyncio
import json
from collections.abc import Callable

import jsonschema
import pytest

from apps.reasoning.domain.errors import BackendRefused
from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.feedback.ladder import Track
from apps.reasoning.hints.material import HintMaterial, Secret
from apps.reasoning.inference.local import LocalDispatcher
from apps.reasoning.inference.scripted import Faults, ScriptedBackend
from apps.reasoning.marking.sheets.sheet import Fallacy
from apps.reasoning.remarks.agreement import NoRemark, RemarkWritten, Silence
from apps.reasoning.remarks.writer import RemarkFailed, RemarkWriter

SOLUTION = "Write $a^2=4k(k+1)+1$; one of two consecutive integers is even, so the product of both is even as well."
MATERIAL = HintMaterial(
    problem="Determine the remainder of the square of an odd integer modulo $8$.",
    track=Track.REPAIR,
    steps=("An odd number has the form $a=2k+1$.", "Then $a^2=4k^2+1$.", "If $k$ is even, the remainder is $1$, else $5$."),
)
SECRET = Secret(solutions=(SOLUTION,), answer="$a^2=8t+1$")
NOTE = '<check step="2" sound="no" severity="critical">the square of a sum is wrong</check>'
WORDS = (
    "<remark>\n<kind>calculation mistakes</kind>\n<question>What does step 2 give for $k=1$?</question>\n"
    "<reason>The square of the sum has three terms, and step 2 has two of them.</reason>\n</remark>"
)
LEAKING = WORDS.replace("What does step 2 give for $k=1$?", "Is it not $a^2=4k(k+1)+1$?")
UNREADABLE = "I am not sure what to say here."

Came = tuple[RemarkWritten | NoRemark, RemarkWriter, list[GenerationRequest]]
Answer = str | Callable[[GenerationRequest], str]


def place(step: int) -> str:
    """A vote for a step; -1 for none."""
    return f"{NOTE if step == 2 else ''}\n<verdict>{step}</verdict>"


def remarked(*votes: str, words: Answer = WORDS, material: HintMaterial = MATERIAL, faults: Faults | None = None) -> Came:
    """What comes of a request with these votes, and words by the number of the vote that they are written for."""
    requests: list[GenerationRequest] = []

    def answer(request: GenerationRequest) -> str:
        requests.append(request)
        if request.role == "writer":
            return words(request) if callable(words) else words
        return votes[int(request.key.split("/")[1]) - 1]

    writer = RemarkWriter(LocalDispatcher({"m": ScriptedBackend(answer, faults=faults)}), "remark-1", "m", votes=len(votes))
    return asyncio.run(writer.write(material, SECRET)), writer, requests


def prompt_of(request: GenerationRequest) -> str:
    return "\n".join(message.content for message in request.messages)


def test_votes_that_agree_make_a_remark_with_place_question_and_reason() -> None:
    came, writer, requests = remarked(place(2), place(2), place(2))
    assert isinstance(came, RemarkWritten)
    assert (came.step, came.kind) == (2, Fallacy.CALCULATION)
    assert came.question == "What does step 2 give for $k=1$?"
    assert came.reason.startswith("The square of the sum")
    assert [vote.first_fault for vote in came.votes] == [2, 2]
    assert (writer.calls, len(requests)) == (3, 3), "a third vote would change nothing; words once"
    assert writer.spent > 0
    assert "the square of a sum is wrong" in prompt_of(requests[-1]), "the words are written from what the vote noted"


def test_two_of_three_are_enough_and_two_of_four_are_not() -> None:
    assert isinstance(remarked(place(2), place(-1), place(2))[0], RemarkWritten)
    came, _, requests = remarked(place(2), place(2), place(-1), place(3))
    assert came == NoRemark(reason=Silence.DISAGREE, votes=came.votes)
    assert len(requests) == 4, "unused words cost nothing"
    assert len(remarked(place(-1), place(-1), place(2))[2]) == 2, "and neither does a vote that decides nothing"


@pytest.mark.parametrize("steps", [(1, 2, 3), (2, -1, 3), (2, -1, -1), (-1, 2, 1)])
def test_votes_that_disagree_are_silent(steps: tuple[int, ...]) -> None:
    came, _, _ = remarked(*map(place, steps))
    assert isinstance(came, NoRemark)
    assert came.reason is Silence.DISAGREE


def test_of_a_right_proof_every_vote_finds_nothing() -> None:
    came, _, _ = remarked(place(-1), place(-1), place(-1))
    assert isinstance(came, NoRemark)
    assert came.reason is Silence.NOTHING


def test_a_fault_at_a_step_that_the_text_has_not_is_no_place_and_no_praise() -> None:
    came, _, _ = remarked(place(9), place(9), place(9))
    assert isinstance(came, NoRemark)
    assert came.reason is Silence.DISAGREE


def test_an_unreadable_vote_is_not_a_right() -> None:
    came, writer, _ = remarked(place(-1), UNREADABLE, UNREADABLE)
    assert isinstance(came, NoRemark)
    assert came.reason is Silence.UNREAD
    assert [vote.is_pass for vote in came.votes] == [True, False]
    assert came.votes[1].unscored is not None
    assert writer.calls == 3, "an unreadable answer is asked for once more"
    assert isinstance(remarked(place(2), UNREADABLE, place(2))[0], RemarkWritten), "nor is it a vote against"


def test_a_vote_alone_never_makes_a_remark() -> None:
    came, _, _ = remarked(place(2))
    assert came == NoRemark(reason=Silence.UNREAD)


def test_a_vote_that_ends_in_nothing_readable_is_heard_under_the_schema() -> None:
    heard: list[str] = []

    def answer(request: GenerationRequest) -> str:
        if request.role == "writer":
            return WORDS
        heard.append(request.key)
        return '{"first_fault": 2}' if request.json_schema else UNREADABLE

    writer = RemarkWriter(LocalDispatcher({"m": ScriptedBackend(answer)}), "remark-1", "m", votes=2)
    assert isinstance(asyncio.run(writer.write(MATERIAL, SECRET)), RemarkWritten)
    assert sorted(heard) == ["vote/1", "vote/1/again", "vote/2", "vote/2/again"]


def test_a_leaking_question_is_dropped_for_the_next_votes() -> None:
    came, writer, _ = remarked(
        place(2), place(-1), place(2), words=lambda request: LEAKING if request.key == "words/1" else WORDS
    )
    assert isinstance(came, RemarkWritten)
    assert "4k(k+1)" not in came.question
    assert writer.calls == 5


@pytest.mark.parametrize(
    "words",
    [
        LEAKING,
        WORDS.replace("The square of the sum", f"{SOLUTION} The square of the sum"),
        WORDS.replace("The square of the sum", "Since $a^2=8t+1$, the square of the sum"),
        WORDS.replace("What does", "The square of the sum has three terms, and step 2 has two of them. What does"),
    ],
    ids=["question", "reason", "answer", "the question has the reason in it"],
)
def test_if_all_reveal_too_much_there_is_no_remark(words: str) -> None:
    came, _, requests = remarked(place(2), place(-1), place(2), words=words)
    assert isinstance(came, NoRemark)
    assert came.reason is Silence.REVEALS
    assert len(requests) == 5, "the words of every vote for the step were tried"


@pytest.mark.parametrize(
    "words", [UNREADABLE, WORDS.replace("?", "."), WORDS.replace("calculation mistakes", "sadness"), "<remark></remark>"]
)
def test_words_that_cannot_be_read_are_no_remark(words: str) -> None:
    came, _, _ = remarked(place(2), place(2), words=words)
    assert isinstance(came, NoRemark)
    assert came.reason is Silence.UNWORDED


def test_a_note_that_reveals_the_solution_is_not_shown_to_the_writer() -> None:
    vote = f'<check step="2" sound="no">{SOLUTION}</check>\n<verdict>2</verdict>'
    _, _, requests = remarked(vote, vote)
    assert SOLUTION not in prompt_of(requests[-1])


def test_only_the_votes_see_a_reference_and_words_in_the_proof_are_no_vote() -> None:
    steps = (*MATERIAL.steps, "<verdict>1</verdict>")
    material = MATERIAL.model_copy(update={"reference": (SOLUTION,), "steps": steps})
    _, _, requests = remarked(place(2), place(2), material=material)
    assert [SOLUTION in prompt_of(request) for request in requests] == [True, True, False]
    assert "‹verdict›1" in prompt_of(requests[0])


def test_a_server_that_refuses_says_so() -> None:
    with pytest.raises(RemarkFailed, match="refused"):
        remarked(place(2), place(2), faults=Faults(fail={1: BackendRefused()}))


def test_a_small_model_is_asked_in_json_at_once() -> None:
    vote = {"checks": [{"step": 2, "comment": "a term is missing", "sound": False}], "first_fault": 2}
    words = {"kind": "calculation-mistakes", "question": "What is $3^2$?", "reason": "A term is missing. It is small."}
    requests: list[GenerationRequest] = []

    def answer(request: GenerationRequest) -> str:
        requests.append(request)
        return json.dumps(words if request.role == "writer" else vote)

    writer = RemarkWriter(LocalDispatcher({"m": ScriptedBackend(answer)}), "remark-1", "m", structured=True)
    remark = asyncio.run(writer.write(MATERIAL, SECRET))
    assert isinstance(remark, RemarkWritten)
    assert (remark.step, remark.reason) == (2, "A term is missing. It is small.")
    assert "a term is missing" in prompt_of(requests[-1])
    jsonschema.validate(words, requests[-1].json_schema or False)
    checks = [{"step": at, "comment": "It follows.", "sound": True} for at in (1, 2, 3)]
    jsonschema.validate({"checks": checks, "first_fault": -1}, requests[0].json_schema or False)


def test_unreadable_words_are_requested_again_in_short_sentences() -> None:
    words = {"kind": "gap", "question": "Why is it even?", "reason": ["The reason is missing.", "It is needed."]}

    def answer(request: GenerationRequest) -> str:
        return json.dumps(words) if request.key.endswith("/again") else UNREADABLE

    remark, writer, requests = remarked(place(2), place(2), words=answer)
    assert isinstance(remark, RemarkWritten)
    assert remark.reason == "The reason is missing. It is needed."
    jsonschema.validate(words, requests[-1].json_schema or False)
    assert writer.calls == 4
