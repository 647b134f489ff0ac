"""Waits of captains and organisers: a scheme changed after 5,000 marks, and the list of 10,000 papers.

The rows are inserted in bulk; another benchmark measures claiming and sealing. The recomputed grades are compared with an
evaluation of every claim from scratch.
"""

import random
import time
from decimal import Decimal
from statistics import quantiles
from typing import TYPE_CHECKING

from benchmarks.figures import Figure
from benchmarks.stage import set_up

if TYPE_CHECKING:
    from apps.accounts.models import User
    from apps.contests.models import Contest, ContestProblem
    from apps.marks.models import MarkingCase
    from apps.schemes.models import SchemeVersion
    from apps.submissions.models import SubmissionVersion

MARKS, QUICK_MARKS = 5_000, 500
PAPERS, QUICK_PAPERS = 10_000, 1_000
REQUESTS = 40
BATCH = 500
OLD = """
chain A: Descent
chain B: Rings
checkpoint A1, 2 points, chain A: One.
checkpoint A2, 2 points, chain A, needs A1: Two.
checkpoint A3, 3 points, chain A: Three.
checkpoint B1, 3 points, chain B: Four.
checkpoint B2, 4 points, chain B: Five.
cap K, at most 5: Six.
deduction D, 1 point: Seven.
"""
NEW = OLD.replace("A1, 2 points", "A1, 1 point").replace("A3, 3", "A3, 4").replace("at most 5", "at most 4")


def figures(quick: bool = False) -> list[Figure]:
    """Seconds of the preview and of the change, and milliseconds of a page of the list."""
    set_up(ALLOWED_HOSTS="testserver")
    from django.test.utils import setup_test_environment

    setup_test_environment()
    marks, papers = (QUICK_MARKS, QUICK_PAPERS) if quick else (MARKS, PAPERS)
    coach, problem = contest_marked(marks, papers)
    preview, change = _changed(coach, problem)
    return [
        Figure(f"Preview of a change over {marks:,} marks", preview, "s"),
        Figure(f"Recompute {marks:,} marks after a change of the scheme", change, "s", 10, "at most"),
        Figure(f"A page of the list of {papers:,} papers, p95", _page(coach, problem.contest), "ms", 500, "at most"),
    ]


def _changed(coach: "User", problem: "ContestProblem") -> tuple[float, float]:
    from apps.marks.models import FinalGrade
    from apps.marks.office.scheme_change import change_apply, impact, target_of
    from apps.reasoning.marking.schemes.evaluation import evaluate
    from apps.reasoning.marking.schemes.text_form import text_read
    from apps.reasoning.marking.sheets.sheet import MarkSheet
    from apps.schemes.services import scheme_save

    scheme = problem.setup.scheme
    assert scheme is not None
    scheme.refresh_from_db()
    scheme_save(scheme=scheme, content=text_read(NEW), by=coach, based_on=scheme.row_version)
    scheme.refresh_from_db()
    target = target_of(problem.setup)
    assert target is not None
    began = time.perf_counter()
    found = impact(problem, target, {})
    preview = time.perf_counter() - began
    began = time.perf_counter()
    change_apply(
        problem=problem, choices=found.choices, reason="A benchmark.", by=coach, based_on=scheme.row_version, token=found.token
    )
    change = time.perf_counter() - began
    content = text_read(NEW)
    for grade in FinalGrade.objects.filter(superseded_by=None):
        if grade.points != evaluate(content, MarkSheet.model_validate(grade.sheet).ticks).points:
            raise SystemExit("a recomputed grade differs from the value of its claim")
    return preview, change


def _page(coach: "User", contest: "Contest") -> float:
    from django.test import Client

    client = Client()
    client.force_login(coach)
    took = []
    for number in range(REQUESTS):
        began = time.perf_counter()
        answer = client.get(f"/contests/{contest.public_id}/papers/", {"page": 1 + number * 2})
        took.append((time.perf_counter() - began) * 1000)
        if answer.status_code != 200:
            raise SystemExit(f"the list answered {answer.status_code}")
    return quantiles(took, n=20, method="inclusive")[-1]


