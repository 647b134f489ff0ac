"""The record in words: names for every event, and the readable fields of its body.

Identifiers, hashes and row counters stay in the record for exports and disputes; pages omit them.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from apps.contests.models import PointStep
from apps.marks.models import AuditEvent, CaseState, PassReason, ReleasePart, Slot
from apps.reasoning.marking.schemes.rescoring import Choice
from apps.reasoning.marking.schemes.scheme import points_text
from apps.ui.zones import exact

VERBS = {
    "appeal.heard": "Started hearing an appeal",
    "appeal.rejected": "Rejected an appeal",
    "appeal.upheld": "Granted an appeal",
    "appeal.withdrawn": "Appeal withdrawn",
    "appeal.written": "Appeal handed in",
    "awards.fixed": "Fixed the cut-offs of the awards",
    "blank.settled": "Settled blank scripts with no points",
    "blank.undone": "Took back the decision on blank scripts",
    "calibration.off": "Removed a script from calibration",
    "calibration.on": "Chose a script for calibration",
    "case.moved": "The state of a script changed",
    "case.sent-back": "Sent a script back to the markers",
    "contest.captain": "Appointed a captain",
    "contest.changed": "Changed the settings of the contest",
    "contest.close": "Closed the contest",
    "contest.coach": "Added a coach or changed their permissions",
    "contest.coach-out": "Removed a coach",
    "contest.created": "Created the contest",
    "contest.deleted": "Deleted the contest",
    "contest.identities": "Opened all identities",
    "contest.identity": "Asked who wrote a paper",
    "contest.imported": "Imported texts from a file",
    "contest.mark": "Started marking",
    "contest.open": "Opened the contest",
    "contest.passwords": "Drew new passwords of an import",
    "contest.problem": "Added a problem",
    "contest.scans": "Added scans",
    "contest.scans-handed-in": "Handed in scanned pages",
    "contest.scans-removed": "Removed a file of scans",
    "contest.problem-out": "Removed a problem",
    "contest.problem-times": "Set the times of a problem",
    "contest.problems-hidden": "Hid the problems in the library again",
    "contest.problems-shown": "Showed the problems in the library",
    "contest.reopen": "Reopened the contest",
    "contest.restored": "Restored the contest",
    "contest.resume": "Resumed marking",
    "contest.student-out": "Removed a student",
    "contest.students": "Added students",
    "contest.withdrawn": "Text withdrawn",
    "coordination.agreed": "Agreed in coordination",
    "coordination.blank": "Settled as blank",
    "coordination.captain": "Ruled as captain",
    "coordination.claim": "Entered a claim in coordination",
    "coordination.jury": "Ruled as jury",
    "coordination.opened": "Coordination opened",
    "coordination.proposal": "Made a proposal in coordination",
    "coordination.signed": "Signed a proposal",
    "draft.left": "Left a draft",
    "feedback.declined": "Declined a proposed hint",
    "feedback.given": "Gave a hint",
    "feedback.proposal": "Requested a proposed hint",
    "feedback.rules": "Changed the rules for hints",
    "fresh.asked": "Fresh mark requested",
    "fresh.dismissed": "Dismissed the request for a fresh mark",
    "fresh.nobody": "No coach was left for a fresh mark",
    "grade.given": "A grade was given",
    "grade.recomputed": "A grade was recomputed",
    "letters.text": "Changed the text of certificates or letters",
    "mark.confirmed": "Kept a mark",
    "mark.opened": "Reopened a sealed mark",
    "mark.revised": "Changed a mark after sealing",
    "mark.sealed": "Sealed a mark",
    "precedent.written": "Wrote a precedent",
    "question.answered": "Answered a question",
    "ranking.published": "Published the ranking",
    "ranking.withdrawn": "Withdrew the ranking",
    "results.released": "Released results",
    "results.signed": "Signed off the results",
    "results.taken-back": "Took back a release",
    "scheme.changed": "Changed the marking scheme",
    "setup": "Chose how a problem is marked",
    "team.assigned": "Assigned scripts",
    "team.conflict": "Declared a conflict",
    "team.conflict-out": "Removed a conflict",
    "team.handed-over": "Took scripts from a marker",
    "task.passed": "Handed a script on, or asked the captain",
}

#: Names of the fields of a body. Fields that are not listed are identifiers, hashes and counters.
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
    "time_zone": "time zone",
    "is_organiser": "organises",
    "may_reveal": "may learn who wrote a paper",
    "marker": "marker",
    "given_to": "given to",
    "scripts": "scripts",
    "list": "papers",
    "is_shared": "also for any free marker",
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
    "markers": "markers per script",
    "choices": "choices",
    "recomputed": "recomputed",
    "points_changed": "with changed points",
    "remarked": "marked again",
    "left": "left unchanged",
    "parts": "shown",
    "grades": "grades",
    "left_out": "left out",
    "papers": "papers",
    "level": "hint",
    "leaks": "warnings",
    "origin": "written by",
    "writer": "model that proposes",
    "guesser": "model that tests",
    "is_on": "offered",
    "highest": "up to hint",
    "budget": "maximum hints",
    "first_wait": "minutes after the first",
    "later_wait": "minutes after later ones",
    "by": "by",
    "gold": "gold from",
    "silver": "silver from",
    "bronze": "bronze from",
    "mentions": "honourable mentions",
    "kind": "of",
    "has_names": "with names",
}
#: Points as stored in tables; pages show 7, not 7.00.
_POINTS, _POINTS_KEPT = {"points", "before", "after"}, re.compile(r"\d{1,4}\.\d{2}")
_TIMES = {"opens_at", "closes_at"}
#: Counts that are left out if they are 0.
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
    """Display name of an event; an unknown one is derived from its identifier."""
    return VERBS.get(verb, verb.replace("-", " ").replace(".", ": "))


def details_of(event: AuditEvent, problems: Mapping[str, str], zone: ZoneInfo) -> Iterator[tuple[str, str]]:
    """The readable fields of an event: name and value. `problems`: labels by public id; `zone`: of its times."""
    for name, value in event.body.items():
        if name == "problem":
            value = problems.get(value, "")
        if name in _POINTS and isinstance(value, str) and _POINTS_KEPT.fullmatch(value):
            value = points_text(Decimal(value))
        if name in _TIMES:
            value = exact(datetime.fromisoformat(value), zone)
        is_shown = value not in (None, "", [], {}) and not (name in _COUNTS and value == 0)
        if name in _FIELDS and is_shown:
            known = _OF_VERB.get(event.verb, {}).get(name) or _VALUES.get(name, {})
            yield _FIELDS[name], _value_words(value, known)


def _value_words(value: Any, known: Mapping[str, str]) -> str:
    """A value in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_value_words(one, known) for one in value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {_value_words(one, known)}" for name, one in value.items())
    return known.get(str(value), str(value))
