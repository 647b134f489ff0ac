"""The library: votes and thresholds, corrections, numbers, duplicates, uses, and several rollouts."""

import pytest

from apps.reasoning.domain.events import EdgeAdded, LemmaProposed, LemmaRetired, OutputUnread, VerdictReached
from apps.reasoning.scaffolds.intern_s1_mo.params import Params
from tests.reasoning.play import FOLLOWS, Answer, Fallback, Played, lemma, play, proof, verdict

PARTIAL = Fallback({"s*/r*/reason": "<claim>partial</claim>", "s*/r[23]/summarise": "<no-lemmas/>"})
ONE_VOTE = Params(lemma_votes=1, proof_votes=1, rounds=3)


def statuses(played: Played) -> dict[str, str]:
    return {event.subject: event.status for event in played.of("verdict.reached") if isinstance(event, VerdictReached)}


def notes(played: Played) -> list[str]:
    return [event.reason for event in played.of("output.unread") if isinstance(event, OutputUnread)]


def edges(played: Played) -> set[tuple[str, str]]:
    return {(event.user, event.used) for event in played.of("edge.added") if isinstance(event, EdgeAdded)}


def retired(played: Played) -> dict[str, str]:
    return {event.lemma: event.reason for event in played.of("lemma.retired") if isinstance(event, LemmaRetired)}


@pytest.mark.parametrize(
    ("passing", "status", "is_in"),
    [(4, "verified", True), (2, "verified", True), (1, "doubtful", False), (0, "rejected", False)],
)
async def test_the_share_of_passing_votes_decides_status_and_admission(passing: int, status: str, is_in: bool) -> None:
    table: dict[str, Answer] = {f"s0/r1/verify/s0.1/{index}": verdict(-1 if index <= passing else 1) for index in range(1, 5)}
    table["s0/r1/summarise"] = lemma(1, "First.", "p")
    played = await play(table | PARTIAL | FOLLOWS, Params(rounds=2))
    assert statuses(played)["s0.1"] == status
    library = played.dispatcher.prompt("s0/r2/reason").split("## Lemma library")[1].split("## Lemmas that did not")[0]
    assert ("First." in library) == is_in


async def test_a_corrected_lemma_keeps_its_number_and_takes_the_old_ones_place() -> None:
    table: dict[str, Answer] = {
        "s0/r1/summarise": lemma(1, "Wrong for $n=1$.", "p") + lemma(2, "Fine.", "p"),
        "s0/r1/verify/s0.1/*": verdict(1),
        "s0/r2/summarise": lemma("1-fixed", "Right for $n>1$.", "By Lemma 2."),
        "s0/r3/summarise": lemma("1-fixed", "Right for $n\\ge 1$.", "By Lemma 1-fixed and $n=1$."),
    }
    played = await play(table | PARTIAL | FOLLOWS, ONE_VOTE)
    versions = [event for event in played.of("lemma.proposed") if isinstance(event, LemmaProposed) and event.number == 1]
    assert [(event.lemma, event.supersedes) for event in versions] == [
        ("s0.1", ""),
        ("s0.1-fixed", "s0.1"),
        ("s0.1-fixed2", "s0.1-fixed"),
    ]
    assert retired(played) == {"s0.1": "superseded by s0.1-fixed", "s0.1-fixed": "superseded by s0.1-fixed2"}
    assert ("s0.1-fixed2", "s0.1-fixed") in edges(played)
    prompt = played.dispatcher.prompt("final/write/1")
    assert "Lemma 1-fixed2 (" in prompt
    assert "Right for $n>1$." not in prompt


async def test_a_correction_that_does_not_hold_leaves_the_old_version_alone() -> None:
    table: dict[str, Answer] = {
        "s0/r1/summarise": lemma(1, "Old.", "p"),
        "s0/r2/summarise": lemma("1-fixed", "New.", "p"),
        "s0/r2/verify/*": verdict(1),
    }
    played = await play(table | PARTIAL | FOLLOWS, ONE_VOTE)
    assert retired(played) == {}
    assert "Old." in played.dispatcher.prompt("final/write/1")


async def test_a_number_that_is_taken_is_renumbered_and_its_mentions_make_no_edge() -> None:
    table: dict[str, Answer] = {
        "s0/r1/summarise": lemma(1, "First.", "p"),
        "s0/r2/summarise": lemma(1, "Second.", "p") + lemma(5, "Third.", "By Lemma 1."),
    }
    played = await play(table | PARTIAL | FOLLOWS, ONE_VOTE)
    proposed = [event.lemma for event in played.of("lemma.proposed") if isinstance(event, LemmaProposed)]
    assert proposed == ["s0.1", "s0.2", "s0.5"]
    assert edges(played) & {("s0.5", "s0.1"), ("s0.5", "s0.2")} == set()
    assert any("renumbered" in note for note in notes(played))
    assert any("may mean an old or a new lemma" in note for note in notes(played))


async def test_a_use_of_a_missing_lemma_makes_no_edge_and_is_reported() -> None:
    played = await play({"s0/r1/summarise": lemma(1, "First.", "By Lemma 9.")} | FOLLOWS, ONE_VOTE)
    assert notes(played)[0] == "s0.1, step 1: 'Lemma 9' names a lemma that does not exist"


async def test_a_circular_use_is_refused_and_reported() -> None:
    table = {"s0/r1/summarise": lemma(1, "First.", "By Lemma 2.") + lemma(2, "Second.", "By Lemma 1.")} | FOLLOWS
    played = await play(table, ONE_VOTE)
    assert ("s0.1", "s0.2") in edges(played)
    assert ("s0.2", "s0.1") not in edges(played)
    assert any("circular" in note for note in notes(played))


