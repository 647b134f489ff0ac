"""What a page reads is of one moment: a commit of the journal's writer in between is not seen."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from apps.problems.models import Problem, Topic
from apps.processes.one_moment import one_moment

pytestmark = pytest.mark.django_db(transaction=True)


def commit_elsewhere(slug: str) -> None:
    """A commit over another connection; it must not have to wait for the reader."""

    def write() -> None:
        Problem.objects.create(slug=slug, title=slug, topic=Topic.ALGEBRA)
        connection.close()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(write).result(timeout=10)


def test_a_commit_between_two_reads_is_seen_afterwards_only() -> None:
    with one_moment():
        assert Problem.objects.count() == 0
        commit_elsewhere("meanwhile")
        assert Problem.objects.count() == 0
    assert Problem.objects.count() == 1


def test_without_it_the_second_read_sees_the_commit() -> None:
    assert Problem.objects.count() == 0
    commit_elsewhere("meanwhile")
    assert Problem.objects.count() == 1


def test_an_error_ends_it_and_writers_begin_as_before() -> None:
    @one_moment()
    def page() -> None:
        raise ValueError(f"a page of {Problem.objects.count()} problems that fails")

    with pytest.raises(ValueError, match="0 problems"):
        page()
    assert not connection.in_atomic_block
    with transaction.atomic():
        Problem.objects.create(slug="later", title="later", topic=Topic.ALGEBRA)
    assert Problem.objects.count() == 1


def test_inside_a_transaction_it_adds_nothing() -> None:
    with transaction.atomic():
        Problem.objects.create(slug="mine", title="mine", topic=Topic.ALGEBRA)
        with one_moment():
            assert Problem.objects.count() == 1
