"""A mark is reopened while its case is being settled: exactly one of the two succeeds."""

import threading
from typing import Any

import pytest
from django.db import connections

from apps.marks.coordination.comparing import case_compare
from apps.marks.models import CaseState, FinalGrade, Mark, MarkingCase, MarkState
from apps.marks.sealing import sealing
from apps.marks.sealing.sealing import NotReady, mark_unseal
from tests.cast import person
from tests.marks.factory import claimed, problem_to_mark, sealed

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _no_graders(settings: Any) -> None:
    settings.MARKING_GRADERS = []


def test_settling_waits_for_a_mark_that_is_being_reopened(monkeypatch: pytest.MonkeyPatch) -> None:
    bob = person("bob")
    task = claimed(problem_to_mark(bob, scripts=1), bob)
    sealed(task, bob)
    looked, compared = threading.Event(), threading.Event()

    def looked_at(mark: Mark) -> bool:
        looked.set()
        assert not compared.wait(1), "the case must be locked"
        return False

    def settle() -> None:
        try:
            assert looked.wait(10)
            case_compare(task.case)
            compared.set()
        finally:
            connections.close_all()

    monkeypatch.setattr(sealing, "is_final", looked_at)
    other = threading.Thread(target=settle)
    other.start()
    mark_unseal(task=task, user=bob)
    other.join(20)
    assert compared.is_set(), "settling must continue afterwards"
    assert Mark.objects.get().state == MarkState.DRAFT
    assert MarkingCase.objects.get().state == CaseState.OPEN
    assert not FinalGrade.objects.exists()


def test_a_mark_of_a_settled_case_is_not_reopened() -> None:
    bob = person("bob")
    task = claimed(problem_to_mark(bob, scripts=1), bob)
    sealed(task, bob)
    case_compare(task.case)
    with pytest.raises(NotReady, match="before anything is shown"):
        mark_unseal(task=task, user=bob)
    assert FinalGrade.objects.exists()
