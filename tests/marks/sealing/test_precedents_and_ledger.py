"""Precedents by item and kind of error after one's own mark, and the ledger of insight."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.marks.audit import audit
from apps.marks.coordination.precedents import PrecedentRefused, Ruling, precedent_write, precedents_of
from apps.marks.models import AuditEvent, Mark, MarkingCase, Precedent, Reveal
from apps.marks.office.office import record, record_verbs
from apps.marks.sealing.sealing import cases_settle
from tests.marks.factory import claimed, past_grace, problem_to_mark, sealed

ClientFor = Callable[[User | None], Client]


def gap(*items: str, fallacy: str = "gap") -> tuple[str, dict[str, Any]]:
    return "verdict", {"id": "v1", "step": 1, "fallacy": fallacy, "words": "Why?", "items": list(items)}


def settled_case(mark: Mark) -> MarkingCase:
    past_grace(mark)
    cases_settle(mark.task.case.problem.contest)
    return MarkingCase.objects.get(pk=mark.task.case.pk)


def test_earlier_scripts_with_the_same_error_are_listed_with_their_grades(bob: User) -> None:
    problem = problem_to_mark(bob, scripts=4)
    for line in ("A1", "A1 A2 -D1"):
        settled_case(sealed(claimed(problem, bob), bob, ("claim", {"line": line}), gap()))
    settled_case(sealed(claimed(problem, bob), bob, ("claim", {"line": "A1"}), gap(fallacy="missing-case")))
    mark = sealed(claimed(problem, bob), bob, ("claim", {"line": "A1"}), gap())
    (earlier,) = precedents_of(mark).earlier
    assert [earlier.fallacy.value, earlier.code, sorted(earlier.points)] == ["gap", "", [3, 6]]


def test_a_ruling_is_found_by_item_in_any_version_and_by_kind_of_error(bob: User) -> None:
    problem = problem_to_mark(bob, scripts=2)
    case = settled_case(sealed(claimed(problem, bob), bob, ("claim", {"line": "A1"}), gap()))
    items = {item.code: item.lineage for item in problem.setup.scheme.versions.get().items.all()}  # type: ignore[union-attr]
    for words, lineage, fallacy in (
        ("About A2.", items["A2"], ""),
        ("About B1.", items["B1"], ""),
        ("About gaps.", None, "gap"),
        ("About gaps at B1.", items["B1"], "gap"),
    ):
        precedent_write(case=case, by=bob, ruling=Ruling(words, Decimal(3), lineage, fallacy))
    mark = sealed(claimed(problem, bob), bob, ("claim", {"line": "A1 A2 -D1"}), gap())
    assert {one.words for one in precedents_of(mark).rulings} == {"About A2.", "About gaps."}


@pytest.mark.parametrize(
    ("ruling", "missing"),
    [
        (Ruling(" ", Decimal(3), fallacy="gap"), "in words"),
        (Ruling("So.", Decimal(3)), "which item"),
        (Ruling("So.", Decimal(3), fallacy="nonsense"), "no such kind"),
    ],
)
def test_a_ruling_needs_words_and_an_item_or_a_kind_of_error(bob: User, ruling: Ruling, missing: str) -> None:
    problem = problem_to_mark(bob, scripts=1)
    case = settled_case(sealed(claimed(problem, bob), bob))
    with pytest.raises(PrecedentRefused, match=missing):
        precedent_write(case=case, by=bob, ruling=ruling)


def test_a_script_without_a_settled_grade_is_no_precedent(bob: User) -> None:
    problem = problem_to_mark(bob, scripts=1)
    mark = sealed(claimed(problem, bob), bob)
    with pytest.raises(PrecedentRefused, match="not settled"):
        precedent_write(case=mark.task.case, by=bob, ruling=Ruling("So.", Decimal(7), fallacy="gap"))


def test_only_a_captain_writes_a_precedent_on_the_ledger(bob: User, dana: User, client_for: ClientFor) -> None:
    problem = problem_to_mark(bob, dana, scripts=1)
    case = settled_case(sealed(claimed(problem, bob), bob, ("claim", {"line": "A1"}), gap()))
    address = reverse("marks:precedent_add", kwargs={"case_id": case.public_id})
    form = {"words": "A sketch counts.", "points": "3", "fallacy": "gap", "lineage": ""}
    assert client_for(dana).post(address, form).status_code == 404
    assert "number" in client_for(bob).post(address, form | {"points": "many"}, follow=True).content.decode()
    assert not Precedent.objects.exists()
    page = client_for(bob).post(address, form, follow=True).content.decode()
    assert "A sketch counts." in page
    assert AuditEvent.objects.get(verb="precedent.written").actor == bob


def test_the_ledger_lists_insights_and_records_its_readers(bob: User, dana: User, client_for: ClientFor) -> None:
    problem = problem_to_mark(dana, bob, scripts=1)
    case = settled_case(sealed(claimed(problem, bob), bob, ("claim", {"line": "A1"}), gap()))
    address = reverse("marks:case_ledger", kwargs={"case_id": case.public_id})
    assert client_for(bob).get(address).status_code == 404, "Bob marked, and is neither captain nor organiser"
    client_for(dana).get(address)
    page = client_for(dana).get(address).content.decode()
    assert Reveal.objects.get().trigger == "ledger"
    assert "A colleague" in page
    assert "Sealed a mark" in page


def test_a_draft_is_not_in_the_ledger(bob: User, dana: User, client_for: ClientFor) -> None:
    problem = problem_to_mark(dana, bob, scripts=1)
    task = claimed(problem, bob)
    page = client_for(dana).get(reverse("marks:case_ledger", kwargs={"case_id": task.case.public_id}))
    assert "No mark is sealed" in page.content.decode()
    assert not Reveal.objects.exists()


def test_a_marker_reads_the_ledger_of_a_settled_script(bob: User, dana: User, client_for: ClientFor) -> None:
    problem = problem_to_mark(bob, dana, scripts=1, markers=2)
    task = claimed(problem, dana)
    sealed(task, dana, ("claim", {"line": "A1"}), gap())
    mark = past_grace(sealed(claimed(problem, bob), bob, ("claim", {"line": "A1"}), gap()))
    address = reverse("marks:case_ledger", kwargs={"case_id": task.case.public_id})
    assert client_for(bob).get(address).status_code == 404
    assert not Reveal.objects.exists()
    settled_case(past_grace(Mark.objects.get(task=task)))
    assert client_for(bob).get(address).status_code == 200
    assert Reveal.objects.get().person == bob
    assert mark.marker == bob


def test_an_archived_draft_is_not_in_the_record(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=1)
    case = settled_case(sealed(claimed(problem, bob), bob))
    audit("draft.left", actor=dana, case=case, sheet={"reason": "Sesquipedalian"}, scheme_version=None)
    assert not record(problem.contest).filter(verb="draft.left").exists()
    assert "draft.left" not in record_verbs(problem.contest)
    assert record(problem.contest).filter(verb="mark.sealed").exists()
