"""Released remarks in a newer version: kept if the words are unchanged, else to be confirmed by a marker, or gone.

Nothing is precomputed: texts and grades never change, so the mapping of two versions is always the same.
"""

from dataclasses import dataclass, replace

from django.db import transaction

from apps.accounts.models import User
from apps.contests.models import Contest
from apps.marks.models import FinalGrade, ReleasedGrade, ReleasePart
from apps.marks.page_marks import PageMarked, page_at
from apps.marks.sheets import script_of
from apps.reasoning.marking.sheets.carrying import Carried, Carrying, remarks_carried
from apps.reasoning.marking.sheets.commands import Script
from apps.reasoning.marking.sheets.pages import page_of
from apps.reasoning.marking.sheets.sheet import Comment, MarkSheet, StepVerdict
from apps.reasoning.marking.sheets.student_view import comments_shown
from apps.results.access import carried_candidates, carried_may_read
from apps.results.models import CarriedRemark
from apps.results.shown import StepShown, VerdictShown, parts_of, verdict_shown
from apps.submissions.models import SubmissionVersion
from apps.submissions.selectors import versions_to_mark


class RevisionRefused(Exception):
    """A remark cannot be confirmed; the message gives the reason."""


@dataclass(frozen=True)
class RemarkRow:
    """An earlier remark with its fate: `verdict` or `comment`, the old and new text, and a marker's decision, if any."""

    verdict: VerdictShown | None
    comment: Comment | None
    carried: Carried
    old_text: str
    new_text: str
    holds: bool | None
    old_page: PageMarked[StepVerdict | Comment] | None = None
    new_page: PageMarked[StepVerdict | Comment] | None = None

    @property
    def key(self) -> str:
        return self.carried.id

    @property
    def is_current(self) -> bool:
        """Whether the author may see it as a remark on the newer version."""
        return self.carried.fate == "kept" or self.holds is True


@dataclass(frozen=True)
class Revision:
    """The remarks of `grade` on an older version, carried to a newer one."""

    grade: FinalGrade
    old: SubmissionVersion
    new: SubmissionVersion
    rows: list[RemarkRow]

    def of(self, *fates: str) -> list[RemarkRow]:
        """The rows with these fates."""
        return [row for row in self.rows if row.carried.fate in fates]

    @property
    def kept(self) -> list[RemarkRow]:
        return self.of("kept")

    @property
    def unsure(self) -> list[RemarkRow]:
        return self.of("needs confirmation")

    @property
    def gone(self) -> list[RemarkRow]:
        return self.of("orphaned")


@dataclass(frozen=True)
class EarlierFeedback:
    """Feedback on an older version as shown with a newer one, until the newer has its own.

    `steps`: those with remarks that still apply. `open`: number of remarks on changed text.
    """

    old: SubmissionVersion
    steps: list[StepShown]
    open: int


def version_before(version: SubmissionVersion) -> SubmissionVersion | None:
    """The newest older version of the same text with released remarks."""
    older = version.submission.versions.filter(number__lt=version.number).defer("raw", "source").order_by("-number")
    shown = parts_of(older)
    return next((one for one in older if remarks_released(shown.get(one.pk, {}))), None)


def remarks_released(parts: dict[str, FinalGrade]) -> bool:
    """Whether comments or verdicts were released."""
    return ReleasePart.COMMENTS in parts or ReleasePart.VERDICTS in parts


def revision_of(version: SubmissionVersion) -> Revision | None:
    """The released remarks on the previous version, carried to this one; None if there are none."""
    old = version_before(version)
    if old is None:
        return None
    parts = parts_of([old])[old.pk]
    verdicts, comments = parts.get(ReleasePart.VERDICTS), parts.get(ReleasePart.COMMENTS)
    grade = verdicts or comments
    assert grade is not None
    sheet = MarkSheet.model_validate(verdicts.sheet) if verdicts else MarkSheet()
    written = comments_shown(MarkSheet.model_validate(comments.sheet)) if comments else ()
    before, now = script_of(old), script_of(version)
    carrying = remarks_carried(sheet.verdicts, written, before, now)
    decided = dict(CarriedRemark.objects.filter(version=version).values_list("key", "holds"))
    rows = _rows(sheet, written, carrying, before, now, decided)
    return Revision(grade, old, version, [_with_pages(row, old, version) for row in rows])


