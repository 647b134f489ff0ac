"""Concurrent claims, fifty on PostgreSQL: no script goes to two markers in one slot, and none is left out.

`python -m benchmarks claims` makes ten thousand claims; this file makes two thousand on PostgreSQL. SQLite has one lock and
makes two hundred, of which each takes as long as ten there.
"""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection, connections
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import ContestProblem, Paper
from apps.marks.leases import LEASE
from apps.marks.models import MarkingTask
from apps.marks.setups import cases_prepare
from apps.marks.workspace.claims import task_next
from apps.reasoning.texts.segmentation import SEGMENTER, digest_of
from apps.submissions.models import Origin, Submission, SubmissionVersion, TextFormat
from tests.cast import person
from tests.marks.factory import marker, problem_to_mark

pytestmark = pytest.mark.django_db(transaction=True)
#: SQLite serves one laptop: with fifty threads some time out on its one lock on a busy machine.
MARKERS = {"postgresql": 50, "sqlite": 8}
CLAIMS = {"postgresql": 600, "sqlite": 200}


def claim_once(problem: ContestProblem, user: User) -> int | None:
    """Claim once as a request does, and close the connection."""
    try:
        task = task_next(ContestProblem.objects.select_related("contest", "setup").get(pk=problem.pk), user)
        return task.pk if task is not None else None
    finally:
        connections.close_all()


def claim_until_none(problem: ContestProblem, user: User) -> list[int]:
    """Claim and finish scripts until none is left; return the keys of the tasks."""
    claimed: list[int] = []
    while (key := claim_once(problem, user)) is not None:
        claimed.append(key)
        MarkingTask.objects.filter(pk=key, assignee=user).update(done_at=timezone.now(), lease_until=None)
        connections.close_all()
    return claimed


@pytest.mark.parametrize("markers", [1, 2])
def test_no_script_is_claimed_twice_in_a_slot(markers: int) -> None:
    scripts = 120 if connection.vendor == "postgresql" else 30
    people = [marker(f"m{number}") for number in range(MARKERS[connection.vendor])]
    problem = problem_to_mark(person("bob"), *people, scripts=scripts, markers=markers)
    with ThreadPoolExecutor(len(people)) as pool:
        claims = list(pool.map(lambda user: claim_until_none(problem, user), people))
    count = Counter(key for keys in claims for key in keys)
    assert set(count) == set(MarkingTask.objects.values_list("pk", flat=True)), "every script is claimed"
    assert max(count.values()) == 1, "no script is claimed twice in a slot"
    for user, keys in zip(people, claims, strict=True):
        cases = MarkingTask.objects.filter(pk__in=keys).values_list("case", flat=True)
        assert len(cases) == len(set(cases)), f"{user.username} has a script in both slots"


def test_many_claims_contain_no_duplicate() -> None:
    scripts = CLAIMS[connection.vendor]
    people = [marker(f"m{number}") for number in range(MARKERS[connection.vendor])]
    problem = problem_to_mark(person("bob"), *people, scripts=0)
    many_handed_in(problem, scripts)
    with ThreadPoolExecutor(len(people)) as pool:
        keys = [key for part in pool.map(lambda user: claim_until_none(problem, user), people) for key in part]
    assert len(keys) == scripts
    assert set(keys) == set(MarkingTask.objects.values_list("pk", flat=True))


def many_handed_in(problem: ContestProblem, scripts: int) -> None:
    """Create this many short texts of anonymous papers in bulk."""
    papers = Paper.objects.bulk_create(Paper(contest=problem.contest, number=f"{n:06}") for n in range(scripts))
    submissions = Submission.objects.bulk_create(Submission(paper=paper, problem=problem) for paper in papers)
    common = {"number": 1, "format": TextFormat.MARKDOWN, "origin": Origin.IMPORTED, "segmenter": SEGMENTER}
    SubmissionVersion.objects.bulk_create(
        (SubmissionVersion(submission=one, raw="x", source="x", digest=digest_of("x"), **common) for one in submissions), 500
    )
    cases_prepare(problem)


def test_one_marker_in_many_windows_holds_one_script() -> None:
    bob = person("bob")
    problem = problem_to_mark(bob, scripts=20)

    with ThreadPoolExecutor(8) as pool:
        held = set(pool.map(lambda _: claim_once(problem, bob), range(16)))
    assert len(held) == 1
    assert None not in held


def test_one_of_many_markers_gets_a_script_that_was_left() -> None:
    people = [marker(f"m{number}") for number in range(12)]
    problem = problem_to_mark(person("bob"), *people, scripts=1)
    task = task_next(problem, person("bob"))
    assert task is not None
    MarkingTask.objects.filter(pk=task.pk).update(lease_until=timezone.now() - 2 * LEASE - timedelta(seconds=1))

    with ThreadPoolExecutor(12) as pool:
        got = list(pool.map(lambda user: claim_once(problem, user), people))
    assert sorted(key for key in got if key is not None) == [task.pk]
