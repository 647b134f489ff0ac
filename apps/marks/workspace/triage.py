"""Suggestions across all scripts that a marker sealed: where something is new, where points differ, where nothing was found.

Looking is the first stage of the reveal, for all of them at once, and recorded as such. Where the graders found nothing at all,
no finding waits for an answer, so the later stages follow at once. Marks that can still be reopened wait.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from django.utils import timezone

from apps.accounts.models import User
from apps.marks.models import FindingAnswer, Mark, MarkState, Reveal, Suggestion, SuggestionState
from apps.marks.sealing.revealing import RevealRefused, mark_keep, reveal_refusal, stage_show
from apps.marks.sheets import GRACE, scheme_of, sheet_of
from apps.marks.suggestions.suggesting import WAITING, body_of
from apps.marks.workspace.panel import marks_own
from apps.reasoning.marking.revealing import Stage, is_large, locations
from apps.reasoning.marking.suggestion import SuggestionBody

SHOWN = 500


class Group(StrEnum):
    """What a marker does with a script after looking, in this order."""

    NEW = "new"
    YOURS = "yours"
    DIFFERS = "differs"
    DECIDE = "decide"
    UNREAD = "unread"
    NOTHING = "nothing"


WORDS = {
    Group.NEW: ("Something new", "A grader names a step where you have no verdict, or something about the whole text."),
    Group.YOURS: ("Only where you have a verdict", "Findings at steps where you have a verdict yourself."),
    Group.DIFFERS: ("Points differ", "Nothing is open, and a grader is two of seven points or more from your mark."),
    Group.DECIDE: ("Answered", "Every finding is answered. Stay with your mark, or change it."),
    Group.UNREAD: ("No readable answer", "The answer of a grader could not be read, and no other found anything."),
    Group.NOTHING: ("Nothing found", "No grader found anything, and none is far from your points."),
}


@dataclass(frozen=True)
class TriageRow:
    """A script with its group; `places`: steps with a finding and without a verdict of the marker."""

    mark: Mark
    group: Group
    places: list[int]


@dataclass(frozen=True)
class TriageGroup:
    """The scripts of a group, with the group's title and meaning."""

    group: Group
    title: str
    meaning: str
    rows: list[TriageRow]


@dataclass(frozen=True)
class Triage:
    """`unseen`: scripts with suggestions that were not looked at; `waits`: scripts on which graders are at work."""

    unseen: list[Mark]
    waits: int
    groups: list[TriageGroup]

    def of(self, group: Group) -> list[TriageRow]:
        """The scripts of a group."""
        return next((one.rows for one in self.groups if one.group is group), [])


@dataclass
class _Known:
    """What was suggested and shown for one mark. `first`: ids of the suggestions of the first stage."""

    rows: list[Suggestion] = field(default_factory=list)
    stages: set[Stage] = field(default_factory=set)
    first: set[int] = field(default_factory=set)
    is_waiting: bool = False

    @property
    def shown(self) -> list[Suggestion]:
        return [row for row in self.rows if row.pk in self.first] if self.first else self._fitting

    @property
    def _fitting(self) -> list[Suggestion]:
        return [row for row in self.rows if row.state == SuggestionState.DONE]


def triage_of(user: User) -> Triage:
    """The sealed and undecided marks of a user, sorted by what the graders found. Reveals nothing."""
    marks = _undecided(user)
    known = _known(marks, user)
    answers = set(FindingAnswer.objects.filter(person=user).values_list("suggestion", "finding"))
    rows = [
        _row(mark, found, answers)
        for mark in marks
        if (found := known[mark.pk]) and found.shown and Stage.LOCATIONS in found.stages
    ]
    groups = [TriageGroup(group, *WORDS[group], [row for row in rows if row.group is group]) for group in Group]
    unseen = [mark for mark in marks if known[mark.pk].shown and not known[mark.pk].stages and not known[mark.pk].is_waiting]
    waits = sum(found.is_waiting and not found.stages for found in known.values())
    return Triage(unseen, waits, [one for one in groups if one.rows])


