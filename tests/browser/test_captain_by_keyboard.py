"""A captain's day by the keyboard alone: a question, a dispute, a ruling that is kept, a change of the scheme, the results."""

import pytest
from playwright.sync_api import Locator, Page, expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.contests.services import captain_set
from apps.marks.coordination.coordination import claim_make
from apps.marks.grades import grade_of
from apps.marks.models import AuditEvent, Coordination, FinalGrade, MarkingCase, Pass, PassReason, Precedent
from apps.marks.sealing.sealing import cases_settle
from apps.marks.workspace.passes import task_pass
from tests.browser.marking_pages import ClientFor, room_of, session_of
from tests.marks.factory import claimed, marker, past_grace, problem_to_mark, sealed
from tests.marks.office.test_scheme_change import CHEAPER, OLD, applied, written
from tests.ui.browser import needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium, pytest.mark.django_db(transaction=True)]
TABS_AT_MOST = 150
IS_FOCUSED = "(one) => one === document.activeElement"


@pytest.fixture(autouse=True)
def _no_graders(settings: Settings) -> None:
    settings.MARKING_GRADERS = []


@pytest.fixture
def problem(bob: User, dana: User) -> ContestProblem:
    """Bob is captain of a problem with a draft of a cheaper scheme; Dana and Eve differ by a point, and Dana asks something."""
    eve = marker("eve")
    problem = problem_to_mark(bob, dana, eve, scripts=3, markers=2, asks_place=False)
    captain_set(row=problem, captain=bob)
    written(problem, bob, OLD)
    applied(problem, bob)
    why = ("reason", {"words": "So."})
    for person, claim in ((dana, "A1 A2"), (eve, "A1 A2 -D")):
        for _ in range(2):
            past_grace(sealed(claimed(problem, person), person, ("claim", {"line": claim}), why))
    task_pass(task=claimed(problem, dana), user=dana, reason=PassReason.UNSURE, words="How much is the lemma worth?")
    cases_settle(problem.contest)
    coordination = Coordination.objects.get(outcome="", case=_shared())
    for person, claim in ((dana, "A1 A2"), (eve, "A1 A2 -D")):
        claim_make(coordination=coordination, by=person, line=claim)
    written(problem, bob, CHEAPER)
    return problem


def _shared() -> MarkingCase:
    """A case that both have marked."""
    both = Coordination.objects.filter(outcome="").order_by("pk").first()
    assert both is not None
    return both.case


def tab_to(page: Page, wanted: Locator) -> None:
    """Move to a control with Tab, as a user without a pointer does."""
    expect(wanted).to_be_visible()
    for _ in range(TABS_AT_MOST):
        if wanted.evaluate(IS_FOCUSED):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{wanted} is not reached with Tab")


def enter(page: Page, wanted: Locator) -> None:
    tab_to(page, wanted)
    page.keyboard.press("Enter")


def write(page: Page, label: str, words: str) -> None:
    tab_to(page, page.get_by_label(label, exact=True))
    page.keyboard.type(words)


def test_a_captain_needs_no_pointer(live_server: LiveServer, client_for: ClientFor, bob: User, problem: ContestProblem) -> None:
    with room_of(live_server, session_of(client_for, bob)) as room:
        page = room.page("/marking/")
        enter(page, page.get_by_role("link", name="1 question"))
        write(page, "Answer", "As much as the first half.")
        enter(page, page.get_by_role("button", name="Answer"))
        expect(page.get_by_text("As much as the first half.")).to_be_visible()

        enter(page, page.get_by_role("link", name="Marking", exact=True).last)
        enter(page, page.get_by_role("link", name="Coordination"))
        found = page.get_by_role("region", name="For you to rule on").get_by_role("link").first
        enter(page, found)
        write(page, "Rule: items, or points after “=”", "A1 A2 -D")
        write(page, "Reason", "A slip is a slip.")
        enter(page, page.get_by_role("button", name="Rule as captain"))
        expect(page.get_by_text("Ruled by the captain: 6")).to_be_visible()

        enter(page, page.get_by_role("link", name="Ledger"))
        write(page, "What was decided", "A slip costs one point.")
        write(page, "Points", "6")
        write(page, "Item", "D")
        enter(page, page.get_by_role("button", name="Save precedent"))
        expect(page.get_by_role("blockquote")).to_contain_text("A slip costs one point.")

        page.goto("/marking/")
        enter(page, page.get_by_role("link", name="change the scheme"))
        enter(page, page.get_by_role("button", name="Preview the effects"))
        expect(page.get_by_role("heading", name="Grades that change")).to_be_visible()
        write(page, "Reason", "A1 was given away.")
        enter(page, page.get_by_role("button", name="Make version"))
        expect(page.get_by_text("grade recomputed")).to_be_visible()

        page.goto("/marking/")
        enter(page, page.get_by_role("link", name="Results"))
        expect(page.get_by_role("heading", name="Results")).to_be_visible()
    assert Pass.objects.get().answer == "As much as the first half."
    assert Precedent.objects.get().points == 6
    ruled = Coordination.objects.get(outcome="captain")
    grade = grade_of(ruled.case)
    assert grade is not None
    assert ruled.points == 6
    assert grade.points == 5
    assert FinalGrade.objects.filter(case=ruled.case).count() == 2
    assert AuditEvent.objects.filter(verb="coordination.captain", actor=bob).exists()
