"""Appeals against a released scheme item or step verdict: after a waiting time, for some days, with a reason.

A coach who did not make the mark hears the appeal by making a fresh mark. That sealed mark becomes the new grade, or the appeal
is not granted; both with an answer in words. One hearing answers all appeals about a text that were handed in before it, each
separately. The first granted one creates the grade, and further ones are granted by the same mark. An appeal contains nothing
about its author.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import Contest, ContestState
from apps.marks.audit import audit
from apps.marks.coordination.comparing import OPEN_APPEALS
from apps.marks.grades import grade_give, grade_of
from apps.marks.models import Appeal, AppealState, FinalGrade, Mark, MarkingCase, MarkingTask, ReleasePart, Slot
from apps.marks.sheets import grace_until
from apps.marks.workspace.passes import hearing_end, knows_author
from apps.reasoning.marking.schemes.scheme import Kind, points_text
from apps.reasoning.marking.sheets.pages import place_title
from apps.reasoning.marking.sheets.sheet import MarkSheet
from apps.results.access import SEALED, made_marks, marks_unsealed
from apps.results.releasing import cases_follow
from apps.results.shown import shown_since, verdict_shown
from apps.submissions.models import SubmissionVersion
from apps.ui.zones import exact

PARTS = (ReleasePart.VERDICTS, ReleasePart.POINTS, ReleasePart.SCHEME)
VERDICT, ITEM = "verdict", "item"


class AppealRefused(Exception):
    """An appeal cannot be handed in or answered now; the message gives the reason."""


@dataclass(frozen=True)
class Window:
    """The time in which appeals against the released results can be handed in."""

    opens_at: datetime
    closes_at: datetime
    is_open: bool
    is_over: bool


@dataclass(frozen=True)
class Target:
    """Something to appeal against: `key` is `verdict:<id>` or `item:<lineage>`."""

    key: str
    words: str
    grade: FinalGrade


def appeal_window(parts: Mapping[str, FinalGrade]) -> Window | None:
    """The window of the newest appealable part; None if none was released."""
    moments = [since for part in PARTS if part in parts and (since := shown_since(parts[part], part)) is not None]
    return _window(max(moments), timezone.now()) if moments else None


def targets_of(parts: Mapping[str, FinalGrade]) -> list[Target]:
    """What can be appealed against: released verdicts and found items, and all items if the scheme is released."""
    targets: dict[str, Target] = {}
    if grade := parts.get(ReleasePart.VERDICTS):
        sheet = MarkSheet.model_validate(grade.sheet)
        for verdict in sorted(sheet.verdicts, key=lambda one: one.step):
            words = f"{place_title(verdict.step)}: {verdict_shown(verdict, sheet).fallacy}"
            targets[f"{VERDICT}:{verdict.id}"] = Target(f"{VERDICT}:{verdict.id}", words, grade)
    for part in (ReleasePart.SCHEME, ReleasePart.POINTS):
        shown = parts.get(part)
        if shown is None or shown.scheme_version is None:
            continue
        ticks = MarkSheet.model_validate(shown.sheet).ticks
        for item in shown.scheme_version.content.items:
            if not item.lineage or item.kind is Kind.FEEDBACK or (part == ReleasePart.POINTS and item.code not in ticks):
                continue
            worth = f" ({points_text(item.points)})" if item.kind is Kind.CHECKPOINT else ""
            is_held = item.kind in (Kind.CAP, Kind.DEDUCTION)
            found = ("applies", "does not apply") if is_held else ("found", "not found")
            words = f"{item.code}{worth}, {found[item.code not in ticks]}: {item.text}"
            targets.setdefault(f"{ITEM}:{item.lineage}", Target(f"{ITEM}:{item.lineage}", words, shown))
    return list(targets.values())


def appeals_of(version: SubmissionVersion) -> QuerySet[Appeal]:
    """The appeals of a text's author, newest first."""
    return Appeal.objects.filter(grade__case__version=version).select_related("grade__scheme_version").order_by("-at")


def appeals_open(contest: Contest) -> QuerySet[Appeal]:
    """Appeals of a contest without an answer, by paper number rather than by time."""
    rows = Appeal.objects.filter(grade__case__problem__contest=contest, state__in=OPEN_APPEALS)
    rows = rows.select_related("grade__case__problem", "grade__case__version__submission__paper", "grade__scheme_version")
    return rows.order_by("grade__case__problem__position", "grade__case__version__submission__paper__number", "pk")


def appeal_words(appeal: Appeal) -> str:
    """The subject of an appeal, in words for its author and for coaches."""
    sheet = MarkSheet.model_validate(appeal.grade.sheet)
    if appeal.verdict:
        verdict = next((one for one in sheet.verdicts if one.id == appeal.verdict), None)
        return f"{place_title(verdict.step)}: {verdict_shown(verdict, sheet).fallacy}" if verdict else "A verdict"
    content = appeal.grade.scheme_version.content if appeal.grade.scheme_version else None
    item = next((one for one in content.items if one.lineage == str(appeal.lineage)), None) if content else None
    return f"{item.code}: {item.text}" if item else "An item of the scheme"


