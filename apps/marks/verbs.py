"""What the record says in words: every verb that is written down, and what of an event's body people can read.

Identifiers, hashes and counters of rows stay in the record for exports and disputes; pages leave them out.
"""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from apps.contests.models import PointStep
from apps.marks.models import AuditEvent, CaseState, PassReason, ReleasePart, Slot
from apps.reasoning.marking.rescoring import Choice
from apps.reasoning.marking.scheme import points_text

VERBS = {
    "appeal.heard": "Began to look at an appeal",
    "appeal.rejected": "Did not grant an appeal",
    "appeal.upheld": "Granted an appeal",
    "appeal.withdrawn": "Appeal withdrawn",
    "appeal.written": "Appeal handed in",
    "calibration.off": "Took a script out of calibration",
    "calibration.on": "Chose a script for calibration",
    "case.moved": "The state of a script changed",
    "case.sent-back": "Sent a script back to the markers",
    "contest.captain": "Named a captain",
    "contest.changed": "Changed the settings of the contest",
    "contest.close": "Closed the contest",
    "contest.coach": "Let a coach in, or changed what they may",
    "contest.coach-out": "Took a coach out",
    "contest.created": "Made the contest",
    "contest.deleted": "Deleted the contest",
    "contest.identities": "Opened all identities",
    "contest.identity": "Asked who wrote a paper",
    "contest.imported": "Brought texts in from a file",
    "contest.mark": "Began marking",
    "contest.open": "Opened the contest",
    "contest.problem": "Added a problem",
    "contest.problem-out": "Took a problem out",
    "contest.problems-hidden": "Let the library hide the problems again",
    "contest.problems-shown": "Let the library show the problems",
    "contest.reopen": "Opened the contest again",
    "contest.restored": "Restored the contest",
    "contest.resume": "Went on marking",
    "contest.student-out": "Took a student out",
    "contest.students": "Added students",
    "contest.withdrawn": "A text was withdrawn",
    "coordination.agreed": "Agreed in coordination",
    "coordination.captain": "Ruled as captain",
    "coordination.claim": "Claimed in coordination",
    "coordination.jury": "Ruled as jury",
    "coordination.opened": "Coordination began",
    "coordination.proposal": "Proposed in coordination",
    "coordination.signed": "Signed a proposal",
    "draft.left": "Left a draft behind",
    "feedback.declined": "Declined a proposed hint",
    "feedback.given": "Gave a hint",
    "feedback.proposal": "Had a hint proposed",
    "feedback.rules": "Changed the rules for hints",
    "fresh.asked": "A fresh mark was asked for",
    "fresh.dismissed": "Dismissed the request for a fresh mark",
    "fresh.nobody": "Nobody was left for a fresh mark",
    "grade.given": "A grade was given",
    "grade.recomputed": "A grade was recomputed",
    "mark.confirmed": "Stayed with a mark",
    "mark.opened": "Opened a sealed mark again",
    "mark.revised": "Changed a mark after sealing",
    "mark.sealed": "Sealed a mark",
    "precedent.written": "Wrote a precedent",
    "question.answered": "Answered a question",
    "results.released": "Released results",
    "results.signed": "Signed the results off",
    "results.taken-back": "Took a release back",
    "scheme.changed": "Changed the marking scheme",
    "setup": "Chose how a problem is marked",
    "task.passed": "Handed a script on, or asked",
}

#: What a field of a body is called. Those that are not here are identifiers, hashes and counters.
_FIELDS = {
    "problem": "problem",
    "number": "paper",
    "person": "person",
    "captain": "captain",
    "title": "title",
    "is_anonymous": "anonymous",
    "point_step": "in",
    "opens_at": "from",
    "closes_at": "until",
    "is_organiser": "organises",
    "may_reveal": "may learn who wrote a paper",
    "added": "added",
    "texts": "texts",
    "skipped": "skipped",
    "slot": "for",
    "points": "points",
    "before": "before",
    "after": "after",
    "claim": "claim",
    "reason": "reason",
    "why": "why",
    "words": "words",
    "question": "question",
    "answer": "answer",
    "derivation": "derivation",
    "markers": "markers a script",
    "choices": "choices",
    "recomputed": "recomputed",
    "points_changed": "with other points",
    "remarked": "marked again",
    "left": "left as they were",
    "parts": "shown",
    "grades": "grades",
    "left_out": "left out",
    "papers": "papers",
    "level": "rung",
    "leaks": "warnings",
    "origin": "written by",
    "writer": "model that proposes",
    "guesser": "model that tests",
    "is_on": "offered",
    "highest": "up to rung",
    "budget": "rungs at most",
    "first_wait": "minutes before the first",
    "later_wait": "minutes between",
    "by": "by",
}
#: Points as a table keeps them; pages write 7, not 7.00.
_POINTS, _POINTS_KEPT = {"points", "before", "after"}, re.compile(r"\d{1,4}\.\d{2}")
#: Numbers of which none tells nothing.
_COUNTS = {"left_out", "leaks"}
_ORIGINS = {"coach": "a coach", "model": "AI, approved by a coach", "changed": "AI, changed by a coach"}
_CHOICES = {Choice.RECOMPUTE.value: "recomputed", Choice.REMARK.value: "marked again", Choice.LEAVE.value: "left"}
_VALUES: dict[str, Mapping[str, str]] = {
    "slot": {one.value: str(one.label).lower() for one in Slot},
    "parts": {one.value: str(one.label).lower() for one in ReleasePart},
    "choices": _CHOICES,
    "origin": _ORIGINS,
    "point_step": {one.value: str(one.label) for one in PointStep},
}
_OF_VERB: dict[str, dict[str, Mapping[str, str]]] = {
    "case.moved": {key: {one.value: str(one.label).lower() for one in CaseState} for key in ("before", "after")},
    "task.passed": {"reason": {one.value: str(one.label).lower() for one in PassReason}},
    "question.answered": {"reason": {one.value: str(one.label).lower() for one in PassReason}},
}


def verb_words(verb: str) -> str:
    """A verb for people; one that is not known is shown as it stands."""
    return VERBS.get(verb, verb.replace("-", " ").replace(".", ": "))


def details_of(event: AuditEvent, problems: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What of an event's body people can read: what it is, and how it is. `problems`: labels by public id."""
    for name, value in event.body.items():
        if name == "problem":
            value = problems.get(value, "")
        if name in _POINTS and isinstance(value, str) and _POINTS_KEPT.fullmatch(value):
            value = points_text(Decimal(value))
        is_told = value not in (None, "", [], {}) and not (name in _COUNTS and value == 0)
        if name in _FIELDS and is_told:
            known = _OF_VERB.get(event.verb, {}).get(name) or _VALUES.get(name, {})
            yield _FIELDS[name], _told(value, known)


def _told(value: Any, known: Mapping[str, str]) -> str:
    """A value in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_told(one, known) for one in value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {_told(one, known)}" for name, one in value.items())
    return known.get(str(value), str(value))
