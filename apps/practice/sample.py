"""The open sample sheet of the embedded mode: three easy problems, one text answered by a coach, one question that waits.

The texts are authored attempts of the sample library. Everything is created through the services that people use.
"""

from django.db import transaction

from apps.accounts.models import User
from apps.contests.models import AuthorKind, Contest, ContestKind, ContestProblem
from apps.contests.services import author_add, student_add
from apps.marks.sample import contest_opened, sample_problems
from apps.practice import questions, remarks
from apps.problems.samples import first_steps
from apps.reasoning.marking.sheets.sheet import Fallacy
from apps.submissions.models import SubmissionVersion, TextFormat
from apps.submissions.services import version_hand_in

TITLE = "Sample practice sheet (authored example)"
SLUGS = ("odd-squares", "divisible-by-six", "handshakes")
OTHER = "Lena Fuchs"
ASKED = "I get two remainders, but the problem asks for one. Where do I lose it?"
ANSWERED = "Your first step is the right one, and so is your use of the parity of $k$. Only the square needs another look."
POINTER = "What does this line give for $k=1$, and what is $3^2$?"
WAITS = "Is it enough that eight is a multiple of four?"


def sample_sheet_load(*, coaches: tuple[User, User, User], student: User) -> Contest | None:
    """Create the sample sheet; None if it exists. Raises `SampleRefused` without the sample library."""
    if Contest.objects.filter(title=TITLE).exists():
        return None
    problems = sample_problems(SLUGS)
    with transaction.atomic():
        contest = contest_opened(TITLE, coaches, problems, ContestKind.SHEET)
        row = contest.problems.order_by("position")[0]
        _answered(_handed_in(row, student=student, kind="wrong"), coaches[1])
        questions.question_ask(version=_handed_in(row, kind="gap"), words=WAITS)
    return contest


def _handed_in(row: ContestProblem, *, kind: str, student: User | None = None) -> SubmissionVersion:
    """An authored attempt of this kind, of the sample student or of an author without an account."""
    text = next(one.text for one in first_steps()[SLUGS[0]] if one.kind == kind)
    contest = row.contest
    paper = (
        student_add(contest=contest, person=student)
        if student is not None
        else author_add(contest=contest, name=OTHER, kind=AuthorKind.STUDENT)
    )
    stepped = text.replace(". ", ".\n\n")  # One sentence a step, as a student writes on a sheet.
    return version_hand_in(paper=paper, problem=row, text=stepped, text_format=TextFormat.MARKDOWN, based_on=0)


def _answered(version: SubmissionVersion, coach: User) -> None:
    question = questions.question_ask(version=version, words=ASKED)
    remarks.remark_add(version=version, step=1, words="", kind="", grants=True, by=coach)
    remarks.remark_add(version=version, step=2, words=POINTER, kind=Fallacy.CALCULATION, by=coach, reference_step=1)
    questions.question_answer(question=question, words=ANSWERED, outcome="nearly", by=coach)
