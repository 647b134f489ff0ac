"""The sample training sheet of the embedded mode: one problem, marked and released. Its student can hand in newer versions.

Texts and judgements are authored (`sample_training/`), in the format of the sample contest. Everything is created through the
services; only times are moved back, because appeals open a day after a release.
"""

from datetime import timedelta
from pathlib import Path

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import Contest, ContestKind, ContestProblem
from apps.contests.services import contest_move
from apps.marks.models import Mark, MarkingCase, ReleaseBatch, ReleasePart
from apps.marks.sample import Script, contest_opened, sample_files, sample_problems, script_seal, scripts_hand_in, scripts_known
from apps.marks.setups import Choices, cases_prepare, setup_save
from apps.marks.workspace.claims import task_next
from apps.reasoning.feedback.ladder import Rules, Track
from apps.results import feedback
from apps.results.appeals import appeal_write
from apps.results.models import Notice
from apps.results.releasing import batch_release, readiness
from apps.results.shown import parts_of
from apps.submissions.models import SubmissionVersion

TITLE = "Sample training sheet (authored example)"
FOLDER = Path(__file__).with_name("sample_training")
PARTS = (ReleasePart.COMMENTS, ReleasePart.VERDICTS, ReleasePart.POINTS, ReleasePart.SCHEME, ReleasePart.STATISTICS)
MARKED_AGO, RELEASED_AGO = timedelta(days=3), timedelta(days=2)
APPEAL = (
    "In every row the colours change after two cells, beginning at the border of a block. Four cells in a row therefore are "
    "two of each colour wherever I begin. I thought that this is seen at once, and I ask you to look at it again."
)
QUESTION = "Is it enough to say more about the position of a tile?"
FIRST_HINT = (
    "Your colouring decides the problem, and the two counts at the end are right. What is still to be shown is in step 2."
)
TRIED = "I drew one row of the board and wrote the colours below it."


def sample_training_load(*, coaches: tuple[User, User, User], student: User) -> Contest | None:
    """Create the sample training sheet; None if it exists. Raises `SampleRefused` without the sample library.

    The second coach marks everything, the first releases it and can hear the appeal, the third gives the first hint.
    """
    if Contest.objects.filter(title=TITLE).exists():
        return None
    files = sample_files(FOLDER)
    problems = sample_problems([slug for slug, _ in files])
    with transaction.atomic():
        contest = contest_opened(TITLE, coaches, problems, ContestKind.SHEET)
        scripts_hand_in(contest, [scripts for _, scripts in files], student)
        contest = contest_move(contest=contest, verb="mark", based_on=contest.row_version)
        for problem in contest.problems.select_related("contest", "problem").order_by("position"):
            _marked(problem, coaches[1], scripts_known(files))
        _released(contest, coaches[0])
        _answered(contest, coaches, student)
    return contest


def _marked(problem: ContestProblem, coach: User, known: dict[str, Script]) -> None:
    scheme = problem.problem.marking_schemes.filter(versions__status="active").first()
    setup_save(problem=problem, choices=Choices(scheme=scheme, markers=1), by=coach)
    cases_prepare(problem)
    while (task := task_next(problem, coach)) is not None:
        script_seal(task, coach, known, seconds=140.0)


def _released(contest: Contest, by: User) -> None:
    marks = Mark.objects.filter(task__case__problem__contest=contest)
    marks.update(sealed_at=F("sealed_at") - MARKED_AGO)
    batch = batch_release(contest=contest, parts=PARTS, by=by, expected=readiness(contest).token)
    ReleaseBatch.objects.filter(pk=batch.pk).update(
        released_at=timezone.now() - RELEASED_AGO, undo_until=timezone.now() - RELEASED_AGO
    )
    Notice.objects.filter(batch=batch).delete()  # An example sends no mails.


def _answered(contest: Contest, coaches: tuple[User, User, User], student: User) -> None:
    """The student appeals against a verdict, gets a first hint and asks for the second."""
    paper = contest.identities.get(person=student).paper
    version = SubmissionVersion.objects.filter(submission__paper=paper).get()
    case = MarkingCase.objects.get(version=version)
    appeal_write(version=version, parts=parts_of([version])[version.pk], target="verdict:v1", words=APPEAL)
    rules = Rules(first_wait=0, later_wait=0)
    feedback.rules_save(problem=case.problem, is_on=True, rules=rules, by=coaches[1])
    request = feedback.request_open(version=version, track=Track.REPAIR.value, words=QUESTION)
    feedback.rung_give(asked=request.asked.get(), text=FIRST_HINT, by=coaches[2])
    feedback.rung_ask(request=request, level=1, tried=TRIED)
