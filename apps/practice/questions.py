"""Questions to coaches: asking, withdrawing, answering, and how long answers take."""

from dataclasses import dataclass
from datetime import timedelta
from statistics import median

from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import ContestKind, ContestProblem, ContestState, Paper
from apps.contests.practice import coaches_of
from apps.practice.helping.rules import HelpRefused, help_refusal, rules_of
from apps.practice.models import Outcome, Question, SharedText
from apps.submissions.models import Submission, SubmissionVersion

WORDS_AT_LEAST = 3
#: The median wait is that of the latest answers.
ANSWERS_COUNTED = 50
EXPLAIN = "Say in a sentence where you are stuck, or what you want to know."


def explained(text: str) -> str:
    """A student's explanation on one line. Raises `HelpRefused` if it has fewer than three words."""
    text = " ".join(text.split())
    if len(text.split()) < WORDS_AT_LEAST:
        raise HelpRefused(EXPLAIN)
    return text


def ask_refusal(version: SubmissionVersion) -> str:
    """Why no coach can be asked about a version; empty if one can."""
    problem = version.submission.problem
    if refusal := help_refusal(problem):
        return refusal
    if problem.contest.state != ContestState.OPEN:
        return "This sheet is closed."
    if not rules_of(problem.contest).asks_coaches:
        return "On this sheet, coaches do not answer questions."
    if version.withdrawn_at is not None:
        return "This version was withdrawn."
    if version.submission.versions.filter(number__gt=version.number, withdrawn_at=None).exists():
        return "There is a newer version. Ask about the newest one."
    if open_question(version) is not None:
        return "You have already asked about this version. Your coaches will answer."
    return ""


def open_question(version: SubmissionVersion) -> Question | None:
    """The question on a version that waits for an answer."""
    return Question.objects.filter(version=version, withdrawn_at=None, answered_at=None).first()


@transaction.atomic
def question_ask(*, version: SubmissionVersion, words: str, step: int = 0) -> Question:
    """Ask the coaches. Ends open questions on older versions of the text. Raises `HelpRefused`."""
    SubmissionVersion.objects.select_for_update().get(pk=version.pk)
    if refusal := ask_refusal(version):
        raise HelpRefused(refusal)
    if step and not version.steps.filter(number=step).exists():
        raise HelpRefused("This version has no such step. Choose another one.")
    older = Question.objects.filter(version__submission=version.submission, withdrawn_at=None, answered_at=None)
    SharedText.objects.filter(question__in=older).delete()
    older.update(withdrawn_at=timezone.now())
    question = Question.objects.create(version=version, words=explained(words), step=step)
    text_share(version.submission, question=question)
    return question


def readers_of(submission: Submission) -> list[User]:
    """The coaches who would read a text of practice with its author's name; empty for all coaches, without the name."""
    return list(coaches_of(submission.paper))


def text_share(submission: Submission, *, question: Question | None = None) -> None:
    """Share a text of practice with the coaches of its student's groups, else with all coaches, without the name."""
    if submission.paper.contest.kind == ContestKind.PRACTICE:
        coaches: list[User | None] = [*readers_of(submission)] or [None]
        SharedText.objects.bulk_create(SharedText(submission=submission, coach=coach, question=question) for coach in coaches)


@transaction.atomic
def sharing_end(*, paper: Paper, problem: ContestProblem) -> None:
    """No coach reads this text of practice from now on, until its student shares it again. Withdraws its open questions."""
    texts = Submission.objects.filter(paper=paper, problem=problem)
    waiting = Question.objects.filter(version__submission__in=texts, withdrawn_at=None, answered_at=None)
    waiting.update(withdrawn_at=timezone.now())
    SharedText.objects.filter(submission__in=texts).delete()


@transaction.atomic
def question_withdraw(*, question: Question) -> None:
    """Withdraw a question. Raises `HelpRefused` once it was answered."""
    rows = Question.objects.filter(pk=question.pk, answered_at=None)
    if not rows.update(withdrawn_at=timezone.now()):
        raise HelpRefused("The question was answered meanwhile.")
    SharedText.objects.filter(question=question).delete()


@transaction.atomic
def question_answer(*, question: Question, words: str, outcome: str, by: User) -> Question:
    """Answer a question. Remarks at steps are added before. Raises `HelpRefused`."""
    words = words.strip()
    if outcome not in Outcome.values:
        raise HelpRefused("Choose one of the three outcomes.")
    if not words and not question.version.remarks.filter(by=by).exists():
        raise HelpRefused("Write a sentence, or a remark at a step.")
    if refusal := help_refusal(question.version.submission.problem):
        raise HelpRefused(refusal)
    values = {"answer": words, "outcome": outcome, "answered_by": by, "answered_at": timezone.now()}
    if not Question.objects.filter(pk=question.pk, withdrawn_at=None, answered_at=None).update(**values):
        raise HelpRefused("Not saved: another coach answered meanwhile, or the student withdrew the question.")
    question.refresh_from_db()
    return question


@dataclass(frozen=True)
class Wait:
    """How long answers took, of the latest ones. `typical` is the median."""

    typical: timedelta
    answers: int

    @property
    def words(self) -> str:
        """Such as "about 3 hours"."""
        hours = self.typical.total_seconds() / 3600
        if hours < 1:
            return "less than an hour"
        number, unit = (round(hours), "hour") if hours < 48 else (round(hours / 24), "day")
        return f"about {number} {unit}{'' if number == 1 else 's'}"


def typical_wait(kind: ContestKind | None = None) -> Wait | None:
    """The median time from question to answer; None before the first answer. `kind`: of practice or of sheets only."""
    rows = Question.objects.filter(answered_at__isnull=False)
    if kind is not None:
        rows = rows.filter(version__submission__paper__contest__kind=kind)
    times = rows.order_by("-answered_at").values_list("asked_at", "answered_at")[:ANSWERS_COUNTED]
    waits = [(answered - asked).total_seconds() for asked, answered in times if answered is not None]
    return Wait(timedelta(seconds=median(waits)), len(waits)) if waits else None