def triage_look(*, user: User) -> int:
    """Show the first stage of all scripts with suggestions to their marker. Returns their number."""
    count = 0
    for mark in triage_of(user).unseen:
        try:
            stage_show(mark=mark, stage=Stage.LOCATIONS)
            if not any(body.findings for body in _bodies(_known([mark], user)[mark.pk].shown)):
                stage_show(mark=mark, stage=Stage.FINDINGS)
                stage_show(mark=mark, stage=Stage.ITEMS)
        except RevealRefused:
            continue  # Decided or withdrawn meanwhile.
        count += 1
    return count


def triage_clear(*, user: User) -> tuple[int, int]:
    """Stay with all marks where nothing was found. Returns how many were kept, and how many could not be."""
    kept = refused = 0
    for row in triage_of(user).of(Group.NOTHING):
        try:
            mark_keep(mark=row.mark)
        except RevealRefused:
            refused += 1
        else:
            kept += 1
    return kept, refused


def triage_next(user: User) -> Mark | None:
    """The next script with an open question for its marker; None if there is none."""
    rows = [row for one in triage_of(user).groups if one.group is not Group.NOTHING for row in one.rows]
    return rows[0].mark if rows else None


def _undecided(user: User) -> list[Mark]:
    marks = marks_own(user).filter(state=MarkState.SEALED, sealed_at__lte=timezone.now() - GRACE)
    marks = marks.select_related(
        "marker", "scheme_version", "task__case__problem__setup", "task__case__problem__contest",
        "task__case__version__submission__paper",
    )  # fmt: skip
    return [mark for mark in marks[:SHOWN] if not reveal_refusal(mark)]


def _known(marks: Sequence[Mark], user: User) -> dict[int, _Known]:
    """By mark, what graders said of its script and what was shown, in two queries."""
    known = {mark.pk: _Known() for mark in marks}
    by_case: dict[int, list[Mark]] = {}
    by_version: dict[int, list[Mark]] = {}
    for mark in marks:
        by_case.setdefault(mark.task.case_id, []).append(mark)
        by_version.setdefault(mark.task.case.version_id, []).append(mark)
    rows = Suggestion.objects.filter(version__in=list(by_version)).select_related("scheme_version").order_by("grader", "pk")
    for row, mark in ((one, mark) for one in rows for mark in by_version[one.version_id]):
        found = known[mark.pk]
        found.is_waiting |= row.state in WAITING
        if row.scheme_version is None or row.scheme_version.meaning_hash == _meaning(mark):
            found.rows.append(row)
    kinds = [stage.value for stage in Stage]
    shown = Reveal.objects.filter(case__in=list(by_case), person=user, kind__in=kinds, suggestion__isnull=False)
    for case, kind, suggestion in shown.values_list("case", "kind", "suggestion"):
        for mark in by_case[case]:
            known[mark.pk].stages.add(Stage(kind))
            if kind == Stage.LOCATIONS:
                known[mark.pk].first.add(suggestion)
    return known


def _meaning(mark: Mark) -> str | None:
    return mark.scheme_version.meaning_hash if mark.scheme_version else None


def _bodies(rows: Iterable[Suggestion]) -> list[SuggestionBody]:
    return [body_of(row) for row in rows]


def _row(mark: Mark, found: _Known, answers: set[tuple[int, str]]) -> TriageRow:
    bodies = _bodies(found.shown)
    is_open = any(
        (row.pk, one.id) not in answers for row, body in zip(found.shown, bodies, strict=True) for one in body.findings
    )
    places = locations(sheet_of(mark), bodies)
    return TriageRow(
        mark, _group(mark, bodies, is_open=is_open, has_new=bool(places), is_whole=Stage.ITEMS in found.stages), places
    )


def _group(mark: Mark, bodies: Sequence[SuggestionBody], *, is_open: bool, has_new: bool, is_whole: bool) -> Group:
    """`is_open`: a finding waits for its answer. `is_whole`: the last stage was shown, so points may be compared."""
    if is_open:
        return Group.NEW if has_new else Group.YOURS
    scale, points = scheme_of(mark).scale, mark.points
    expected = [one for body in bodies if (one := body.expected_of(scale)) is not None]
    if is_whole and points is not None and any(is_large(points - one, scale) for one in expected):
        return Group.DIFFERS
    if any(body.findings for body in bodies):
        return Group.DECIDE
    if any(body.unplaced or body.suspicious for body in bodies):
        return Group.NEW
    return Group.UNREAD if any(body.unscored for body in bodies) else Group.NOTHING