async def test_a_lemma_that_rests_on_one_that_fell_falls_as_well() -> None:
    table: dict[str, Answer] = {
        "s0/r1/summarise": lemma(1, "Base.", "p") + lemma(2, "Mid.", "By Lemma 1.") + lemma(3, "Top.", "By Lemma 2."),
        "s0/r1/verify/s0.1/*": verdict(1),
    }
    played = await play(table | PARTIAL | FOLLOWS, Params(lemma_votes=1, rounds=1))
    assert set(retired(played)) == {"s0.2", "s0.3"}
    assert played.outcome.reason == "None of 3 lemmas held, so there was nothing to write up."


async def test_a_library_lemma_said_again_is_merged_and_not_voted_on_again() -> None:
    table: dict[str, Answer] = {
        "s0/r1/summarise": lemma(1, "Let $a>0$. Then $a+1>1$.", "p"),
        "s0/r2/summarise": lemma(2, "let $a > 0$; then $a + 1 > 1$", "q") + lemma(3, "Next.", "By Lemma 2."),
    }
    played = await play(table | PARTIAL | FOLLOWS, ONE_VOTE)
    assert [row.model_dump()["into"] for row in played.of("lemma.merged")] == ["s0.1"]
    assert not [key for key in played.dispatcher.keys if key.startswith("s0/r2/verify/s0.2")]
    assert statuses(played)["s0.3"] == "verified"
    assert "s0.3" not in retired(played)


TWO: dict[str, Answer] = {
    "s0/r1/summarise": lemma(1, "Let $a>0$. Then $\\dfrac{a}{1}+1>1$.", "p") + lemma(2, "Own of zero.", "By Lemma 1."),
    "s1/r1/summarise": lemma(1, "Own of one.", "p")
    + lemma(2, "Let $a > 0$. Then $\\frac{a}{1}+1>1$.", "By Lemma 1.")
    + lemma(3, "Let $a > 0$. Then surely $\\frac{a}{1}+1>1$.", "By Lemma 2."),
    "final/write/*": proof("By Lemma s1.3.", "By Lemmas s0.2 and s1.2."),
}


async def test_rollouts_keep_their_own_libraries_and_merge_what_is_equal() -> None:
    played = await play(TWO | PARTIAL | FOLLOWS, Params(rollouts=2, rounds=2, lemma_votes=1))
    assert [(row.model_dump()["lemma"], row.model_dump()["into"]) for row in played.of("lemma.merged")] == [("s1.2", "s0.1")]
    assert [(row.model_dump()["lemma"], row.model_dump()["other"]) for row in played.of("lemma.alike")] == [("s1.3", "s0.1")]
    zero, one = (played.dispatcher.prompt(f"s{index}/r2/reason") for index in (0, 1))
    assert "Own of zero." in zero
    assert "Own of one." not in zero
    assert "Lemma 2 (confidence 1.00: 1 of 1 checks passed):\nLet $a > 0$." in one


async def test_the_final_library_names_merged_lemmas_by_id_throughout() -> None:
    played = await play(TWO | PARTIAL | FOLLOWS, Params(rollouts=2, rounds=2, lemma_votes=1))
    prompt = played.dispatcher.prompt("final/write/1")
    assert [label for label in ("s0.1", "s0.2", "s1.1", "s1.2", "s1.3") if f"Lemma {label} (" in prompt] == [
        "s0.1",
        "s0.2",
        "s1.1",
        "s1.3",
    ]
    assert "Step 1. By Lemma s0.1." in prompt
    assert {(user, used) for user, used in edges(played) if user == "proof/1"} == {
        ("proof/1", "s1.3"),
        ("proof/1", "s0.2"),
        ("proof/1", "s0.1"),
    }


async def test_lemmas_of_a_round_are_taken_up_to_the_limit() -> None:
    table = {"s0/r1/summarise": "".join(lemma(number, f"Number {number}.", "p") for number in range(1, 6))} | FOLLOWS
    played = await play(table, Params(lemma_votes=1, lemmas_per_round=3))
    assert len(played.of("lemma.proposed")) == 3
    assert any("2 lemmas were left out" in note for note in notes(played))


async def test_a_long_library_is_cut_to_what_the_writer_can_use_with_all_it_rests_on() -> None:
    table: dict[str, Answer] = {
        "s0/r1/summarise": lemma(1, "Base.", "p") + lemma(2, "Weak.", "p") + lemma(3, "Top.", "By Lemma 1."),
        "s0/r1/verify/s0.2/1": verdict(1),
        "s0/r1/verify/s0.1/1": verdict(1),
    }
    played = await play(table | FOLLOWS, Params(lemma_votes=2, final_lemmas=2))
    library = played.dispatcher.prompt("final/write/1").split("## Lemma library")[1].split("## Working notes")[0]
    assert "Top." in library
    assert "Base." in library
    assert "Weak." not in library


async def test_lemmas_that_say_the_same_hold_as_one() -> None:
    declined: dict[str, Answer] = {"final/write/*": "<no-proof>The case $n=2$ is open.</no-proof>"}
    played = await play(TWO | PARTIAL | declined | FOLLOWS, Params(rollouts=2, rounds=2, lemma_votes=1))
    assert played.outcome.reason.startswith("4 lemmas hold")
