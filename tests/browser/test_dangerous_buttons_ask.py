"""Buttons that are hard to take back, in a real browser: they ask, no leaves it, yes does it; axe on the pages around."""

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from apps.contests.models import Contest, ContestState, Paper
from apps.contests.services import coach_add
from tests.accounts.factory import a_group
from tests.browser.marking_pages import ClientFor, room_of, session_of
from tests.contests.factory import enter, hand_in, make_contest, moved
from tests.problems.factory import make_problem
from tests.ui.axe import faults_in_both_themes, needs_axe
from tests.ui.browser import needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium, pytest.mark.django_db(transaction=True)]


def answered(page: Page, button: str, *, yes: bool) -> None:
    """Press a button and answer its question by keyboard; the focus is on the answer that changes nothing."""
    page.get_by_role("button", name=button, exact=True).press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    expect(dialog.get_by_role("button", name="Go back")).to_be_focused()
    if yes:
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)


def test_no_leaves_it_and_yes_does_it(
    live_server: LiveServer, client_for: ClientFor, bob: User, dana: User, charlie: User
) -> None:
    contest = make_contest(bob, make_problem())
    coach_add(contest=contest, person=dana)
    enter(contest, charlie)
    here = f"/contests/{contest.public_id}/"
    with room_of(live_server, session_of(client_for, bob)) as room:
        page = room.page(f"{here}roster/")
        row = page.get_by_role("row", name="Charlie")
        answered(page, "Remove Charlie", yes=False)
        page.reload()
        expect(row).to_be_visible()
        answered(page, "Remove Charlie", yes=True)
        expect(page.get_by_text("Removed Charlie from the contest.")).to_be_visible()
        expect(row).to_have_count(0)

        page.goto(here)
        answered(page, "Remove dana", yes=False)
        page.reload()
        answered(page, "Remove dana", yes=True)
        expect(page.get_by_text("dana is no longer a coach of")).to_be_visible()

        answered(page, "Open contest", yes=False)
        page.reload()
        answered(page, "Open contest", yes=True)
        expect(page.get_by_role("button", name="Begin marking")).to_be_visible()
    assert Contest.objects.get().state == ContestState.OPEN
    assert not contest.coaches.filter(person=dana).exists()


@needs_axe
@pytest.mark.parametrize("width", [1440, 390])
def test_groups_roster_and_the_door_to_names_can_be_used_by_all(
    live_server: LiveServer, client_for: ClientFor, bob: User, charlie: User, width: int
) -> None:
    group = a_group(charlie)
    contest = make_contest(bob, make_problem())
    paper, problem = enter(contest, charlie)
    session, size = session_of(client_for, bob), {"width": width, "height": 900}
    here = f"/contests/{contest.public_id}/"
    with room_of(live_server, session, viewport=size) as room:
        page = room.page()
        for path in ("/accounts/groups/", f"/accounts/groups/{group.public_id}/", f"{here}roster/", here):
            page.goto(path)
            assert faults_in_both_themes(page) == [], path
        page.get_by_role("button", name="Open contest").click()
        expect(page.get_by_role("dialog")).to_be_visible()
        assert faults_in_both_themes(page) == [], "the question"
    moved(contest, ContestState.OPEN)
    hand_in(Paper.objects.get(pk=paper.pk), problem)
    moved(contest, ContestState.MARKING)
    with room_of(live_server, session, viewport=size) as room:
        page = room.page(f"{here}papers/{paper.public_id}/author/")
        page.get_by_label("Reason").fill(" ")
        page.get_by_role("button", name="Show name").click()
        expect(page.locator(".field__error")).to_be_visible()
        assert faults_in_both_themes(page) == [], "refused"
        page.get_by_label("Reason").fill("The paper holds a cry for help.")
        page.get_by_role("button", name="Show name").click()
        expect(page.get_by_text("The contest's record keeps your request and its reason.")).to_be_visible()
        assert faults_in_both_themes(page) == [], "shown"
