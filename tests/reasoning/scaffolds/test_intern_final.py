"""The final phase: writing, marking, revising, accepting; and what is said where nothing was accepted."""

import pytest

from apps.reasoning.domain.events import OutputUnread, ProofDrafted, VerdictReached
from apps.reasoning.scaffolds.intern_s1_mo.params import Params
from tests.reasoning.play import FOLLOWS, Answer, Played, final, play, proof, verdict

FAULT = '<check step="1" sound="no" severity="gap">The case $n=2$ is missing.</check>\n<verdict>1</verdict>'


def drafted(played: Played) -> list[tuple[str, str, int]]:
    return [
        (event.proof, event.revises, event.candidate) for event in played.of("proof.drafted") if isinstance(event, ProofDrafted)
    ]


def verdicts(played: Played) -> dict[str, str]:
    found = [event for event in played.of("verdict.reached") if isinstance(event, VerdictReached)]
    return {event.subject: event.status for event in found if event.subject.startswith("proof/")}


async def test_a_fault_is_revised_and_the_revision_accepted() -> None:
    table: dict[str, Answer] = {
        "final/check/1/2": FAULT,
        "final/revise/1/1": "Finding 1: repaired.\n" + proof("Now with $n=2$."),
    }
    played = await play(table | FOLLOWS, Params())
    assert drafted(played) == [("proof/1", "", 0), ("proof/2", "proof/1", 0)]
    assert verdicts(played) == {"proof/1": "not accepted", "proof/2": "accepted"}
    prompt = played.dispatcher.prompt("final/revise/1/1")
    assert "Finding 1. The first fault is in step 1. Step 1: The case $n=2$ is missing." in prompt
    assert "Step 1. By Lemma 2 we have $2S=n(n+1)$." in prompt
    assert played.outcome.proof == "proof/2"
    assert played.outcome.ended_by == "accepted"


async def test_a_revision_that_names_a_missing_lemma_counts_and_its_verifiers_are_informed() -> None:
    table: dict[str, Answer] = {
        "final/check/1/2": FAULT,
        "final/revise/1/1": proof("By Lemma 2 and Lemma 21 it holds.", "By Lemma 21 it holds too."),
    }
    played = await play(table | FOLLOWS, Params())
    assert drafted(played)[1] == ("proof/2", "proof/1", 0)
    unread = [event for event in played.of("output.unread") if isinstance(event, OutputUnread)]
    assert [(one.call, one.part) for one in unread] == [("final/revise/1/1", True)] * 2
    assert unread[0].reason == "proof/2, step 1: 'Lemma 21' names a lemma that does not exist"
    assert played.dispatcher.prompt("final/check/2/1").count("There is no Lemma 21, though the solution names it.") == 1
    assert "There is no Lemma" not in played.dispatcher.prompt("final/check/1/1")


async def test_without_acceptance_the_version_with_the_best_share_is_named_and_labelled() -> None:
    table: dict[str, Answer] = {
        "final/check/1/[12]": FAULT,
        "final/check/2/1": FAULT,
        "final/check/3/*": FAULT,
        "final/revise/*": proof("Again."),
    }
    played = await play(table | FOLLOWS, Params(revisions=2))
    assert played.outcome.model_dump() == {
        "accepted": False,
        "proof": "proof/2",
        "reason": "Not accepted: this is the best of all versions; 3 of 4 valid votes found no fault.",
        "ended_by": "exhausted",
    }
    assert [row.model_dump()["accepted"] for row in played.of("proof.selected")] == [False]


async def test_candidates_are_written_marked_and_revised_side_by_side() -> None:
    table: dict[str, Answer] = {
        "final/check/1.1/*": FAULT,
        "final/check/1.2/1": FAULT,
        "final/check/2.1/1": FAULT,
        "final/revise/1/*": proof("Better."),
    }
    played = await play(table | FOLLOWS, Params(candidates=2, proof_votes=2))
    assert drafted(played) == [
        ("proof/1.1", "", 1),
        ("proof/1.2", "", 2),
        ("proof/2.1", "proof/1.2", 1),
        ("proof/2.2", "proof/1.2", 2),
    ]
    assert played.outcome.proof == "proof/2.2"


