"""The history of an attempt as a story: versions with what changed, questions, answers, hints, remarks and their ends."""

from dataclasses import dataclass
from datetime import datetime
from difflib import SequenceMatcher

from apps.practice.models import HintTaken, Question, Remark
from apps.submissions.models import Submission, SubmissionVersion


@dataclass(frozen=True)
class StepChange:
    """A step of the newer text and what became of it: `kept`, `changed` (with its old text), `new`, or `gone`."""

    fate: str
    number: int
    text: str
    old: str = ""


@dataclass(frozen=True)
class Moment:
    """One event of the story. `kind`: version, question, answer, hint, remark."""

    at: datetime
    kind: str
    words: str
    version: SubmissionVersion | None = None


def changes_between(old: SubmissionVersion, new: SubmissionVersion) -> list[StepChange]:
    """The steps of the newer version, matched with those of the older by their words."""
    before, now = list(old.steps.all()), list(new.steps.all())
    matcher = SequenceMatcher(None, [one.digest for one in before], [one.digest for one in now], autojunk=False)
    found: list[StepChange] = []
    for tag, start, end, first, last in matcher.get_opcodes():
        gone, here = before[start:end], now[first:last]
        if tag == "equal":
            found += [StepChange("kept", one.number, _text(new, one.start, one.end)) for one in here]
            continue
        for index, one in enumerate(here):
            old_text = _text(old, gone[index].start, gone[index].end) if index < len(gone) else ""
            found.append(StepChange("changed" if old_text else "new", one.number, _text(new, one.start, one.end), old_text))
        found += [StepChange("gone", one.number, "", _text(old, one.start, one.end)) for one in gone[len(here) :]]
    return found


def step_now(remark: Remark, version: SubmissionVersion) -> int | None:
    """The step of a newer version that has the words of a remark's step; 0 for the whole text, None if they changed."""
    if not remark.step:
        return 0
    old = remark.version.steps.filter(number=remark.step).first()
    same = version.steps.filter(digest=old.digest).first() if old is not None else None
    return same.number if same is not None else None


def story_of(submission: Submission) -> list[Moment]:
    """The story of a text, the oldest first."""
    versions = list(submission.versions.order_by("number"))
    found = [
        Moment(
            one.handed_in_at, "version", f"Version {one.number} handed in" + (" and withdrawn" if one.withdrawn_at else ""), one
        )
        for one in versions
    ]
    for question in Question.objects.filter(version__submission=submission, withdrawn_at=None).select_related("version"):
        found.append(Moment(question.asked_at, "question", f"Asked: {question.words}", question.version))
        if question.answered_at is not None:
            words = f"{question.get_outcome_display()}. {question.answer}".strip()
            found.append(Moment(question.answered_at, "answer", words, question.version))
    hints = HintTaken.objects.filter(submission=submission)
    found += [Moment(hint.at, "hint", f"Hint {hint.level + 1}, after: {hint.explanation}") for hint in hints]
    for remark in Remark.objects.filter(version__submission=submission).select_related("version", "settlement", "disagreement"):
        found += _moments_of(remark)
    return sorted(found, key=lambda one: one.at)


def _moments_of(remark: Remark) -> list[Moment]:
    where = f"step {remark.step}" if remark.step else "the whole text"
    found = [Moment(remark.at, "remark", f"Remark on {where} ({remark.get_origin_display()})", remark.version)]
    disagreement = getattr(remark, "disagreement", None)
    if disagreement is not None:
        found.append(Moment(disagreement.at, "remark", f"You disagreed: {disagreement.words}", remark.version))
        if disagreement.replied_at is not None:
            said = "A coach agreed with you" if disagreement.is_upheld else "A coach holds to the remark"
            found.append(Moment(disagreement.replied_at, "remark", said, remark.version))
    settlement = getattr(remark, "settlement", None)
    if settlement is not None and settlement.decided_at is not None:
        by = "a coach" if settlement.by_id else "the formula check"
        said = f"Settled, confirmed by {by}" if settlement.holds else f"Not settled yet, says {by}"
        found.append(Moment(settlement.decided_at, "remark", said, settlement.version))
    return found


def _text(version: SubmissionVersion, start: int, end: int) -> str:
    return version.source[start:end]
