"""Python and JavaScript fold the events of a run into the same story, after every few events of runs of every scaffold."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from apps.explorations.replay import small_fields
from apps.reasoning.domain.candidate_events import CandidateJudged, CandidateScored
from apps.reasoning.domain.event_base import Event
from apps.reasoning.domain.events import CallBegan, CallEnded, CallFailed, VoteCast
from apps.reasoning.story.candidates import Report
from apps.reasoning.story.lemmas import Judged, LemmaVersion, ProofVersion, is_pass
from apps.reasoning.story.parts import Numbered
from apps.reasoning.story.run_story import RunStory
from tests.node import run_script
from tests.story.recorded import PLAYS, lemmas_story, played

STEP = 5


def in_the_browser(events: list[Numbered[Event]], after: list[int]) -> Any:
    rows = [[seq, 0, event.kind, small_fields(event.kind, event.model_dump(mode="json"))] for seq, event in events]
    return run_script(str(Path(__file__).with_name("facts.mjs")), {"rows": rows, "after": after})


def facts(story: RunStory) -> dict[str, Any]:
    """What the replay's script is asked too."""
    candidates, versions, proofs = story.candidates.by_id, story.lemmas.versions, story.lemmas.proofs
    subjects = {name: _counts(one) for name, one in (*versions.items(), *proofs.items())}
    subjects |= {
        name: [one.passes, one.valid, one.total, one.expected, one.confidence, None, None, "", ""]
        for name, one in candidates.items()
    }
    votes: dict[str, list[list[Any]]] = {}
    for _, vote in story.lemmas.votes:
        votes.setdefault(vote.subject, []).append([vote.index, _mark(vote)])
    reports = sorted((seq, name, report) for name, one in candidates.items() for seq, report in one.reports)
    for _, name, report in reports:
        votes.setdefault(name, []).append([report.index, _mark_of_report(report)])
    judged = Counter(_mark_of_report(report) for _, _, report in reports if isinstance(report, CandidateJudged))
    return {
        "seq": story.seq,
        "subjects": dict(sorted(subjects.items())),
        "open": list(story.calls.open),
        "tools": {call: one.job for call, one in story.calls.tools.items()},
        "merged": {name: one.merged_into for name, one in versions.items() if one.merged_into},
        "retired": sorted(name for name, one in versions.items() if one.is_retired),
        "finders": {name: one.found_in for name, one in versions.items()},
        "people": story.lemmas.people_words,
        "checks": {name: one.outcome for name, (_, one) in story.checks.of.items()},
        "kept": sorted(name for name, one in candidates.items() if one.kept),
        "remembered": {name: one.remembered for name, one in candidates.items() if one.memory},
        "votes": votes,
        "judgements": {"passed": judged["pass"], "failed": judged["fault"], "unread": judged["unread"]},
        "tools_used": [story.talks.worked, story.talks.wanted],
        "selected": story.course.selected[1].proof if story.course.selected else "",
        "over": story.course.finished is not None,
    }


def _counts(one: Judged) -> list[Any]:
    status = one.judged if isinstance(one, LemmaVersion) else one.status if isinstance(one, ProofVersion) else ""
    return [one.passes, one.valid, one.total, one.expected, one.confidence, one.low, one.high, one.unscored, status]


def _mark(vote: VoteCast) -> str:
    return "unread" if vote.unscored else "pass" if is_pass(vote) else "fault"


def _mark_of_report(report: Report) -> str:
    if report.unscored:
        return "unread"
    if isinstance(report, CandidateScored):
        return "pass" if report.score == report.scale else "part" if report.score else "fault"
    return "pass" if report.passed else "fault"


def check(events: list[Numbered[Event]]) -> None:
    after = [*range(1, len(events), STEP), len(events)]
    browser = in_the_browser(events, after)
    story = RunStory()
    ours = []
    for place, (seq, event) in enumerate(events, 1):
        story.add(seq, event)
        if place in after:
            ours.append(facts(story))
    assert browser["found"] == ours
    assert browser["sums"] == sums(events)


def sums(events: list[Numbered[Event]]) -> dict[str, Any]:
    """Calls and tokens by the records of the events themselves."""
    began = {event.call: event for _, event in events if isinstance(event, CallBegan)}
    over = [event for _, event in events if isinstance(event, CallEnded | CallFailed)]
    bars: dict[str, dict[str, int]] = {}
    for call, one in began.items():
        bar = bars.setdefault(f"{one.rollout}/{one.round}/{one.role}", {"done": 0, "failed": 0, "running": 0})
        ends = [event for event in over if event.call == call]
        bar["done" if ends else "running"] += 1
        bar["failed"] += any(isinstance(event, CallFailed) for event in ends)
    tokens = sum(event.usage.prompt + event.usage.completion for event in over if isinstance(event, CallEnded))
    return {"calls": len(over), "tokens": tokens, "bars": dict(sorted(bars.items()))}


@pytest.mark.parametrize(("name", "what"), PLAYS)
async def test_a_run_of_a_scaffold_has_one_story(name: str, what: str) -> None:
    check(await played(name, what))


def test_lemmas_proofs_and_people_have_one_story() -> None:
    check(lemmas_story())
