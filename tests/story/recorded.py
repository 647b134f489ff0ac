"""Runs of every scaffold, as events: played once, with a hint, a check and verdicts of people added."""

import functools
from collections.abc import Sequence

from apps.reasoning.domain.check_events import FormulasChecked
from apps.reasoning.domain.control import ControlApplied, ControlRequested
from apps.reasoning.domain.event_base import Event
from apps.reasoning.domain.events import RunFinished
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.story.parts import Numbered
from tests.lemmas.story import story
from tests.reasoning.play import play
from tests.reasoning.plays import plays_of

PLAYS = [(name, what) for name in sorted(SCAFFOLDS) for what in ("course", "most", "golden")]


async def played(name: str, what: str) -> list[Numbered[Event]]:
    """The events of a scaffold's play."""
    plays = plays_of(name)
    params, table = (
        plays.course if what == "course" else plays.most if what == "most" else (plays.golden.params, plays.golden.table)
    )
    run = await play(table, params, scaffold=name, problem=plays.problem)
    events = [event for _, _, event in run.journal.events]
    return list(enumerate([*events, *_added(events), RunFinished(**run.outcome.model_dump())], 1))


@functools.cache
def lemmas_story() -> list[Numbered[Event]]:
    """The story of lemmas: merges, corrections, verdicts of people, a revised proof."""
    return [(seq, event) for seq, (_, event) in enumerate(story(), 1)]


def _added(events: Sequence[Event]) -> list[Event]:
    """What no play has: a hint, formula checks, and two people who differ about a lemma."""
    subjects = [name for event in events if (name := getattr(event, "candidate", "") or getattr(event, "lemma", ""))][:2]
    hint = ControlRequested(command="h", name="hint", by="Ann", args={"text": "Look at parity."})
    checks = [FormulasChecked(subject=name, outcome="survived", survived=1, call=f"check/{name}") for name in subjects]
    people: list[Event] = []
    for command, name, by in (("a", "accept_lemma", "Ann"), ("b", "reject_lemma", "Ben"), ("c", "accept_lemma", "Ben")):
        args = {"lemma": next((event.lemma for event in events if event.kind == "lemma.proposed"), "")}  # type: ignore[attr-defined]
        asked = ControlRequested.model_validate({"command": command, "name": name, "by": by, "args": args})
        people += [asked, ControlApplied(command=command, name=asked.name, point="p")]
    return [hint, ControlApplied(command="h", name="hint", point="p"), *checks, *people]
