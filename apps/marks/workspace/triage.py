"""Suggestions across all scripts that a marker sealed: where something is new, where points differ, where nothing was found.

Looking is the first stage of the reveal, for all of them at once, and recorded as such. Where every grader read the text, found
nothing and is not far from the marker's points, the later stages have nothing to show and count as shown. Marks that can
still be reopened wait.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from django.utils import timezone

from apps.accounts.models import User
from apps.marks.models import FindingAnswer, Mark, MarkState, Reveal, Suggestion, SuggestionState
from apps.marks.sealing.revealing import RevealRefused, mark_keep, reveal_refusal, stage_show
from apps.marks.sealing.revising import RevisionRefused
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
    Group.DIFFERS: ("Points differ", "You saw the points of a grader, and they are two of seven or more from yours."),
    Group.DECIDE: ("To be decided", "No finding waits for an answer. Look at the rest, then stay with your mark or change it."),
    Group.UNREAD: (
        "Not read",
        "A grader failed, its answer could not be read, or the script has no text. Nothing was found.",
    ),
    Group.NOTHING: ("Nothing found", "Every grader read the text and found nothing, and none is far from your points."),
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
    """`unseen`: scripts whose suggestions were not looked at; `waits`: scripts on which graders are at work.

    `silent`: scripts without text, about which no grader said anything. There is nothing to look at.
    """

    unseen: list[Mark]
    waits: int
    groups: list[TriageGroup]
    silent: int = 0

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
    has_failed: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether every stage was shown."""
        return Stage.ITEMS in self.stages

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
    unseen = [mark for mark in marks if _is_unseen(mark, known[mark.pk])]
    later = {mark.pk for mark in unseen}
    seen = [mark for mark in marks if mark.pk not in later and Stage.LOCATIONS in known[mark.pk].stages]
    rows = [_row(mark, known[mark.pk], answers) for mark in seen]
    groups = [TriageGroup(group, *WORDS[group], [row for row in rows if row.group is group]) for group in Group]
    waits = sum(found.is_waiting and not found.stages for found in known.values())
    silent = sum(_is_silent(mark, known[mark.pk]) for mark in marks)
    return Triage(unseen, waits, [one for one in groups if one.rows], silent)


def triage_look(*, user: User) -> int:
    """Show the first stage of all scripts with suggestions to their marker. Returns their number."""
    count = 0
    for mark in triage_of(user).unseen:
        try:
            stage_show(mark=mark, stage=Stage.LOCATIONS)
            if _is_nothing(mark, _known([mark], user)[mark.pk]):
                stage_show(mark=mark, stage=Stage.FINDINGS)
                stage_show(mark=mark, stage=Stage.ITEMS)
        except RevealRefused:
            continue  # Decided or withdrawn meanwhile.
        count += 1
    return count


def triage_clear(*, user: User) -> tuple[int, list[str]]:
    """Stay with all marks where nothing was found. Returns how many were kept, and a sentence for each that could not be."""
    kept, refused = 0, []
    for row in triage_of(user).of(Group.NOTHING):
        try:
            mark_keep(mark=row.mark)
        except (RevealRefused, RevisionRefused) as refusal:
            refused.append(f"Paper {row.mark.task.case.version.submission.paper.number}: {refusal}")
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
        found.has_failed |= row.state == SuggestionState.FAILED
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


def _is_unseen(mark: Mark, found: _Known) -> bool:
    """Whether looking shows something: the first stage, or the end of a reveal that has nothing to show."""
    if not found.shown or found.is_waiting or _is_silent(mark, found):
        return False
    return not found.stages or (not found.is_whole and _is_nothing(mark, found))


def _is_silent(mark: Mark, found: _Known) -> bool:
    """Whether a script without text got no word of any grader, so that its suggestions have nothing to show."""
    has_text = bool(mark.task.case.version.source.strip())
    return not (has_text or found.stages or found.is_waiting or _has_words(_bodies(found.shown)))


def _has_words(bodies: Sequence[SuggestionBody]) -> bool:
    return any(body.findings or body.unplaced or body.suspicious or body.unscored for body in bodies)


def _is_nothing(mark: Mark, found: _Known) -> bool:
    """Whether every grader read the script and has nothing to say about it or its points."""
    bodies = _bodies(found.shown)
    is_read = not found.has_failed and bool(mark.task.case.version.source.strip())
    return is_read and not _has_words(bodies) and not _is_far(mark, bodies)


def _is_far(mark: Mark, bodies: Sequence[SuggestionBody]) -> bool:
    scale, points = scheme_of(mark).scale, mark.points
    expected = [one for body in bodies if (one := body.expected_of(scale)) is not None]
    return points is not None and any(is_large(points - one, scale) for one in expected)


def _row(mark: Mark, found: _Known, answers: set[tuple[int, str]]) -> TriageRow:
    pairs = [(row, body_of(row)) for row in found.shown]
    places = locations(sheet_of(mark), [body for _, body in pairs])
    is_open = any((row.pk, one.id) not in answers for row, body in pairs for one in body.findings)
    if is_open:
        return TriageRow(mark, Group.NEW if places else Group.YOURS, places)
    return TriageRow(mark, _closed_group(mark, found, [body for _, body in pairs]), places)


def _closed_group(mark: Mark, found: _Known, bodies: Sequence[SuggestionBody]) -> Group:
    """The group of a script on which no finding waits for an answer. Points are compared once they were shown."""
    if found.is_whole and _is_far(mark, bodies):
        return Group.DIFFERS
    if found.is_whole and _is_nothing(mark, found):
        return Group.NOTHING
    if any(body.findings for body in bodies):
        return Group.DECIDE
    if any(body.unplaced or body.suspicious for body in bodies):
        return Group.NEW
    is_read = bool(mark.task.case.version.source.strip()) and not found.has_failed
    return Group.DECIDE if is_read and not any(body.unscored for body in bodies) else Group.UNREAD
