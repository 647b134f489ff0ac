"""What people ask for at control points: it takes effect in later prompts, and replays alike."""

import pytest

from apps.reasoning.domain.control import Command, CommandName
from apps.reasoning.domain.errors import RunCancelled
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.scaffolds.intern_s1_mo.params import Params
from apps.reasoning.scaffolds.running.controls import ScriptedControls
from tests.reasoning.play import FOLLOWS, Answer, Played, lemma, play, proof, verdict

# Live control points of a two-round run, in order:
R1_REASON, R1_SUMMARISE, R1_VERIFY, R1_VOTES, R1_END, R2_REASON = range(6)
CHECK, VOTES = 11, 12
TABLE: dict[str, Answer] = {
    "s0/r*/reason": "<claim>partial</claim>",
    "s0/r1/summarise": lemma(1, "Base.", "p") + lemma(2, "Top.", "By Lemma 1.") + lemma(3, "Alone.", "p"),
    "s0/r2/summarise": lemma(4, "Late.", "p"),
    "final/write/*": proof("By Lemma 3."),
}
PARAMS = Params(rounds=2, lemma_votes=1, proof_votes=1)


def command(name: CommandName, number: int = 1, **args: object) -> Command:
    return Command(id=f"c{number}", name=name, by="alice", args=args)


async def steered(script: dict[int, list[Command]], table: dict[str, Answer] | None = None) -> Played:
    return await play({**(table or {}), **TABLE} | FOLLOWS, PARAMS, controls=ScriptedControls(script))


def library(played: Played, key: str) -> str:
    return (
        played.dispatcher.prompt(key)
        .split("## Lemma library")[1]
        .split("## Lemmas that did not")[0]
        .split("## Working notes")[0]
    )


async def test_a_hint_reaches_the_next_reasoner_inside_a_fence() -> None:
    played = await steered({R1_END: [command("hint", text="Reverse the sum. <verdict>")]})
    assert "Reverse the sum" not in played.dispatcher.prompt("s0/r1/reason")
    suggestions = played.dispatcher.prompt("s0/r2/reason").split("## Suggestions from people")[1]
    assert "- Reverse the sum. ‹verdict›" in suggestions


async def test_a_hint_waits_for_a_prompt_that_reads_it() -> None:
    hint = {R1_SUMMARISE: [command("hint", text="Reverse the sum.")]}
    (applied,) = (await steered(hint)).of("control.applied")
    assert applied.model_dump()["point"] == "r2/reason"
    late = {CHECK: [command("hint", text="Reverse the sum.")]}
    played = await steered(late, {"final/check/1/1": verdict(1), "final/revise/*": proof("By Lemma 3.")})
    (applied,) = played.of("control.applied")
    assert applied.model_dump()["point"] == "final/revise/1"
    assert "Reverse the sum" in played.dispatcher.prompt("final/revise/1/1")


@pytest.mark.parametrize("point", [R2_REASON + 1, R2_REASON + 4, CHECK, VOTES])
async def test_a_hint_after_the_last_prompt_that_reads_hints_is_never_applied(point: int) -> None:
    played = await steered({point: [command("hint", text="Reverse the sum.")]})
    assert played.outcome.accepted is True
    assert played.of("control.applied") == []


async def test_a_rejected_lemma_and_what_rests_on_it_leave_later_prompts() -> None:
    played = await steered({R1_END: [command("reject_lemma", lemma="s0.1", reason="False for $n=1$.")]})
    for key in ("s0/r2/reason", "s0/r2/summarise", "final/write/1"):
        assert "Base." not in library(played, key)
        assert "Top." not in library(played, key)
        assert "Alone." in library(played, key)
    retired = [(row["lemma"], row["reason"]) for event in played.of("lemma.retired") if (row := event.model_dump())]
    assert retired == [("s0.1", "False for $n=1$."), ("s0.2", "its proof uses s0.1, which a person rejected")]


async def test_an_accepted_lemma_enters_the_library_whatever_its_votes_say() -> None:
    played = await steered(
        {R1_END: [command("accept_lemma", lemma="s0.3", reason="I proved it.")]}, {"s0/r1/verify/s0.3/*": verdict(1)}
    )
    assert "Lemma 3 (accepted by a person)" in library(played, "s0/r2/reason")
    assert [event.model_dump()["lemma"] for event in played.of("lemma.restored")] == ["s0.3"]


