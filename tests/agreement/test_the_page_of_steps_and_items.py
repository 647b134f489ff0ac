"""The page of steps and items: a person's verdicts and ticks compared with a grader's, with links to the scripts."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.agreement.places import PlacesShown, places_of_body, places_of_sheet, places_shown
from apps.agreement.sources.contests import ContestSource
from apps.agreement.sources.sources import Chosen
from apps.contests.models import ContestProblem
from apps.marks.models import Mark, Reveal, RevealKind
from apps.reasoning.agreement.places import Places
from apps.reasoning.marking.sheets.sheet import MarkSheet
from apps.reasoning.marking.suggestion import SuggestionBody
from tests.agreement.factory import settled_contest
from tests.marks.factory import marker

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


def verdict(step: int, **more: Any) -> dict[str, Any]:
    return {"id": f"v{step}{more.get('role', '')}", "step": step, "fallacy": "gap", **more}


def found(step: int, **more: Any) -> dict[str, Any]:
    return {"id": f"f{step}", "step": step, "fallacy": "gap", "severity": "gap", "words": "Why?", **more}


SHEETS: list[dict[str, Any]] = [
    {"ticks": ["A1"], "verdicts": [verdict(1, role="root"), verdict(2, role="consequence", root="v1root")]},
    {"ticks": ["A1", "A2"], "verdicts": []},
    {"ticks": [], "verdicts": [verdict(2, fallacy="missing-case")]},
]
BODIES: list[dict[str, Any]] = [
    {"items": [{"code": "A1"}], "findings": [found(1)]},
    {"items": [{"code": "A1"}], "findings": [found(1, severity="note")]},
    {"items": [{"code": "A2"}], "findings": [found(1)]},
]


@pytest.fixture
def problem(bob: User) -> ContestProblem:
    """Three settled scripts: the same error, no error, errors one step apart."""
    return settled_contest(bob, marker("marga"), 3, SHEETS, BODIES)


def shown(user: User, problem: ContestProblem) -> PlacesShown:
    (one,) = places_shown(ContestSource(user, problem.contest), Chosen(human="first"))
    return one


def test_consequences_are_no_roots_and_harmless_verdicts_are_no_errors() -> None:
    sheet = MarkSheet.model_validate({"verdicts": [verdict(1, role="harmless"), verdict(2, role="root"), verdict(3, role="consequence", root="v2root")]})  # fmt: skip  # noqa: E501
    assert places_of_sheet(sheet) == Places(first=2, roots=((2, "gap"),))


def test_notes_are_no_errors_and_a_later_step_of_a_chain_is_no_root() -> None:
    chain = {"links": [{"name": "f1", "step": 1}, {"name": "S1", "step": 3}], "end": "FINAL_INVALID"}
    body = SuggestionBody.model_validate({"findings": [found(1), found(2, severity="note"), found(3)], "chains": [chain]})
    assert places_of_body(body) == Places(first=1, roots=((1, "gap"),))


def test_a_person_and_a_grader_are_compared_step_by_step_and_item_by_item(bob: User, problem: ContestProblem) -> None:
    one = shown(bob, problem)
    first, second, third = [str(case.public_id) for case in problem.cases.order_by("pk")]
    assert (one.found.first_exact.papers, one.found.first_within_one.papers) == ((first,), (first, third))
    assert one.found.neither.papers == (second,)
    assert (one.found.precision.count, one.found.precision.of, one.found.recall.count) == (1, 2, 1)
    (items,) = one.items
    rows = dict(items.rows)
    assert (rows["A1"].both, rows["A1"].neither) == ((first, second), (third,))
    assert (rows["A2"].human_only, rows["A2"].grader_only) == ((second,), (third,))


def test_a_contaminated_mark_is_not_compared(bob: User, problem: ContestProblem) -> None:
    mark = Mark.objects.order_by("pk")[0]
    Reveal.objects.create(case=mark.task.case, person=mark.marker, kind=RevealKind.FINDINGS, trigger="a test")
    Mark.objects.filter(pk=mark.pk).update(sealed_at=timezone.now())
    assert shown(bob, problem).found.papers == 2


def test_every_number_of_the_page_links_to_its_scripts(
    bob: User, alice: User, problem: ContestProblem, client_for: ClientFor
) -> None:
    address = reverse("agreement:places", args=[problem.contest.public_id])
    client = client_for(bob)
    text = client.get(address).content.decode()
    assert "First error at the same step" in text
    links = re.findall(r'<td class="num"><a href="([^"]+show=(?!precision|recall)[^"]+)">([\d,]+)', text)
    assert len(links) > 6
    for link, count in links:
        listed = client.get(link.replace("&amp;", "&")).content.decode()
        assert f"<h1>{count} script" in listed, link
    assert client.get(f"{address}?of=scripted&author=student&show=nothing").status_code == 404
    assert client_for(alice).get(address).status_code == 404


def test_a_script_is_listed_with_errors_of_both_sides(bob: User, problem: ContestProblem, client_for: ClientFor) -> None:
    address = reverse("agreement:places", args=[problem.contest.public_id])
    text = client_for(bob).get(f"{address}?of=scripted&author=student&show=first_exact").content.decode()
    assert Reveal.objects.get(kind=RevealKind.ITEMS, person=bob).case == problem.cases.order_by("pk")[0]
    assert "step 1: gap (root)" in text
    assert "step 1: gap (gap)" in text