@transaction.atomic
def appeal_write(*, version: SubmissionVersion, parts: Mapping[str, FinalGrade], target: str, words: str) -> Appeal:
    """Hand in an appeal. Raises `AppealRefused` outside the window, for unreleased targets, and for repeats."""
    found = next((one for one in targets_of(parts) if one.key == target), None)
    if found is None:
        raise AppealRefused("Choose what the appeal is about.")
    kind, _, key = target.partition(":")
    part = ReleasePart.VERDICTS if kind == VERDICT else _item_part(found.grade, parts)
    since = shown_since(found.grade, part)
    if since is None:
        raise AppealRefused("This result is not released, so it cannot be appealed.")
    _in_window(_window(since, timezone.now()), found.grade.case.problem.contest.zone)
    about = {"verdict": key} if kind == VERDICT else {"lineage": key}
    MarkingCase.objects.select_for_update().get(pk=found.grade.case_id)
    if Appeal.objects.filter(grade=found.grade, **about).exclude(state=AppealState.WITHDRAWN).exists():
        raise AppealRefused("You have already appealed against this.")
    appeal = Appeal.objects.create(grade=found.grade, words=words.strip(), **about)
    cases_follow([found.grade.case])
    audit("appeal.written", actor=None, case=found.grade.case, appeal=str(appeal.public_id), by="the author")
    return appeal


@transaction.atomic
def appeal_withdraw(*, appeal: Appeal) -> None:
    """Withdraw an appeal before a coach hears it. Raises `AppealRefused`."""
    if not Appeal.objects.filter(pk=appeal.pk, state=AppealState.WRITTEN).update(state=AppealState.WITHDRAWN):
        raise AppealRefused("A coach is already looking at this appeal, so it cannot be withdrawn.")
    cases_follow([appeal.grade.case])
    audit("appeal.withdrawn", actor=None, case=appeal.grade.case, appeal=str(appeal.public_id), by="the author")


def hearing_refusal(user: User, appeal: Appeal) -> str:
    """Why this coach cannot answer an appeal; empty if they can."""
    case = appeal.grade.case
    if appeal.state not in OPEN_APPEALS:
        return "This appeal was answered or withdrawn."
    hearing = hearing_of(appeal, user)
    if made_marks(user, case, except_for=hearing):
        return "You judged this text yourself, so another coach answers the appeal."
    if marks_unsealed(user, case):
        return "You are marking this text. Seal that mark first."
    if knows_author(case, user):
        return "You know the author of this text, so another coach answers the appeal."
    if hearing is None and _is_heard_by_other(case, user):
        return "A colleague is already hearing this appeal."
    if case.problem.contest.state != ContestState.MARKING:
        return "Appeals are answered while the contest is being marked. Ask an organiser to resume marking."
    return ""


def answer_refusal(user: User, appeal: Appeal, mark: Mark | None) -> str:
    """Why this coach cannot answer an appeal now. A sealed hearing can be answered even after marking is over."""
    hearing = hearing_of(appeal, user)
    if mark is not None and hearing is not None and not made_marks(user, appeal.grade.case, except_for=hearing):
        return ""
    return hearing_refusal(user, appeal)


def task_of(case: MarkingCase, user: User) -> MarkingTask | None:
    """The coach's newest hearing of a case that has led to no grade."""
    tasks = case.tasks.filter(slot=Slot.APPEAL, assignee=user).exclude(mark__grades__isnull=False)
    return tasks.order_by("-pk").first()


def hearing_of(appeal: Appeal, user: User) -> MarkingTask | None:
    """This coach's hearing of an appeal, also after it led to a grade; None if they do not hear it."""
    newest = _hearing_newest(appeal.grade.case)
    is_theirs = newest is not None and newest.assignee_id == user.pk and appeal.state == AppealState.HEARD
    return newest if is_theirs else None


def appeals_related(appeal: Appeal) -> list[Appeal]:
    """The other appeals about the same text that were not withdrawn, oldest first."""
    rows = Appeal.objects.filter(grade__case=appeal.grade.case_id).exclude(pk=appeal.pk).exclude(state=AppealState.WITHDRAWN)
    return list(rows.select_related("grade__scheme_version", "grade__case").order_by("at", "pk"))


def appeal_next(appeal: Appeal, user: User) -> Appeal | None:
    """Another appeal about the same text that this coach can answer now."""
    return next((one for one in appeals_related(appeal) if hearing_of(one, user) and not hearing_refusal(user, one)), None)


def _hearing_newest(case: MarkingCase) -> MarkingTask | None:
    return case.tasks.filter(slot=Slot.APPEAL).order_by("-pk").first()


