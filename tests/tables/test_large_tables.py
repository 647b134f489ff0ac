"""A large table needs no query for each row, and an upload is imported once."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.accounts.models import User
from apps.contests.models import Contest, ContestState
from apps.contests.services import ContestRefused
from apps.files.grids import grid_read
from apps.submissions.models import SubmissionVersion
from apps.tables.models import TableFile, TablePoints
from apps.tables.services import table_file_keep, table_import
from tests.contests.factory import make_contest


def kept(bob: User, rows: int) -> TableFile:
    lines = "\n".join(f"Student {row},North,Text {row}.,{row % 8}" for row in range(rows))
    data = f"Name,School,P1 text,P1 points (7)\n{lines}\n".encode()
    grid = grid_read(data)
    return table_file_keep(user=bob, contest=make_contest(bob), filename="a.csv", data=data, grid=grid)


def imported(file: TableFile) -> int:
    """Import a table; return the number of queries."""
    with CaptureQueriesContext(connection) as queries:
        table_import(file=file, grid=grid_read(bytes(file.data), file.sheet), looked_at=())
    return len(queries)


def test_ten_times_the_rows_need_few_more_queries(bob: User) -> None:
    few = imported(kept(bob, 15))
    many = imported(kept(bob, 150))
    assert (SubmissionVersion.objects.count(), TablePoints.objects.count()) == (165, 165)
    assert many - few <= 4


def test_an_upload_is_imported_once(bob: User) -> None:
    file = kept(bob, 3)
    stale = TableFile.objects.get(pk=file.pk)
    imported(file)
    with pytest.raises(ContestRefused, match="already imported"):
        imported(stale)
    assert SubmissionVersion.objects.count() == 3


def test_a_contest_that_changed_after_the_upload_was_read_is_read_again(bob: User) -> None:
    file = kept(bob, 3)
    assert file.contest is not None
    Contest.objects.filter(pk=file.contest.pk).update(state=ContestState.MARKING)
    with pytest.raises(ContestRefused, match="being marked"):
        imported(file)
    assert TableFile.objects.exists()
