"""Change a scheme that has been used: preview the effects, then apply exactly those.

A grade is never changed. Recomputing adds a grade with the same basis under the new version, which supersedes the old one.
Students see the old results until the next release. A script to re-mark returns to the markers under the new version and keeps
its grade until the new mark is sealed. A script that is left keeps its grade under its old version.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction
from django.db.models import F

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.marks.audit import audit
from apps.marks.models import AuditEvent, CaseState, FinalGrade, MarkingCase, MarkingSetup, MarkingTask, ReleasedGrade, Slot
from apps.marks.sheets import step_of
from apps.reasoning.marking.schemes.rescoring import Choice, Difference, Effect, Fate, Rescorer, fate
from apps.reasoning.marking.schemes.scheme import points_text
from apps.reasoning.marking.sheets.commands import sheet_json
from apps.reasoning.marking.sheets.sheet import REASON_LENGTH, MarkSheet
from apps.schemes.models import SchemeVersion, VersionStatus
from apps.schemes.services import scheme_activate

_BATCH = 500


class ChangeRefused(Exception):
    """The change cannot be made now; the message gives the reason."""


@dataclass(frozen=True)
class Row:
    """A graded script and the effect of the change. `is_released`: students have seen its current grade."""

    grade: FinalGrade
    effect: Effect
    fate: Fate
    is_released: bool

    @property
    def after(self) -> Decimal:
        """The points after the change; a script to re-mark keeps its points until then."""
        if self.fate is Fate.RECOMPUTED and self.effect.points is not None:
            return self.effect.points
        return self.grade.points

    @property
    def differs(self) -> bool:
        return self.after != self.grade.points


@dataclass(frozen=True)
class Impact:
    """The effects of a change on the graded scripts of a problem. `token` identifies exactly this outcome.

    `open_count`: scripts without a current grade; `elsewhere`: problems of other contests that use this scheme.
    """

    problem: ContestProblem
    target: SchemeVersion
    differences: tuple[Difference, ...]
    choices: Mapping[str, Choice]
    rows: list[Row]
    open_count: int
    elsewhere: int

    def count(self, found: Fate) -> int:
        """Number of scripts with this fate."""
        return sum(row.fate is found for row in self.rows)

    def touched(self, key: str) -> int:
        """Number of scripts that a difference affects; all of them for a new item."""
        kinds = {one.key: one.kind for one in self.differences}
        return len(self.rows) if kinds.get(key) == "added" else sum(key in row.effect.keys for row in self.rows)

    @property
    def changed(self) -> list[Row]:
        """The scripts whose points change, largest change first."""
        rows = [row for row in self.rows if row.differs]
        return sorted(rows, key=lambda row: (-abs(row.after - row.grade.points), row.grade.pk))

    @property
    def remarked(self) -> list[Row]:
        """The scripts that return to the markers."""
        return [row for row in self.rows if row.fate is Fate.REMARKED]

    @property
    def pending(self) -> int:
        """Number of new grades that students will not see before another release."""
        return sum(row.fate is Fate.RECOMPUTED and row.is_released for row in self.rows)

    @property
    def histogram(self) -> list[tuple[Decimal, int, int]]:
        """Points, with the number of scripts before and after."""
        before, after = Counter(row.grade.points for row in self.rows), Counter(row.after for row in self.rows)
        return [(points, before[points], after[points]) for points in sorted({*before, *after})]

    @property
    def token(self) -> str:
        """Changes with the draft, the choices and every outcome, so that only a preview that was seen can be confirmed."""
        outcome = [[row.grade.pk, row.fate.value, str(row.after)] for row in self.rows]
        content = [self.target.content_hash, self.target.status, sorted(self.choices.items()), outcome]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:32]


def target_of(setup: MarkingSetup) -> SchemeVersion | None:
    """The version that grades can move to: the draft, which the change activates, else the active one."""
    if setup.scheme is None:
        return None
    rows = setup.scheme.versions.filter(status__in=(VersionStatus.DRAFT, VersionStatus.ACTIVE))
    return rows.order_by("-number").first()


def impact(problem: ContestProblem, target: SchemeVersion, choices: Mapping[str, Choice]) -> Impact:
    """The effects of moving grades to `target` with these choices, for every graded script. Writes nothing."""
    grades = list(grades_current(problem, target))
    released = set(
        ReleasedGrade.objects.filter(batch__undone_at=None, grade__case__problem=problem).values_list("grade", flat=True)
    )
    bases = {grade.scheme_version_id: grade.scheme_version for grade in grades}
    rescorers = rescorers_of(bases.values(), target, step_of(problem.contest))
    found = _together([*rescorers.values(), *_since_active(problem, target)])
    choices = {one.key: choices.get(one.key, one.choices[0]) for one in found}
    added = [one.key for one in found if one.kind == "added"]
    rows = []
    for grade in grades:
        effect = effect_of(grade, rescorers)
        rows.append(Row(grade, effect, fate(effect, choices, added), grade.pk in released))
    waiting = MarkingCase.objects.filter(problem=problem, state__in=(CaseState.OPEN, CaseState.COMPARED, CaseState.DISPUTED))
    setups = MarkingSetup.objects.filter(scheme=target.scheme_id).exclude(problem=problem)
    return Impact(problem, target, found, choices, rows, waiting.count(), setups.count())


def grades_current(problem: ContestProblem, target: SchemeVersion) -> Iterable[FinalGrade]:
    """The current grades of a problem that were made with a version of this scheme.

    Scripts that are being marked again are excluded, because their next mark uses the new version anyway.
    """
    settled = (CaseState.SETTLED, CaseState.RELEASED, CaseState.APPEALED)
    rows = FinalGrade.objects.filter(
        case__problem=problem, case__state__in=settled, superseded_by=None, scheme_version__scheme=target.scheme_id
    )
    return rows.select_related("case__version__submission__paper", "case__problem", "scheme_version").order_by("pk")


def rescorers_of(bases: Iterable[SchemeVersion | None], target: SchemeVersion, step: Decimal) -> dict[int, Rescorer]:
    """For every version behind these grades, the mapping of its sheets to the target."""
    content = target.content
    return {base.pk: Rescorer(base.content, content, step) for base in bases if base is not None}


def effect_of(grade: FinalGrade, rescorers: Mapping[int, Rescorer]) -> Effect:
    """The effect of the target on a grade's sheet; the only way in which grades are recomputed."""
    assert grade.scheme_version_id is not None
    return rescorers[grade.scheme_version_id].effect(MarkSheet.model_validate(grade.sheet))


