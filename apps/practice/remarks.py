"""Remarks at steps: a coach's, and what the student says to any remark. Nothing here is a mark."""

from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import ContestState
from apps.practice.helping.rules import HelpRefused, help_refusal
from apps.practice.models import Disagreement, Judgement, Remark, RemarkOrigin, Settlement
from apps.practice.questions import explained, text_share
from apps.reasoning.marking.sheets.sheet import Fallacy
from apps.submissions.models import SubmissionVersion

REMARKS_AT_MOST = 100
LAST_STAGE = 3


@transaction.atomic
def remark_add(
    *, version: SubmissionVersion, step: int, words: str, kind: str, by: User, grants: bool = False, reference_step: int = 0
) -> Remark:
    """Add a coach's remark at a step, or at the whole text (0). Raises `HelpRefused`."""
    if refusal := help_refusal(version.submission.problem):
        raise HelpRefused(refusal)
    if version.submission.problem.contest.state != ContestState.OPEN:
        raise HelpRefused("This sheet is closed.")
    if step and not version.steps.filter(number=step).exists():
        raise HelpRefused("This text has no such step.")
    if kind and kind not in {one.value for one in Fallacy}:
        raise HelpRefused("Unknown kind of error.")
    words = words.strip()
    if not words and not kind and not grants:
        raise HelpRefused("Write a sentence, choose a kind of error, or grant the step.")
    if grants and not step:
        raise HelpRefused("Choose the step that you grant.")
    if version.remarks.count() >= REMARKS_AT_MOST:
        raise HelpRefused(f"Not saved: a text has at most {REMARKS_AT_MOST} remarks.")
    return Remark.objects.create(
        version=version,
        origin=RemarkOrigin.COACH,
        step=step,
        words=words,
        kind="" if grants else kind,
        grants=grants,
        reference_step=reference_step,
        by=by,
    )


@transaction.atomic
def remark_remove(*, remark: Remark, by: User) -> None:
    """Remove an own remark that the student has not replied to. Raises `HelpRefused`."""
    if remark.by_id != by.pk or remark.origin != RemarkOrigin.COACH:
        raise HelpRefused("You can remove your own remarks only.")
    if Disagreement.objects.filter(remark=remark).exists() or Settlement.objects.filter(remark=remark).exists():
        raise HelpRefused("The student has replied to this remark, so it stays.")
    remark.delete()


@transaction.atomic
def remark_open(*, remark: Remark, stage: int) -> Remark:
    """Open the next stage of a model's remark: place, question, reason. `stage` is the one that the student sees.

    Raises `HelpRefused`.
    """
    if refusal := help_refusal(remark.version.submission.problem):
        raise HelpRefused(refusal)
    if remark.origin == RemarkOrigin.MODEL:
        Remark.objects.filter(pk=remark.pk, stage=stage, stage__lt=LAST_STAGE).update(stage=stage + 1)
        remark.refresh_from_db()
    return remark


@transaction.atomic
def disagree(*, remark: Remark, words: str) -> Disagreement:
    """Object to a remark; a coach sees it. Raises `HelpRefused` without a reason or a second time."""
    _answers_come(remark.version)
    words = explained(words)
    found, is_new = Disagreement.objects.get_or_create(remark=remark, defaults={"words": words})
    if not is_new:
        raise HelpRefused("You have already disagreed with this remark.")
    text_share(remark.version.submission)
    return found


@transaction.atomic
def disagreement_answer(*, disagreement: Disagreement, is_upheld: bool, reply: str, by: User) -> None:
    """Decide a disagreement. For a model's remark it is also the coach's judgement. Raises `HelpRefused` a second time."""
    if refusal := help_refusal(disagreement.remark.version.submission.problem):
        raise HelpRefused(refusal)
    values = {"is_upheld": is_upheld, "reply": " ".join(reply.split()), "by": by, "replied_at": timezone.now()}
    if not Disagreement.objects.filter(pk=disagreement.pk, is_upheld=None).update(**values):
        raise HelpRefused("This was decided meanwhile.")
    if disagreement.remark.origin == RemarkOrigin.MODEL:
        remark_judge(remark=disagreement.remark, judged=Judgement.WRONG if is_upheld else Judgement.RIGHT, by=by)


@transaction.atomic
def remark_judge(*, remark: Remark, judged: str, by: User) -> None:
    """Record whether a model's remark is right, for the figures of staff. A later judgement replaces an earlier one."""
    if remark.origin != RemarkOrigin.MODEL or judged not in Judgement.values:
        raise HelpRefused("Only remarks of models are judged, as right or wrong.")
    Remark.objects.filter(pk=remark.pk).update(judged=judged, judged_by=by)


@transaction.atomic
def settle(*, remark: Remark, version: SubmissionVersion) -> Settlement:
    """Claim that a newer version settles a remark. A refused claim can be renewed with a version newer than it.

    Raises `HelpRefused`.
    """
    if version.submission_id != remark.version.submission_id or version.number <= remark.version.number:
        raise HelpRefused("Hand in a newer version first.")
    if version.withdrawn_at is not None:
        raise HelpRefused("This version was withdrawn. Hand in a newer one.")
    _answers_come(version)
    if remark.grants:
        raise HelpRefused("This step was granted; there is nothing to settle.")
    found = Settlement.objects.select_for_update().filter(remark=remark).first()
    if remark.origin != RemarkOrigin.FORMULA:  # The check itself confirms these.
        text_share(version.submission)
    if found is None:
        return Settlement.objects.create(remark=remark, version=version)
    may_renew = found.holds is False or (found.holds is None and found.version.withdrawn_at is not None)
    if not may_renew or version.number <= found.version.number:
        raise HelpRefused("You have already said that. A coach or the formula check confirms it.")
    Settlement.objects.filter(pk=found.pk).update(version=version, holds=None, by=None, decided_at=None, at=timezone.now())
    found.refresh_from_db()
    return found


def _answers_come(version: SubmissionVersion) -> None:
    """Raise `HelpRefused` where no coach would read the student's words."""
    problem = version.submission.problem
    if refusal := help_refusal(problem):
        raise HelpRefused(refusal)
    if problem.contest.state != ContestState.OPEN:
        raise HelpRefused("This sheet is closed, so coaches no longer answer.")


@transaction.atomic
def settlement_decide(*, settlement: Settlement, holds: bool, by: User | None) -> None:
    """Confirm or refuse a claim; `by` is None for the formula check. Raises `HelpRefused` if it may not be or was."""
    if refusal := help_refusal(settlement.remark.version.submission.problem):
        raise HelpRefused(refusal)
    values = {"holds": holds, "by": by, "decided_at": timezone.now()}
    if not Settlement.objects.filter(pk=settlement.pk, holds=None).update(**values):
        raise HelpRefused("This was decided meanwhile.")
