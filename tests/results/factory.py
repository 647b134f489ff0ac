"""Factories for a contest with marks: Charlie's text with verdicts and comments, texts of other authors, all settled."""

from datetime import timedelta
from typing import Any

from apps.accounts.models import User
from apps.contests.models import Contest, ContestProblem
from apps.marks.grades import grade_of
from apps.marks.models import Appeal, MarkingCase, MarkingTask, ReleaseBatch, ReleasePart
from apps.marks.sealing.sealing import cases_settle
from apps.marks.setups import cases_prepare
from apps.results.releasing import batch_release, readiness
from apps.submissions.models import SubmissionVersion
from tests.marks.factory import claimed, past_grace, problem_to_mark, script_add, sealed

TEXT = "Let $p$ be a prime.\n\nThen $p \\equiv 1 \\pmod 4$.\n\nSimilarly for $q$.\n\nHence the claim holds."
FOR_STUDENT, FOR_MARKERS, ABOUT_WHOLE = "Why is this so?", "sentinel-for-markers", "A good beginning."
VERDICT_WORDS = "The case $p = 2$ was not looked at."
JUDGED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("tick", {"code": "A1"}),
    ("verdict", {"id": "v1", "step": 2, "fallacy": "missing-case", "role": "root", "words": VERDICT_WORDS}),
    ("verdict", {"id": "v2", "step": 3, "fallacy": "wrong-logical-conclusion", "role": "consequence", "root": "v1"}),
    ("comment", {"id": "c1", "step": 2, "words": FOR_STUDENT}),
    ("comment", {"id": "c2", "step": 1, "words": FOR_MARKERS, "audience": "markers"}),
    ("comment", {"id": "c3", "step": 0, "words": ABOUT_WHOLE}),
)
FULL: tuple[tuple[str, dict[str, Any]], ...] = (("claim", {"line": "A1 A2"}),)
ALL = tuple(ReleasePart)


def marked(organiser: User, student: User, *others: User, scripts: int = 2, markers: int = 1) -> ContestProblem:
    """Create a problem with settled texts: the student's with `JUDGED`, and `scripts` others with all points."""
    problem = problem_to_mark(organiser, *others, scripts=scripts, markers=markers)
    script_add(problem, student.username.title(), TEXT, person=student)
    cases_prepare(problem)
    return judged(problem, organiser, student)


def judged(problem: ContestProblem, marker: User, student: User) -> ContestProblem:
    """Mark every text of the problem as one marker and settle the cases."""
    own = version_of(problem, student)
    while MarkingTask.objects.filter(case__problem=problem, slot="first", done_at=None).exists():
        task = claimed(problem, marker)
        past_grace(sealed(task, marker, *(JUDGED if task.case.version_id == own.pk else FULL)))
    cases_settle(problem.contest)
    return problem


def version_of(problem: ContestProblem, student: User) -> SubmissionVersion:
    """Return the newest text of a student."""
    rows = SubmissionVersion.objects.select_related("submission__paper__contest", "submission__problem")
    identity = problem.contest.identities.get(person=student)
    version = rows.filter(submission__paper=identity.paper, submission__problem=problem).order_by("-number").first()
    assert version is not None
    return version


def case_of(problem: ContestProblem, student: User) -> MarkingCase:
    """Return the case of the newest text of a student."""
    return MarkingCase.objects.select_related("problem__contest").get(version=version_of(problem, student))


def released(contest: Contest, by: User, *parts: str, **options: Any) -> ReleaseBatch:
    """Release these parts in one batch; without names, all parts."""
    expected = readiness(contest).token
    return batch_release(contest=contest, parts=parts or ALL, by=by, expected=expected, **options)


def passed(batch: ReleaseBatch, **time: int) -> ReleaseBatch:
    """Move the release time of the batch back by this time."""
    earlier = timedelta(**time)
    ReleaseBatch.objects.filter(pk=batch.pk).update(
        released_at=batch.released_at - earlier, undo_until=batch.undo_until - earlier
    )
    batch.refresh_from_db()
    return batch


def day_after(contest: Contest, by: User, *parts: str) -> ReleaseBatch:
    """Return a batch old enough for an appeal."""
    return passed(released(contest, by, *parts), hours=25)


def appeal_of(problem: ContestProblem, student: User, target: str = "verdict:v1") -> Appeal:
    """Hand in an appeal of the student."""
    from apps.results.appeals import appeal_write
    from apps.results.shown import parts_of

    version = version_of(problem, student)
    words = "I look at the case $p = 2$ in my last step."
    return appeal_write(version=version, parts=parts_of([version])[version.pk], target=target, words=words)


def states(problem: ContestProblem) -> set[str]:
    """Return the states of all cases."""
    return set(MarkingCase.objects.filter(problem=problem).values_list("state", flat=True))


def points_now(case: MarkingCase) -> str:
    """Return the points of the current grade, released or not."""
    grade = grade_of(case)
    assert grade is not None
    return str(grade.points)