def revisions_for(user: User, contest: Contest) -> list[Revision]:
    """Newer versions with earlier remarks that this coach may read, by problem and paper number."""
    released = ReleasedGrade.objects.filter(batch__undone_at=None, batch__contest=contest)
    texts = released.values("grade__case__version__submission")
    newer = versions_to_mark(contest).filter(number__gt=1, submission__in=texts).defer("raw", "source")
    newer = newer.select_related("submission__paper__contest", "submission__problem")
    rows = list(newer.order_by("submission__problem__position", "submission__paper__number"))
    own = carried_candidates(user, rows)
    found = [revision for version in rows if version.pk in own and (revision := revision_of(version)) is not None]
    return [revision for revision in found if carried_may_read(user, revision.grade, revision.new)]


@transaction.atomic
def remark_decide(*, version: SubmissionVersion, key: str, holds: bool, by: User) -> None:
    """Decide whether a remark that was not certainly kept applies to the newer version. Raises `RevisionRefused`."""
    revision = revision_of(version)
    row = next((one for one in revision.unsure if one.key == key), None) if revision else None
    if revision is None or row is None:
        raise RevisionRefused("There is no such remark to confirm. Reload the page.")
    if holds and row.carried.step is None:
        raise RevisionRefused("The step of this remark is gone, so it cannot apply.")
    values = {"holds": holds, "by": by, "step": row.carried.step or 0}
    CarriedRemark.objects.update_or_create(grade=revision.grade, version=version, key=key, defaults=values)


def earlier_feedback(version: SubmissionVersion) -> EarlierFeedback | None:
    """Released feedback on an older version that still applies; None if there is none."""
    revision = revision_of(version)
    if revision is None:
        return None
    steps: dict[int, StepShown] = {}
    texts = {step.number: step.text for step in version.steps.select_related("version")}
    for row in revision.rows:
        number = row.carried.step or 0
        if not row.is_current:
            continue
        step = steps.setdefault(number, StepShown(number, texts.get(number, "")))
        if row.verdict is not None:
            step.verdicts.append(row.verdict)
        elif row.comment is not None:
            step.comments.append(row.comment)
    open_count = sum(not row.is_current for row in revision.rows)
    return EarlierFeedback(revision.old, [steps[number] for number in sorted(steps)], open_count)


def _with_pages(row: RemarkRow, old: SubmissionVersion, new: SubmissionVersion) -> RemarkRow:
    """The row with the pages of its remark in both versions, where it is about a page."""
    note = row.verdict.value if row.verdict is not None else row.comment
    if note is None or page_of(note.step) is None:
        return row
    moved = note.model_copy(update={"step": row.carried.step or 0})
    return replace(row, old_page=page_at(old, note.step, [note]), new_page=page_at(new, moved.step, [moved]))


def _rows(
    sheet: MarkSheet,
    comments: tuple[Comment, ...],
    carrying: Carrying,
    old: Script,
    new: Script,
    decided: dict[str, bool],
) -> list[RemarkRow]:
    before = {step.number: step.text_in(old.source) for step in old.steps}
    now = {step.number: step.text_in(new.source) for step in new.steps}
    pairs: list[tuple[VerdictShown | None, Comment | None, int, Carried]] = [
        (verdict_shown(one, sheet), None, one.step, fate) for one, fate in zip(sheet.verdicts, carrying.verdicts, strict=True)
    ]
    pairs += [(None, one, one.step, fate) for one, fate in zip(comments, carrying.comments, strict=True)]
    return [
        RemarkRow(verdict, comment, fate, before.get(step, ""), now.get(fate.step or 0, ""), decided.get(fate.id))
        for verdict, comment, step, fate in sorted(pairs, key=lambda pair: pair[2])
    ]
