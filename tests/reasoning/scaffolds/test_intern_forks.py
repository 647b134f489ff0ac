"""A fork takes over its parent's calls up to a control point; what a person changes there is in all later prompts."""

import pytest

from apps.reasoning.domain.control import Branch, Change, Command, CommandName
from apps.reasoning.domain.events import LemmaProposed, LemmaRetired
from apps.reasoning.scaffolds.intern_s1_mo.params import Params
from apps.reasoning.scaffolds.running.controls import ScriptedControls
from apps.reasoning.scaffolds.spec import Budget
from tests.reasoning.play import FOLLOWS, Answer, Played, lemma, play, proof, verdict

PARAMS = Params(rollouts=2, rounds=3, lemma_votes=2, proof_votes=1, stop_together=False)
TABLE: dict[str, Answer] = {
    "s*/r*/reason": "<claim>partial</claim>",
    "s0/r1/summarise": lemma(1, "Base.", "p") + lemma(2, "Top.", "By Lemma 1.") + lemma(3, "Alone.", "p"),
    "s1/r1/summarise": lemma(1, "base", "q") + lemma(2, "Other.", "q"),
    "s0/r2/summarise": lemma(4, "Late.", "By Lemma 3.") + lemma(5, "Base.", "again"),
    "s1/r2/summarise": lemma(3, "Own.", "q"),
    "s*/r3/summarise": lemma(9, "Last.", "p"),
    "final/write/*": proof("By Lemma s0.3."),
    "final/check/1/1": verdict(1),
    "final/revise/*": proof("By Lemma s0.3, again."),
}
NO_PROOF = "A corrected lemma needs a proof for the votes, or your acceptance."
BEFORE_VOTES = {"s0/r1/reason", "s1/r1/reason", "s0/r1/summarise", "s1/r1/summarise"}


def changed(name: CommandName, **args: object) -> tuple[Command, ...]:
    return (Command(id="c9", name=name, by="alice", args=args),)


async def fork(
    point: str, change: Change, commands: tuple[Command, ...] = (), parent: Played | None = None, **more: object
) -> Played:
    parent = parent or await play(TABLE | FOLLOWS, PARAMS)
    branch = Branch(run="parent", seq=1, point=point, change=change, commands=commands)
    return await play(TABLE | FOLLOWS, PARAMS, inherited=parent.journal.recorded, branch=branch, **more)  # type: ignore[arg-type]


def later_prompts(played: Played) -> str:
    return "\n".join(message.content for request in played.dispatcher.requests for message in request.messages)


async def test_a_lemma_left_out_is_in_no_later_prompt_and_the_calls_before_are_taken_over() -> None:
    parent = await play(TABLE | FOLLOWS, PARAMS)
    assert "Base." in later_prompts(parent)
    forked = await fork("r1/verify", "without", changed("leave_out_lemma", lemma="s0.1"), parent)
    taken_over = {record.key for record in forked.journal.records if record.was_inherited}
    assert taken_over >= BEFORE_VOTES
    for key in BEFORE_VOTES:
        assert forked.journal.recorded(key).final == parent.journal.recorded(key).final  # type: ignore[union-attr]
    assert forked.dispatcher.requests
    assert "Base." not in later_prompts(forked)
    assert "\nbase" not in later_prompts(forked), "its equal in the other rollout"
    assert not any("verify/s0.1/" in key for key in forked.dispatcher.keys)
    retired = {event.lemma: event.reason for event in forked.of("lemma.retired") if isinstance(event, LemmaRetired)}
    assert retired["s0.1"] == retired["s1.1"] == "left out of this fork by alice"
    assert retired["s0.2"] == "its proof uses s0.1, which is not in the library"
    assert retired["s0.5"] == "this fork leaves its statement out", "found again in a later round"


async def test_a_corrected_lemma_takes_the_place_of_the_old_one() -> None:
    args = {"lemma": "s0.1", "statement": "Sound base.", "proof": "First.\n\nSecond."}
    forked = await fork("r1/verify", "corrected", changed("correct_lemma", **args))
    assert {key for key in forked.dispatcher.keys if "s0.1" in key} == {f"s0/r1/verify/s0.1-fixed/{n}" for n in (1, 2)}
    assert "Sound base." in forked.dispatcher.prompt("s0/r1/verify/s0.2/1"), "what cites it is judged with the correction"
    assert "Sound base." in forked.dispatcher.prompt("s0/r2/reason")
    assert "Lemma 1:\nBase." not in later_prompts(forked)
    version = next(e for e in forked.of("lemma.proposed") if isinstance(e, LemmaProposed) and e.lemma == "s0.1-fixed")
    assert (version.origin, version.supersedes, version.steps) == ("human", "s0.1", ("First.", "Second."))
    assert "edge/s0.2/s0.1-fixed" in forked.events