def _is_heard_by_other(case: MarkingCase, user: User) -> bool:
    """Whether another current coach of the contest hears an unanswered appeal of this case."""
    newest = _hearing_newest(case)
    if newest is None or newest.assignee_id == user.pk:
        return False
    is_unanswered = Appeal.objects.filter(grade__case=case, state=AppealState.HEARD).exists()
    return is_unanswered and case.problem.contest.coaches.filter(person=newest.assignee_id).exists()


def _coaches(case: MarkingCase) -> QuerySet[User]:
    return User.objects.filter(pk__in=case.problem.contest.coaches.values("person"))


@transaction.atomic
def appeal_take(*, appeal: Appeal, by: User) -> MarkingTask:
    """Start hearing all open appeals about a text; creates the task of a fresh mark. Raises `AppealRefused`."""
    case = MarkingCase.objects.select_for_update().get(pk=appeal.grade.case_id)
    appeal.refresh_from_db()
    if refusal := hearing_refusal(by, appeal):
        raise AppealRefused(refusal)
    for left in case.tasks.filter(slot=Slot.APPEAL, done_at=None).exclude(assignee__in=_coaches(case)):
        hearing_end(left)
    task = hearing_of(appeal, by) or task_of(case, by) or MarkingTask.objects.create(case=case, slot=Slot.APPEAL, assignee=by)
    Appeal.objects.filter(grade__case=case, state=AppealState.WRITTEN).update(state=AppealState.HEARD)
    audit("appeal.heard", actor=by, case=case, appeal=str(appeal.public_id))
    return task


@transaction.atomic
def appeal_reject(*, appeal: Appeal, by: User, answer: str) -> None:
    """Reject an appeal with an answer. Raises `AppealRefused`."""
    _answer(appeal, by, AppealState.REJECTED, answer, None)
    cases_follow([appeal.grade.case])


@transaction.atomic
def appeal_uphold(*, appeal: Appeal, by: User, answer: str) -> FinalGrade:
    """Grant an appeal: the sealed mark of its hearing becomes the grade, which students see with the next release.

    If another appeal about the text already made it the grade, that grade answers this one too. Raises `AppealRefused`, also if
    there is no sealed mark or it can still be reopened.
    """
    mark = mark_sealed(appeal.grade.case, by)
    if mark is None:
        raise AppealRefused("Make a fresh mark of the text and seal it first. It becomes the new result.")
    until = grace_until(mark)
    if until is not None and timezone.now() < until:
        raise AppealRefused("Your mark can still be reopened for some seconds. Wait for the end of the 30 seconds.")
    _answer(appeal, by, AppealState.UPHELD, answer, mark)
    current = grade_of(mark.task.case)
    if current is not None and current.mark_id == mark.pk:
        grade = current
    else:
        grade = grade_give(case=mark.task.case, mark=mark, by=by, reason="An appeal was granted.")
    cases_follow([appeal.grade.case])
    return grade


def mark_sealed(case: MarkingCase, user: User) -> Mark | None:
    """The sealed mark that a coach made for the appeals of a case."""
    marks = Mark.objects.filter(task__case=case, task__slot=Slot.APPEAL, marker=user, state__in=SEALED)
    return marks.select_related("task__case__problem__contest", "scheme_version").order_by("-pk").first()


def _answer(appeal: Appeal, by: User, state: AppealState, answer: str, mark: Mark | None) -> None:
    MarkingCase.objects.select_for_update().get(pk=appeal.grade.case_id)
    appeal.refresh_from_db()
    if refusal := answer_refusal(by, appeal, mark):
        raise AppealRefused(refusal)
    if not answer.strip():
        raise AppealRefused("Enter an answer; the student reads it.")
    appeal.state, appeal.answer, appeal.answered_by, appeal.answered_at = state, answer.strip(), by, timezone.now()
    # Only one appeal of a text can reference the new mark; the record lists the others.
    appeal.mark = mark if mark is not None and not Appeal.objects.filter(mark=mark).exists() else None
    appeal.save(update_fields=["state", "answer", "answered_by", "answered_at", "mark"])
    audit(f"appeal.{state.value}", actor=by, case=appeal.grade.case, mark=mark, appeal=str(appeal.public_id))


def _item_part(grade: FinalGrade, parts: Mapping[str, FinalGrade]) -> ReleasePart:
    points = parts.get(ReleasePart.POINTS)
    return ReleasePart.POINTS if points is not None and points.pk == grade.pk else ReleasePart.SCHEME


def _window(since: datetime, now: datetime) -> Window:
    opens = since + timedelta(hours=settings.APPEAL_WAIT_H)
    closes = since + timedelta(days=settings.APPEAL_DAYS)
    return Window(opens, closes, opens <= now < closes, now >= closes)


def _in_window(window: Window, zone: ZoneInfo) -> None:
    if window.is_over:
        raise AppealRefused("The time for appeals is over.")
    if not window.is_open:
        raise AppealRefused(f"Appeals can be handed in from {exact(window.opens_at, zone)}. Use the time to think it over.")
