"""The agreement page over 10,000 pairs with 2,000 bootstrap draws: server time of a file's and of a contest's page.

Measured at the first request, split by problem, and again with cached results.
"""

import csv
import io
import random
import time
import uuid
from datetime import timedelta
from typing import TYPE_CHECKING

from benchmarks.figures import Figure
from benchmarks.stage import set_up

if TYPE_CHECKING:
    from apps.accounts.models import User
    from apps.contests.models import ContestProblem

PAIRS, QUICK_PAIRS = 10_000, 1_000
PROBLEMS, BATCH = 60, 500


def figures(quick: bool = False) -> list[Figure]:
    """Seconds of each page."""
    set_up(ALLOWED_HOSTS="testserver")
    from django.test.utils import setup_test_environment

    setup_test_environment()
    pairs = QUICK_PAIRS if quick else PAIRS
    from benchmarks.contest.marking_office import contest_marked

    organiser, problem = contest_marked(pairs, pairs)
    _suggested(problem)
    _opened(organiser, "/grading/agreement/cards/?pairs/")  # Loads the URLs of the whole project.
    file = f"/grading/agreement/file/{_file(organiser, pairs)}/"
    contest = f"/grading/agreement/contest/{problem.contest.public_id}/"
    what = f"{pairs:,} pairs, 2,000 draws"
    return [
        Figure(f"Page of a file, {what}, first opened", _opened(organiser, file), "s", 3, "at most"),
        Figure("… again", _opened(organiser, file), "s"),
        Figure(f"… split by {PROBLEMS} problems, first opened", _opened(organiser, f"{file}?split=problem"), "s", 3, "at most"),
        Figure(f"Page of a contest, {what}, first opened", _opened(organiser, contest), "s", 3, "at most"),
        Figure("… again", _opened(organiser, contest), "s"),
        Figure("… a page of its pairs", _opened(organiser, f"{contest}pairs/?author=&difference=differ"), "s"),
    ]


def _opened(user: "User", address: str) -> float:
    from django.test import Client

    client = Client()
    client.force_login(user)
    began = time.perf_counter()
    answer = client.get(address)
    took = time.perf_counter() - began
    if answer.status_code != 200 or not ("pairs/" in address or b"QWK<" in answer.content):
        raise SystemExit(f"{address} answered {answer.status_code} without its statistics")
    return took


def _file(owner: "User", pairs: int) -> uuid.UUID:
    """An uploaded file with named columns: marks with whole points, and a grader's points."""
    from apps.agreement.sources.files import agreement_file_ask, agreement_file_keep, columns_of

    out, rng = io.StringIO(), random.Random(1)
    written = csv.writer(out)
    written.writerow(["paper", "problem", "points", "grader"])
    for number in range(pairs):
        mark = rng.choice((0, 0, 0, 1, 2, 3, 6, 7, 7))
        given = min(7, max(0, mark + rng.choice((0, 0, 0, 1, -1, 3))))
        written.writerow([f"s{number}", f"p{rng.randrange(PROBLEMS)}", mark, given])
    file = agreement_file_keep(user=owner, filename="bench.csv", data=out.getvalue().encode())
    asked = {"second": "", "author": "", "contaminated": "", "groups": [], "labels": "", "times": 1.0, "runs": False}
    agreement_file_ask(file=file, asked=asked | {"scale": "0:7", "points": "fitting"} | columns_of(file).proposed)
    return file.public_id


def _suggested(problem: "ContestProblem") -> None:
    """Create a suggestion for every case. The marks were sealed an hour ago."""
    from django.utils import timezone

    from apps.marks.models import Mark, Suggestion

    Mark.objects.update(sealed_at=timezone.now() - timedelta(hours=1))
    rng = random.Random(2)
    rows = []
    for mark in Mark.objects.select_related("task__case__version", "scheme_version"):
        points = min(7, max(0, int(mark.sealed_points or 0) + rng.choice((0, 0, 0, 1, -1, 3))))
        body = {"distribution": [{"points": str(points), "share": 1.0}], "findings": [], "items": []}
        values = {"version": mark.task.case.version, "scheme_version": mark.scheme_version, "body": body}
        rows.append(Suggestion(grader="scripted", key=uuid.uuid4().hex, state="done", **values))
    Suggestion.objects.bulk_create(rows, batch_size=BATCH)