@pytest.mark.parametrize(("unread", "accepted"), [(1, True), (2, False)])
async def test_acceptance_needs_enough_valid_votes(unread: int, accepted: bool) -> None:
    table: dict[str, Answer] = {f"final/check/1/{index}": "Looks right." for index in range(1, unread + 1)}
    played = await play(table | FOLLOWS, Params())
    assert played.outcome.accepted is accepted
    if not accepted:
        assert played.outcome.reason == "Not accepted: 2 of 2 valid votes found no fault, but 3 valid votes are needed."
        assert not [key for key in played.dispatcher.keys if key.startswith("final/revise")]


async def test_a_proof_without_a_readable_vote_is_neither_accepted_nor_refused() -> None:
    played = await play({"final/check/*": "Sure."} | FOLLOWS, Params())
    assert played.outcome.accepted is None
    assert played.outcome.reason == "Not accepted: none of 4 votes could be read."
    assert verdicts(played) == {"proof/1": "unscored"}


async def test_a_wrong_lemma_is_named_by_id_and_an_unknown_one_is_a_fault_at_no_step() -> None:
    table: dict[str, Answer] = {
        "final/check/1/1": "It fails for $n=1$.\n<verdict>LEMMA 2</verdict>",
        "final/check/1/2": "<verdict>LEMMA 9</verdict>",
        "final/revise/*": "<no-proof>Lemma 2 cannot be saved.</no-proof>",
    }
    played = await play(table | FOLLOWS, Params(revisions=1))
    votes = {row["index"]: row for event in played.of("vote.cast") if (row := event.model_dump())["subject"] == "proof/1"}
    assert votes[1]["wrong_lemma"] == "s0.2"
    assert votes[1]["first_fault"] is None
    assert (votes[2]["unscored"], votes[2]["first_fault"]) == ("", 0)
    revised = played.dispatcher.prompt("final/revise/1/1")
    assert "There is a fault. It names Lemma 9 as wrong, which does not exist." in revised
    assert "Lemma 2 is wrong. It fails for $n=1$." in revised
    assert played.outcome.proof == "proof/1"


async def test_a_writer_who_declines_leaves_no_proof_and_says_why() -> None:
    played = await play({"final/write/*": "<no-proof>The case $n=2$ is open.</no-proof>"} | FOLLOWS, Params())
    assert played.outcome.accepted is None
    assert played.outcome.ended_by == "exhausted"
    assert played.outcome.reason == "2 lemmas hold, but there is no complete proof: The case $n=2$ is open."


@pytest.mark.parametrize("text", ["By Lemma 2.", "<proof></proof>", final("<proof><step>Let", finish_reason="length")])
async def test_what_is_no_proof_is_not_marked(text: Answer) -> None:
    played = await play({"final/write/*": text} | FOLLOWS, Params())
    assert not [key for key in played.dispatcher.keys if key.startswith("final/check")]
    assert played.outcome.accepted is None
    assert played.outcome.ended_by == "nothing-readable"


async def test_the_marker_sees_the_lemmas_the_proof_rests_on_and_no_others() -> None:
    played = await play({"final/write/*": proof("By Lemma 1.")} | FOLLOWS, Params())
    prompt = played.dispatcher.prompt("final/check/1/1")
    assert "Lemma 1:" in prompt
    assert "Lemma 2:" not in prompt


async def test_ablations_switch_their_part_off() -> None:
    unmarked = await play(FOLLOWS, Params(process_verifier=False))
    assert unmarked.outcome.accepted is None
    assert unmarked.outcome.reason == "The proof was not checked: the process verifier is switched off."
    unchecked = await play(FOLLOWS, Params(theorem_verifier=False))
    assert not [key for key in unchecked.dispatcher.keys if "/verify/" in key]
    assert unchecked.outcome.accepted
    single = await play({"s*/r*/reason": "<claim>partial</claim>"} | FOLLOWS, Params(single_round=True))
    assert len(single.of("round.began")) == 1


async def test_a_slower_verdict_cannot_be_bought_with_a_low_acceptance_share() -> None:
    table: dict[str, Answer] = {"final/check/1/1": verdict(1)}
    played = await play(table | FOLLOWS, Params(accept_share=0.75))
    assert played.outcome.reason == "Accepted: 3 of 4 valid votes found no fault."
