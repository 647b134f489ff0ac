"""After sealing, in a real browser: stages by keys, a dispute from claims to a grade by keyboard, axe, narrow screens."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from apps.marks.models import Coordination, FinalGrade, FindingAnswer, Mark, MarkState
from apps.marks.sealing.sealing import cases_settle
from tests.browser.marking_pages import ClientFor, room_of, session_of
from tests.marks.factory import ONE_PLACE, claimed, past_grace, problem_to_mark, sealed
from tests.marks.suggested import SECRET, suggested
from tests.ui.axe import faults, faults_in_both_themes
from tests.ui.browser import needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def _no_graders(settings: Settings) -> None:
    settings.MARKING_GRADERS = []  # Sealing asks them through the broker, which these tests do not have.


def shot(page: Page, name: str) -> None:
    """A picture for looking at, where a folder is asked for."""
    if "LEMMASCOPE_SHOTS" in os.environ:
        page.screenshot(path=Path(os.environ["LEMMASCOPE_SHOTS"]) / f"{name}.png", full_page=True)


def test_keys_lead_through_the_stages_next_to_the_script(live_server: LiveServer, client_for: ClientFor, bob: User) -> None:
    problem = problem_to_mark(bob, scripts=1, unrevealed_percent=0)
    mark = sealed(claimed(problem, bob), bob, ("claim", {"line": "A1"}), ("verdict", ONE_PLACE))
    suggested(mark)
    with room_of(live_server, session_of(client_for, bob), viewport={"width": 1440, "height": 900}) as room:
        page = room.page(f"/marking/task/{mark.task.public_id}/")
        panel = page.locator("#reveal-panel")
        expect(panel).to_contain_text("three stages")
        page.keyboard.press("v")
        expect(panel).to_contain_text("step 2")
        assert SECRET not in page.content()
        page.keyboard.press("v")
        expect(panel).to_contain_text(f"{SECRET} one")
        assert f"{SECRET} three" not in page.content()
        page.keyboard.press("y")
        expect(panel).to_contain_text("1 finding to answer")
        page.keyboard.press("x")
        expect(panel.get_by_role("button", name="Show items and points")).to_be_visible()
        page.keyboard.press("v")
        expect(panel).to_contain_text(f"{SECRET} three")
        expect(panel).to_contain_text("80 %")
        shot(page, "reveal-workspace")
        assert faults(page) == []
        page.get_by_role("button", name="Stay with 3").click()
        expect(panel).to_contain_text("now 3")
    mark.refresh_from_db()
    assert mark.points == mark.sealed_points
    assert {answer.is_accepted for answer in FindingAnswer.objects.all()} == {True, False}


def test_a_change_needs_its_reason_in_the_browser_too(live_server: LiveServer, client_for: ClientFor, bob: User) -> None:
    problem = problem_to_mark(bob, scripts=1, unrevealed_percent=0)
    mark = sealed(claimed(problem, bob), bob, ("claim", {"line": "A1 A2"}))
    suggested(mark)
    with room_of(live_server, session_of(client_for, bob), viewport={"width": 390, "height": 844}, color_scheme="dark") as room:
        page = room.page(f"/marking/task/{mark.task.public_id}/reveal/")
        for name in ("Show where", "Show types"):
            page.get_by_role("button", name=name).click()
        for left in ("1 finding to answer", "Your mark"):
            page.get_by_role("button", name="Wrong").first.click()
            expect(page.locator("#reveal-panel")).to_contain_text(left)
        page.get_by_text("Change it").click()
        page.get_by_label("Items that hold").fill("A1")
        page.get_by_label("I missed it").check()
        page.get_by_role("button", name="Change my mark").click()
        expect(page.get_by_role("alert")).to_contain_text("Name the step")
        shot(page, "reveal-refused-390-dark")
        assert faults(page) == []
        expect(page.get_by_label("Items that hold")).to_have_value("A1")
        expect(page.get_by_label("I missed it")).to_be_checked()
        page.get_by_label("Step or page, if points go down").fill("2")
        page.get_by_role("button", name="Change my mark").click()
        expect(page.locator("#reveal-panel")).to_contain_text("Sealed with 7; now 3")
    assert Mark.objects.get().state == MarkState.REVISED


def test_a_dispute_from_claims_to_a_grade_by_keyboard(
    live_server: LiveServer, client_for: ClientFor, bob: User, dana: User
) -> None:
    problem = problem_to_mark(bob, dana, scripts=1, markers=2)
    past_grace(sealed(claimed(problem, bob), bob, ("claim", {"line": "A1 A2"})))
    past_grace(sealed(claimed(problem, dana), dana, ("claim", {"line": "A1 A2 -D1"}), ("verdict", ONE_PLACE)))
    cases_settle(problem.contest)
    address = f"/marking/coordination/{Coordination.objects.get().public_id}/"
    sessions = {person: session_of(client_for, person) for person in (bob, dana)}
    for person in (bob, dana):
        with room_of(live_server, sessions[person]) as room:
            page = room.page("/marking/coordination/")
            assert faults(page) == []
            page.get_by_role("link", name="Paper").focus()
            page.keyboard.press("Enter")
            page.get_by_label("Your claim").focus()
            page.keyboard.press("Enter")
            expect(page.get_by_role("cell", name="A1 A2", exact=False).first).to_be_visible()
            assert faults(page) == []
    with room_of(live_server, sessions[bob], viewport={"width": 1440, "height": 900}) as room:
        page = room.page(address)
        page.get_by_label("Propose: items").focus()
        page.keyboard.type("A1 A2 -D1")
        page.keyboard.press("Tab")
        page.keyboard.type("The slip in step 1.")
        page.get_by_role("button", name="Propose").focus()
        shot(page, "coordination")
        page.keyboard.press("Enter")
        expect(page.get_by_text("Signed by")).to_be_visible()
        assert faults(page) == []
    with room_of(live_server, sessions[dana], viewport={"width": 390, "height": 844}, color_scheme="dark") as room:
        page = room.page(address)
        shot(page, "coordination-390-dark")
        assert faults(page) == []
        page.get_by_role("button", name="I agree to 6").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_text("Agreed by both")).to_be_visible()
    assert FinalGrade.objects.get().points == 6


def test_the_pages_of_captains_are_for_everybody(live_server: LiveServer, client_for: ClientFor, bob: User) -> None:
    problem = problem_to_mark(bob, scripts=1)
    mark = past_grace(sealed(claimed(problem, bob), bob, ("claim", {"line": "A1"}), ("verdict", ONE_PLACE)))
    cases_settle(problem.contest)
    pages = (
        f"/marking/case/{mark.task.case.public_id}/ledger/",
        f"/marking/problem/{problem.public_id}/calibration/",
        "/marking/sealed/",
        "/marking/coordination/",
        f"/marking/task/{mark.task.public_id}/reveal/",
    )
    session = session_of(client_for, bob)
    for width in (1440, 390):
        with room_of(live_server, session, viewport={"width": width, "height": 900}) as room:
            for number, path in enumerate(pages):
                page = room.page(path)
                shot(page, f"captain-{number}-{width}")
                assert (faults_in_both_themes(page) if width == 1440 else faults(page)) == [], path
                page.close()