async def test_a_persons_lemma_with_a_proof_is_voted_on_and_used() -> None:
    inject = command("inject_lemma", statement="The sum is symmetric.", proof="By Lemma 3.\n\nReverse it.")
    played = await steered({R1_END: [inject]}, {"final/write/1": proof("By Lemma H1.")})
    (human,) = [row for event in played.of("lemma.proposed") if (row := event.model_dump())["origin"] == "human"]
    assert (human["lemma"], human["steps"]) == ("h.1", ("By Lemma 3.", "Reverse it."))
    assert "human/verify/h.1/1" in played.dispatcher.keys
    assert "Lemma H1 (confidence 1.00: 1 of 1 checks passed):\nThe sum is symmetric." in library(played, "s0/r2/reason")
    assert {"edge/h.1/s0.3", "edge/proof/1/h.1"} <= set(played.events)


async def test_a_persons_lemma_without_a_proof_is_a_suggestion_only() -> None:
    played = await steered({R1_END: [command("inject_lemma", statement="The sum is symmetric.")]})
    assert "symmetric" not in library(played, "s0/r2/reason")
    assert "Lemma H1, not proved: The sum is symmetric." in played.dispatcher.prompt("s0/r2/reason")


async def test_the_write_up_can_be_asked_for_early() -> None:
    played = await steered(
        {R1_END: [command("write_up")]}, {"final/check/*": verdict(1), "final/revise/*": "<no-proof>…</no-proof>"}
    )
    assert "s0/r2/reason" not in played.dispatcher.keys
    assert played.outcome.ended_by == "written-up"


@pytest.mark.parametrize("point", [CHECK, VOTES])
async def test_a_proof_that_rests_on_a_rejected_lemma_is_not_accepted_whenever_its_votes_come(point: int) -> None:
    played = await steered(
        {point: [command("reject_lemma", lemma="s0.3", reason="Wrong.")]}, {"final/revise/*": "<no-proof>…</no-proof>"}
    )
    assert played.outcome.accepted is False
    assert played.outcome.reason == "Not accepted: it rests on s0.3, which a person rejected."
    assert "Lemma 3 was rejected by a person: Wrong." in played.dispatcher.prompt("final/revise/1/1")


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (command("reject_lemma", lemma="s0.9"), "There is no lemma s0.9."),
        (command("hint", text="  "), "The hint is empty."),
        (command("hint"), "The hint is empty."),
        (command("inject_lemma", statement=""), "The statement is empty."),
        (command("inject_lemma", statement="x" * 20_001), "The statement is longer than 20000 characters."),
    ],
)
async def test_what_cannot_be_done_is_refused_with_a_reason(asked: Command, reason: str) -> None:
    played = await steered({R1_END: [asked]})
    assert [event.model_dump()["reason"] for event in played.of("control.refused")] == [reason]
    assert played.of("control.applied") == []


async def test_cancelling_at_a_control_point_ends_the_run_there() -> None:
    journal = InMemoryJournal()
    controls = ScriptedControls({R1_SUMMARISE: RunCancelled()})
    with pytest.raises(RunCancelled):
        await play(TABLE | FOLLOWS, PARAMS, controls=controls, journal=journal)
    assert [record.key for record in journal.records] == ["s0/r1/reason"]


class ByRecords:
    """Gives out commands at the first live control point with this many committed records."""

    def __init__(self, journal: InMemoryJournal, script: dict[int, list[Command]]) -> None:
        self.journal = journal
        applied = {key for _, key, event in journal.events if event.kind == "control.applied"}
        waiting = {at: [c for c in commands if f"control/{c.id}/applied" not in applied] for at, commands in script.items()}
        self.waiting = {at: commands for at, commands in waiting.items() if commands}

    async def take(self) -> list[Command]:
        due = [at for at in self.waiting if at <= len(self.journal.records)]
        return [command for at in due for command in self.waiting.pop(at)]


async def test_a_steered_run_resumes_to_the_same_end_from_every_record() -> None:
    script = {
        5: [command("reject_lemma", 1, lemma="s0.1", reason="No."), command("hint", 2, text="Look at $n=3$.")],
        6: [command("inject_lemma", 3, statement="Mine.", proof="Plain.")],
        12: [command("accept_lemma", 4, lemma="s0.1", reason="After all.")],
    }
    journal = InMemoryJournal()
    whole = await play(TABLE | FOLLOWS, PARAMS, journal=journal, controls=ByRecords(journal, script))
    points = [(row["command"], row["point"]) for event in whole.of("control.applied") if (row := event.model_dump())]
    assert points == [("c1", "r1/votes"), ("c3", "r1/end"), ("c2", "r2/reason"), ("c4", "r2/votes")]
    for cut in range(len(journal.records) + 1):
        kept = journal.cut(cut)
        again = await play(TABLE | FOLLOWS, PARAMS, journal=kept, controls=ByRecords(kept, script))
        assert again.outcome == whole.outcome
        assert again.events == whole.events, cut
