"""The list of papers stays fast on PostgreSQL while its row counts are still those of an empty table."""

import pytest
from django.db import connection, transaction

from apps.accounts.models import User
from apps.contests.models import ContestState, Paper
from apps.submissions.importing.plans import import_confirm
from apps.submissions.models import Submission, SubmissionVersion
from apps.submissions.selectors import papers_to_mark, versions_to_mark
from apps.submissions.services import import_file_keep
from tests.contests.factory import copied_papers, enter, hand_in, make_contest, moved

pytestmark = pytest.mark.postgresql
MODELS = (Paper, Submission, SubmissionVersion)


def counted() -> dict[str, int]:
    """The row counts in PostgreSQL's statistics by table."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT relname, reltuples FROM pg_class WHERE relname = ANY(%s)", [[m._meta.db_table for m in MODELS]])
        return {name: int(rows) for name, rows in cursor.fetchall()}


def count_again() -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {', '.join(model._meta.db_table for model in MODELS)}")


def test_listing_600_papers_is_fast_with_outdated_row_counts(bob: User, charlie: User) -> None:
    contest = make_contest(bob)
    first = hand_in(*enter(moved(contest, ContestState.OPEN), charlie))
    with transaction.atomic():
        copied_papers(first, 600)
        transaction.set_rollback(True)
    for model in reversed(MODELS):
        assert model.objects.count() <= 1, "an emptied table, unlike a new one, has a row count of 0"
    count_again()
    try:
        copied_papers(first, 600)
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = '3s'")
            assert (papers_to_mark(contest).count(), versions_to_mark(contest).count()) == (601, 601)
    finally:
        count_again()


@pytest.mark.parametrize(("texts", "is_counted"), [(120, True), (3, False)])
def test_a_large_import_updates_the_row_counts(
    texts: int, is_counted: bool, bob: User, charlie: User, django_capture_on_commit_callbacks: object
) -> None:
    contest = make_contest(bob)
    first = hand_in(*enter(moved(contest, ContestState.OPEN), charlie))
    count_again()
    label = contest.problems.get().label
    data = "\n".join(["author,problem,text", *(f"Ann {number},{label},A proof." for number in range(texts))])
    file = import_file_keep(contest=contest, user=bob, filename="all.csv", data=data.encode(), adds_problems=False)
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        import_confirm(file=file)
    assert first.submission.paper.contest.papers.count() == texts + 1
    assert counted()[SubmissionVersion._meta.db_table] == (texts + 1 if is_counted else 1)