async def test_an_accepted_correction_is_not_voted_on() -> None:
    args = {"lemma": "s0.1", "statement": "Sound base.", "proof": "", "accepted": True}
    forked = await fork("r1/verify", "corrected", changed("correct_lemma", **args))
    assert not any("s0.1-fixed" in key for key in forked.dispatcher.keys)
    assert "Sound base." in forked.dispatcher.prompt("s0/r2/reason")


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ({"lemma": "s0.8", "statement": "S.", "proof": "p"}, "There is no lemma s0.8 at this point."),
        (
            {"lemma": "s0.1", "statement": "S.", "proof": ""},
            "A corrected lemma needs a proof for the votes, or your acceptance.",
        ),
        ({"lemma": "s0.1", "statement": " ", "proof": "p"}, "The statement is empty."),
    ],
)
async def test_a_wrong_correction_is_refused_in_words(args: dict[str, object], reason: str) -> None:
    forked = await fork("r1/verify", "corrected", changed("correct_lemma", **args))
    (refused,) = forked.of("control.refused")
    assert refused.model_dump()["reason"] == reason
    assert forked.dispatcher.requests == [], "nothing changed, so all is taken over"


async def test_a_hint_enters_the_prompts_from_its_round_on() -> None:
    forked = await fork("r2/reason", "hint", changed("hint", text="Reverse the sum."))
    assert not any("/r1/" in key for key in forked.dispatcher.keys)
    assert "- Reverse the sum." in forked.dispatcher.prompt("s0/r2/reason")
    assert [event.model_dump()["point"] for event in forked.of("control.applied")] == ["r2/reason"]


async def test_an_unchanged_fork_draws_the_calls_after_its_point_again() -> None:
    parent = await play(TABLE | FOLLOWS, PARAMS)
    forked = await fork("r2/reason", "unchanged", parent=parent, redraws={"r2/reason": 99})
    made = {request.key: request.seed for request in forked.dispatcher.requests}
    before = {request.key: request.seed for request in parent.dispatcher.requests}
    assert set(made) == {key for key in before if "/r1/" not in key}
    assert all(seed != before[key] for key, seed in made.items())


async def test_commands_to_the_parent_count_up_to_the_point_of_the_fork_only() -> None:
    early, late = changed("hint", text="Early.")[0], Command(id="c2", name="hint", by="bob", args={"text": "Go home."})
    controls = ScriptedControls({0: [early], 10: [late]})
    parent = await play(TABLE | FOLLOWS, PARAMS, controls=controls)
    assert [event.model_dump()["point"] for event in parent.of("control.applied")] == ["r1/reason", "r3/reason"]
    forked = await fork("r2/reason", "unchanged", parent=parent, redraws={"r2/reason": 99})
    assert "- Early." in forked.dispatcher.prompt("s0/r3/reason")
    assert "Go home." not in later_prompts(forked)


async def test_a_fork_stopped_anywhere_continues_with_the_same_events() -> None:
    parent = await play(TABLE | FOLLOWS, PARAMS)
    args = {"lemma": "s0.1", "statement": "Sound base.", "proof": "p"}
    for point, change, commands, redraws in (
        ("r1/verify", "without", changed("leave_out_lemma", lemma="s0.1"), {}),
        ("r1/verify", "corrected", changed("correct_lemma", **args), {}),
        ("r2/reason", "hint", changed("hint", text="Reverse."), {"r2/reason": 5}),
    ):
        whole = await fork(point, change, commands, parent, redraws=redraws)  # type: ignore[arg-type]
        for cut in range(0, len(whole.journal.records) + 1, 2):
            again = await fork(point, change, commands, parent, redraws=redraws, journal=whole.journal.cut(cut))  # type: ignore[arg-type]
            assert again.events == whole.events, (point, cut)
            assert again.outcome == whole.outcome


async def test_a_fork_of_a_run_whose_budget_ended_its_rounds_follows_it_to_the_point() -> None:
    parent = await play(TABLE | FOLLOWS, PARAMS, budget=Budget(calls=20))
    assert not any("/r3/" in key for key in parent.dispatcher.keys)
    hint = changed("hint", text="Reverse.")
    forked = await fork("final/revise/1", "hint", hint, parent, budget=Budget(calls=20))
    assert set(forked.dispatcher.keys) == {"final/revise/1/1", "final/check/2/1"}
