"""Earlier decisions about the same item or kind of error, shown only after sealing and on record.

There are two sources: rulings written by a captain, and settled scripts of the problem with the same error.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction
from django.db.models import Q, QuerySet

from apps.accounts.models import User
from apps.marks.audit import audit
from apps.marks.models import (
    CaseState,
    Coordination,
    FinalGrade,
    Mark,
    MarkingCase,
    MarkState,
    Precedent,
    Reveal,
    RevealKind,
    Verdict,
)
from apps.marks.sheets import sheet_of
from apps.reasoning.marking.sheets.sheet import WORDS_LENGTH, Fallacy, MarkSheet, Role
from apps.schemes.models import SchemeItem

SHOWN = 20


class PrecedentRefused(Exception):
    """A precedent is incomplete; the message names what is missing."""


@dataclass(frozen=True)
class Ruling:
    """A captain's ruling about an item (its lineage), a kind of error, or both."""

    words: str
    points: Decimal
    lineage: uuid.UUID | None = None
    fallacy: str = ""


@dataclass(frozen=True)
class Earlier:
    """Settled scripts with the same error: its type, the code of the item it is evidence for, and their points."""

    fallacy: Fallacy
    code: str
    points: list[Decimal]


@dataclass(frozen=True)
class Precedents:
    """The precedents shown next to a sealed mark."""

    rulings: list[Precedent]
    earlier: list[Earlier]

    def __bool__(self) -> bool:
        return bool(self.rulings or self.earlier)


@transaction.atomic
def precedent_write(*, case: MarkingCase, by: User, ruling: Ruling, coordination: Coordination | None = None) -> Precedent:
    """Save a ruling for later scripts; the caller has checked that this is the captain. Raises `PrecedentRefused`."""
    words = " ".join(ruling.words.split())[:WORDS_LENGTH]
    if not words:
        raise PrecedentRefused("Describe in words what was decided.")
    if ruling.lineage is None and not ruling.fallacy:
        raise PrecedentRefused("Choose which item or which kind of error it is about.")
    if ruling.fallacy and ruling.fallacy not in set(Fallacy):
        raise PrecedentRefused("There is no such kind of error. Choose one from the list.")
    if case.state not in (CaseState.SETTLED, CaseState.RELEASED):
        raise PrecedentRefused("This script is not settled, so it cannot be a precedent yet.")
    found = Precedent.objects.create(
        coordination=coordination,
        case=case,
        lineage=ruling.lineage,
        fallacy=ruling.fallacy,
        words=words,
        points=ruling.points,
        by=by,
    )
    audit("precedent.written", actor=by, case=case, words=words, points=str(ruling.points))
    return found


@transaction.atomic
def precedents_show(mark: Mark) -> Precedents:
    """The precedents of a sealed mark, recorded in the ledger if there are any. Empty for a draft."""
    found = precedents_of(mark)
    if found:
        case = mark.task.case
        Reveal.objects.get_or_create(
            case=case, person=mark.marker, kind=RevealKind.PRECEDENTS, suggestion=None, mark=None,
            defaults={"trigger": "asked after sealing"},
        )  # fmt: skip
    return found


def precedents_of(mark: Mark) -> Precedents:
    """Precedents from earlier scripts of the problem for the items and errors of this mark."""
    if mark.state in (MarkState.DRAFT, MarkState.VOID):
        return Precedents([], [])
    sheet = sheet_of(mark)
    lineages = _lineages(mark, sheet)
    errors = [one for one in sheet.verdicts if one.role not in (Role.CONSEQUENCE, Role.HARMLESS)]
    fallacies = {one.fallacy for one in errors}
    about = Q(lineage__in=lineages.values(), fallacy="") | Q(lineage=None, fallacy__in=fallacies)
    about |= Q(lineage__in=lineages.values(), fallacy__in=fallacies)
    rows = Precedent.objects.filter(about, case__problem=mark.task.case.problem).exclude(case=mark.task.case)
    rulings = list(rows.select_related("by").order_by("-at", "-pk")[:SHOWN])
    wanted = {(one.fallacy, code) for one in errors for code in (one.items or ("",))}
    return Precedents(rulings, _earlier(mark, wanted))


def case_precedents(case: MarkingCase) -> QuerySet[Precedent]:
    """Rulings written on one case."""
    return case.precedents.select_related("by").order_by("at", "pk")


def _lineages(mark: Mark, sheet: MarkSheet) -> dict[str, uuid.UUID]:
    """The items that the mark ticks or that its errors are evidence for."""
    codes = set(sheet.ticks) | {code for one in sheet.verdicts for code in one.items}
    rows = SchemeItem.objects.filter(version=mark.scheme_version, code__in=codes) if mark.scheme_version else ()
    return {row.code: row.lineage for row in rows}


def _earlier(mark: Mark, wanted: Iterable[tuple[Fallacy, str]]) -> list[Earlier]:
    """Grades of settled scripts with the same error in a sealed mark, for the same item if one is named."""
    wanted = set(wanted)
    case = mark.task.case
    grades = FinalGrade.objects.filter(
        case__problem=case.problem, superseded_by=None, case__state__in=(CaseState.SETTLED, CaseState.RELEASED)
    ).exclude(case=case)
    has_error = Verdict.objects.filter(fallacy__in={fallacy for fallacy, _ in wanted}, mark__task__case__problem=case.problem)
    points: dict[tuple[Fallacy, str], list[Decimal]] = defaultdict(list)
    for grade in grades.filter(case__in=has_error.values("mark__task__case")).order_by("at", "pk"):
        sheet = MarkSheet.model_validate(grade.sheet)
        errors = [one for one in sheet.verdicts if one.role not in (Role.CONSEQUENCE, Role.HARMLESS)]
        for key in wanted & {(one.fallacy, code) for one in errors for code in (one.items or ("",))}:
            points[key].append(grade.points)
    return [Earlier(fallacy, code, given) for (fallacy, code), given in sorted(points.items())]