@transaction.atomic
def change_apply(
    *, problem: ContestProblem, choices: Mapping[str, Choice], reason: str, by: User, based_on: int, token: str
) -> Impact:
    """Activate a draft target and apply the preview with this `token`. Raises `ChangeRefused`.

    The caller has checked permission (`access.problem_captained_for`). Errors of the scheme itself are those of
    `scheme_activate`.
    """
    reason = " ".join(reason.split())
    if not reason or len(reason) > REASON_LENGTH:
        raise ChangeRefused(f"Enter a reason of at most {REASON_LENGTH} characters; it is kept with the change.")
    setup = MarkingSetup.objects.select_for_update(of=("self",)).select_related("scheme").get(problem=problem)
    target = target_of(setup)
    if target is None or setup.scheme is None:
        raise ChangeRefused("The problem is marked without a scheme, or its scheme has no usable version.")
    list(MarkingCase.objects.select_for_update(of=("self",)).filter(problem=problem).values_list("pk", flat=True))
    found = impact(problem, target, choices)
    if found.token != token:
        raise ChangeRefused("Something changed since the preview: the scheme or a grade. Check the new preview first.")
    is_draft = target.status == VersionStatus.DRAFT
    if not is_draft and not (found.count(Fate.RECOMPUTED) or found.remarked):
        raise ChangeRefused("This would change nothing: it affects no grade.")
    before = setup.scheme.versions.filter(status=VersionStatus.ACTIVE).first()
    if is_draft:
        scheme_activate(scheme=setup.scheme, by=by, based_on=based_on)
    _grades_add([row for row in found.rows if row.fate is Fate.RECOMPUTED], target, by, reason)
    _send_back(found.remarked, target, by, reason)
    _record_change(found, before.number if before else None, by, reason)
    return found


