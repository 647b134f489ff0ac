"""No reader takes a model's thinking for its answer, whether it precedes the answer, never ends, or comes separately."""

from collections.abc import Callable
from typing import Any

import pytest

from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading import choices, grouping
from apps.reasoning.reading.proofs import read_claim, read_claim_again, read_proof
from apps.reasoning.reading.summaries import read_summary
from apps.reasoning.reading.votes import read_lemma_vote, read_proof_vote, read_vote_again
from apps.reasoning.scaffolds import self_check
from apps.reasoning.scaffolds.reasoning_cache import read_state
from tests.reasoning.candidates import named
from tests.reasoning.play import final, lemma, play, proof, verdict

POINTS = tuple(float(points) for points in range(8))
LISTED = "**Lemma 1.** Every square is not negative.\n\n*Proof.* Signs."
GROUPS = '<group number="1">1, 2</group>\n<likeliest>1</likeliest>'
SAME = '{"like": {"1": 1, "2": 1}, "most_likely_right": 2}'
READERS: dict[str, tuple[Callable[[Final], Any], str]] = {
    "proof": (read_proof, proof("We argue by induction on the number of terms.", "So it holds.")),
    "proof in prose": (read_proof, "## Proof\nWe argue by induction on the number of terms of the sum."),
    "proof in json": (read_proof, '{"steps": ["We argue by induction.", "So it holds."]}'),
    "claim": (read_claim, "<claim>complete</claim>"),
    "claim again": (lambda said: read_claim_again(said, "first"), '{"claim": "complete"}'),
    "decision": (choices.read_decision, "<decision>pass</decision>"),
    "decision again": (lambda said: choices.read_decision_again(said, "first"), "pass"),
    "score": (lambda said: choices.read_score(said, POINTS), "<score>7</score>"),
    "score again": (lambda said: choices.read_score_again(said, "first", POINTS), '{"score": 7}'),
    "choice": (choices.read_better, "<better>A</better>"),
    "choice again": (lambda said: choices.read_better_again(said, "first"), "A"),
    "groups": (lambda said: grouping.read_grouping(said, 2), GROUPS),
    "groups again": (lambda said: grouping.read_grouping_again(said, "first", 2), SAME),
    "state": (read_state, "<state>Two cases are done.</state>"),
    "state in prose": (read_state, "Two cases of the problem are done, and the third one is open."),
    "lemmas": (read_summary, lemma(1, "Every square is not negative.", "Signs.")),
    "listed lemmas": (read_summary, LISTED),
    "no lemmas": (read_summary, "<no-lemmas/>"),
    "lemma's verdict": (lambda said: read_lemma_vote(said, 2), verdict(-1)),
    "proof's verdict": (lambda said: read_proof_vote(said, 2), verdict(-1)),
    "verdict again": (lambda said: read_vote_again(said, "first", 2, may_name_lemma=False), '{"first_fault": -1}'),
}


def nothing(read: object) -> bool:
    return isinstance(read, Unscored) or bool(getattr(read, "unscored", ""))


@pytest.mark.parametrize("name", READERS)
def test_an_answer_is_read_after_the_thinking(name: str) -> None:
    reader, said = READERS[name]
    assert not nothing(reader(final(said)))
    assert not nothing(reader(final(f"<think>I am not sure.</think>\n{said}")))
    assert not nothing(reader(final(said, reasoning="I am not sure.")))


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(
    "hidden",
    [
        lambda said: final(f"<think>{said}</think>"),
        lambda said: final(f"<think>{said}</think>\nWell."),
        lambda said: final(f"{said}</think>\nWell."),
        lambda said: final(f"<think>{said}"),
        lambda said: final(f"<thinking>\n{said}\n"),
        lambda said: final(f"<think>No.</think><think>{said}"),
        lambda said: final("", reasoning=said),
        lambda said: final("Well.", reasoning=f"<think>{said}</think>"),
    ],
    ids=["alone", "before words", "without its beginning", "never ended", "by another name", "twice", "apart", "apart, marked"],
)
def test_what_is_only_thought_is_not(name: str, hidden: Callable[[str], Final]) -> None:
    reader, said = READERS[name]
    assert nothing(reader(hidden(said)))


async def test_the_second_question_shows_no_thinking() -> None:
    thought = "I think that it is <decision>pass</decision> in the end."
    table: dict[str, Any] = {
        "check/1": f"<think>{thought}</think>I do not know.",
        "check/1/again": '{"decision": "fail"}',
        "*": named,
    }
    run = await play(table, self_check.Params(accept=1, iterations=1), scaffold="self_check")
    assert thought not in run.dispatcher.prompt("check/1/again")
    assert "I do not know." in run.dispatcher.prompt("check/1/again")