def contest_marked(marks: int, papers: int) -> tuple["User", "ContestProblem"]:
    """A contest in marking with `papers` papers, of which `marks` have a settled mark."""
    from apps.accounts.models import Role, User
    from apps.contests.services import Settings, contest_create, contest_move, problem_add
    from apps.marks.models import MarkingCase, MarkingSetup
    from apps.problems.drafts import ProblemDraft
    from apps.problems.services import problem_create
    from apps.reasoning.marking.schemes.text_form import text_read
    from apps.schemes.services import scheme_activate, scheme_create

    coach = User.objects.create_user("bench", role=Role.COACH)
    library = problem_create(draft=ProblemDraft(title="A benchmark", topic="A", statement="Show that $1 + 1 = 2$."))
    scheme = scheme_create(problem=library, title="Scheme", content=text_read(OLD), by=coach)
    version = scheme_activate(scheme=scheme, by=coach, based_on=scheme.row_version)
    contest = contest_create(settings=Settings(title="A benchmark"), by=coach)
    problem = problem_add(contest=contest, problem=library)
    for verb in ("open", "mark"):
        contest = contest_move(contest=contest, verb=verb, based_on=contest.row_version)
    MarkingSetup.objects.create(problem=problem, scheme=scheme, seed=1)
    texts = _handed_in(problem, papers)[:marks]
    cases = (MarkingCase(problem=problem, version=text, state="settled") for text in texts)
    _graded(MarkingCase.objects.bulk_create(cases, batch_size=BATCH), coach, version)
    return coach, problem


def _handed_in(problem: "ContestProblem", papers: int) -> "list[SubmissionVersion]":
    from apps.contests.models import Paper
    from apps.submissions.models import Submission, SubmissionVersion

    numbers = (f"B{number:05d}" for number in range(papers))
    rows = Paper.objects.bulk_create((Paper(contest=problem.contest, number=one) for one in numbers), batch_size=BATCH)
    works = Submission.objects.bulk_create((Submission(paper=row, problem=problem) for row in rows), batch_size=BATCH)
    values = {"number": 1, "format": "markdown", "origin": "imported", "raw": "x", "source": "x", "segmenter": "1"}
    versions = (SubmissionVersion(submission=work, digest="0" * 64, **values) for work in works)
    return SubmissionVersion.objects.bulk_create(versions, batch_size=BATCH)


def _graded(cases: "list[MarkingCase]", coach: "User", version: "SchemeVersion") -> None:
    """Create a sealed mark and a grade for every case, with random items."""
    from django.utils import timezone

    from apps.marks.models import FinalGrade, Mark, MarkingTask
    from apps.reasoning.marking.schemes.evaluation import evaluate
    from apps.reasoning.marking.sheets.commands import sheet_json
    from apps.reasoning.marking.sheets.sheet import MarkSheet

    now, rng, content = timezone.now(), random.Random(1), version.content
    tasks = (MarkingTask(case=case, slot="first", assignee=coach, done_at=now) for case in cases)
    marks = []
    for task in MarkingTask.objects.bulk_create(tasks, batch_size=BATCH):
        ticks = frozenset(item.code for item in content.items if rng.random() < 0.5) or frozenset({"A1"})
        points, sheet = evaluate(content, ticks).points, sheet_json(MarkSheet(ticks=ticks))
        values = {"sheet": sheet, "sealed_sheet": sheet, "points": points, "sealed_points": points, "sealed_at": now}
        marks.append(Mark(task=task, marker=coach, scheme_version=version, state="sealed", **values))
    grades = (
        FinalGrade(case=case, mark=mark, points=mark.points or Decimal(0), scheme_version=version, sheet=mark.sheet)
        for case, mark in zip(cases, Mark.objects.bulk_create(marks, batch_size=BATCH), strict=True)
    )
    FinalGrade.objects.bulk_create(grades, batch_size=BATCH)
