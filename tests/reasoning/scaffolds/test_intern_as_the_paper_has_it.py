"""Intern-S1-MO where the paper says how (§3, Fig. 2, App. A), and the named options where ours differs."""

import pytest

from apps.reasoning.domain.events import RoundEnded, VerdictReached
from apps.reasoning.domain.values import Unscored
from apps.reasoning.domain.verdicts import NO_FAULT, Confidence, Vote, aggregate
from apps.reasoning.reading.answers import thinking_of
from apps.reasoning.scaffolds.intern_s1_mo.params import Params
from tests.reasoning.play import FOLLOWS, Answer, Played, final, lemma, play, proof, verdict

SMALL = Params(lemma_votes=1, proof_votes=1)
THOUGHT = "I wonder. Pairing the ends gives $n+1$ each time, since $k+(n+1-k)=n+1$."


def stops(run: Played) -> dict[tuple[int, int], str]:
    return {(one.rollout, one.round): one.stop for one in run.of("round.ended") if isinstance(one, RoundEnded)}


def verdicts(run: Played) -> dict[str, tuple[str, float | None]]:
    return {one.subject: (one.status, one.confidence) for one in run.of("verdict.reached") if isinstance(one, VerdictReached)}


@pytest.mark.parametrize(
    "answer",
    [
        final("In short it holds.\n<claim>complete</claim>", reasoning=THOUGHT),
        final(f"<think>{THOUGHT}</think>In short it holds.\n<claim>complete</claim>"),
    ],
)
async def test_the_summariser_reads_the_thinking_too_and_the_writer_does_not(answer: Answer) -> None:
    run = await play({"s0/r1/reason": answer} | FOLLOWS, SMALL)
    asked = run.dispatcher.prompt("s0/r1/summarise")
    assert THOUGHT in asked
    assert "In short it holds." in asked
    assert THOUGHT not in run.dispatcher.prompt("final/write/1")
    without = await play({"s0/r1/reason": answer} | FOLLOWS, SMALL.model_copy(update={"thinking": False}))
    assert THOUGHT not in without.dispatcher.prompt("s0/r1/summarise")


async def test_thinking_without_an_answer_is_summarised_but_claims_nothing() -> None:
    cut = final(f"<think>{THOUGHT} <claim>complete</claim>", finish_reason="length")
    table: dict[str, Answer] = {"s0/r1/reason": cut, "s0/r1/reason/again": "complete", "s0/r2/*": "<no-lemmas/>"}
    two = SMALL.model_copy(update={"rounds": 2})
    run = await play(table | FOLLOWS, two)
    assert THOUGHT in run.dispatcher.prompt("s0/r1/summarise")
    assert stops(run)[0, 1] == ""
    off = await play(table | FOLLOWS, two.model_copy(update={"thinking": False}))
    assert "s0/r1/summarise" not in off.dispatcher.keys


@pytest.mark.parametrize(
    ("text", "reasoning", "thinking"),
    [
        ("It holds.", "", ""),
        ("It holds.", " I think so. ", "I think so."),
        ("<think>So.</think>It holds.", "", "So."),
        ("So.</think>It holds.", "", "So."),
        ("<think>So, and", "", "So, and"),
    ],
)
def test_thinking_is_what_comes_before_the_answer_or_instead_of_it(text: str, reasoning: str, thinking: str) -> None:
    assert thinking_of(final(text, reasoning=reasoning)) == thinking


async def test_verifiers_and_summarisers_see_the_library_without_confidences_and_the_reasoner_with_them() -> None:
    table: dict[str, Answer] = {
        "s0/r*/reason": "<claim>partial</claim>",
        "s0/r1/summarise": lemma(1, "First.", "a"),
        "s0/r2/summarise": lemma(2, "Second.", "By Lemma 1."),
    }
    run = await play(table | FOLLOWS, Params(lemma_votes=2, proof_votes=1, rounds=2))
    assert "Lemma 1 (confidence 1.00: 2 of 2 checks passed):\nFirst." in run.dispatcher.prompt("s0/r2/reason")
    for call in ("s0/r2/verify/s0.2/1", "s0/r2/summarise"):
        assert "Lemma 1:\nFirst." in run.dispatcher.prompt(call)
        assert "confidence 1.00" not in run.dispatcher.prompt(call)


ONE_READ: dict[str, Answer] = {
    "s0/r1/verify/s0.1/1": verdict(-1),
    "s0/r1/verify/s0.1/*": "It is nice.",
    "s0/r2/summarise": "<no-lemmas/>",
}


@pytest.mark.parametrize(("counted", "confidence"), [("against", 0.25), ("left_out", 1.0)])
async def test_one_readable_vote_of_four_admits_no_lemma(counted: str, confidence: float) -> None:
    params = Params.model_validate({"unread_votes": counted, "proof_votes": 1})
    run = await play(ONE_READ | FOLLOWS, params)
    assert verdicts(run)["s0.1"] == ("doubtful", confidence)
    assert verdicts(run)["s0.2"][1] == 1.0


def test_the_confidence_is_the_share_of_all_that_were_asked_and_none_at_all_stays_unscored() -> None:
    passed, failed, unread = Vote(first_fault=NO_FAULT), Vote(first_fault=2), Vote(unscored=Unscored(reason="unread"))
    of_all = aggregate((passed, passed, failed, unread), of_all=True)
    assert isinstance(of_all, Confidence)
    assert (of_all.share, of_all.of, of_all.valid) == (0.5, 4, 3)
    assert of_all.low < 0.5 < of_all.high
    assert isinstance(aggregate((unread, unread), of_all=True), Unscored)


SOLVED_BY_ONE: dict[str, Answer] = {
    "s0/r1/reason": "<claim>partial</claim>",
    "s0/r*/summarise": "<no-lemmas/>",
    "s1/r1/summarise": lemma(1, "All of it.", "Add."),
    "final/write/*": proof("By Lemma s1.1."),
}


async def test_rollouts_stop_once_one_has_a_solution_whose_lemmas_hold() -> None:
    params = Params(rollouts=3, lemma_votes=1, proof_votes=1)
    table = SOLVED_BY_ONE | {
        "s2/r1/reason": "<claim>partial</claim>",
        "s2/r1/summarise": lemma(1, "A part.", "p"),
        "s2/r2/*": "<no-lemmas/>",
    }
    run = await play(table | FOLLOWS, params)
    other = "rollout 1 has a complete solution whose lemmas hold"
    assert stops(run) == {(0, 1): other, (1, 1): "it claims a complete solution, and its lemmas hold", (2, 1): other}
    apart = await play(table | FOLLOWS, params.model_copy(update={"stop_together": False, "patience": 1}))
    assert "s2/r2/reason" in apart.dispatcher.keys


async def test_a_claim_whose_lemmas_fall_ends_its_own_rollout_only() -> None:
    params = Params(rollouts=2, lemma_votes=1, proof_votes=1, rounds=2)
    run = await play(SOLVED_BY_ONE | {"s1/r1/verify/*": verdict(1)} | FOLLOWS, params)
    assert stops(run)[0, 1] == ""
    assert stops(run)[1, 1] == "it claims a complete solution"
    assert "s0/r2/reason" in run.dispatcher.keys


async def test_a_claim_that_no_writer_could_write_up_is_named_in_the_outcome() -> None:
    table: dict[str, Answer] = {"s0/r1/summarise": "<no-lemmas/>", "final/write/*": "<no-proof>The case 2 is open.</no-proof>"}
    run = await play(table | FOLLOWS, SMALL)
    assert run.outcome.reason == "A round claims a complete solution, but there is no complete proof: The case 2 is open."