def _together(rescorers: Iterable[Rescorer]) -> tuple[Difference, ...]:
    """The differences of several versions from the draft, without duplicates."""
    found: dict[str, Difference] = {}
    for rescorer in rescorers:
        for one in rescorer.differences:
            found.setdefault(one.key, one)
    return tuple(found.values())


def _since_active(problem: ContestProblem, target: SchemeVersion) -> list[Rescorer]:
    """The active version, for marks that have no grade yet."""
    active = SchemeVersion.objects.filter(scheme=target.scheme_id, status=VersionStatus.ACTIVE).exclude(pk=target.pk).first()
    return [Rescorer(active.content, target.content, step_of(problem.contest))] if active else []


def _grades_add(rows: list[Row], version: SchemeVersion, by: User, reason: str) -> None:
    """Add grades with the same basis under the new version; released cases wait for the next release."""
    grades = [
        FinalGrade(
            case=row.grade.case,
            mark_id=row.grade.mark_id,
            coordination_id=row.grade.coordination_id,
            points=row.after,
            scheme_version=version,
            sheet=sheet_json(row.effect.sheet),
            derivation=row.effect.derivation,
            reason=reason,
            supersedes=row.grade,
            by=by,
        )
        for row in rows
    ]
    FinalGrade.objects.bulk_create(grades, batch_size=_BATCH)
    cases = [row.grade.case_id for row in rows]
    for start in range(0, len(cases), _BATCH):
        some = MarkingCase.objects.filter(pk__in=cases[start : start + _BATCH])
        some.filter(state=CaseState.RELEASED).update(state=CaseState.SETTLED)
        some.update(row_version=F("row_version") + 1)
    _record_events("grade.recomputed", rows, version, by, reason)


def _send_back(rows: list[Row], version: SchemeVersion, by: User, reason: str) -> None:
    """Add a task per script for any marker; appeals in progress continue."""
    tasks = [MarkingTask(case=row.grade.case, slot=Slot.AGAIN) for row in rows]
    MarkingTask.objects.bulk_create(tasks, batch_size=_BATCH)
    cases = [row.grade.case_id for row in rows]
    for start in range(0, len(cases), _BATCH):
        some = MarkingCase.objects.filter(pk__in=cases[start : start + _BATCH])
        some.update(state=CaseState.OPEN, row_version=F("row_version") + 1)
    _record_events("case.sent-back", rows, version, by, reason)


def _record_change(found: Impact, before: int | None, by: User, reason: str) -> None:
    audit(
        "scheme.changed",
        actor=by,
        contest=found.problem.contest,
        problem=str(found.problem.public_id),
        before=before,
        after=found.target.number,
        reason=reason,
        choices={one.code or one.key: found.choices[one.key].value for one in found.differences},
        recomputed=found.count(Fate.RECOMPUTED),
        points_changed=len(found.changed),
        remarked=found.count(Fate.REMARKED),
        left=found.count(Fate.LEFT),
    )


def _record_events(verb: str, rows: list[Row], version: SchemeVersion, by: User, reason: str) -> None:
    events = [
        AuditEvent(
            contest_id=row.grade.case.problem.contest_id,
            actor=by,
            actor_kind="person",
            verb=verb,
            case=row.grade.case,
            mark_id=row.grade.mark_id,
            body={
                "grade": str(row.grade.public_id),
                "before": points_text(row.grade.points),
                "after": points_text(row.after),
                "scheme_version": str(version.public_id),
                "why": row.effect.why,
                "reason": reason,
            },
        )
        for row in rows
    ]
    AuditEvent.objects.bulk_create(events, batch_size=_BATCH)
