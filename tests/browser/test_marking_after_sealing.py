"""After sealing, the keys of the workspace lead through the stages and answer findings."""

import pytest
from playwright.sync_api import expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from apps.marks.models import FindingAnswer, Reveal
from tests.browser.marking_pages import ClientFor, room_of, session_of, settled
from tests.marks.suggested import THREE, sealed_mark
from tests.ui.browser import needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium, pytest.mark.django_db(transaction=True)]


STILL = "!document.querySelector('.htmx-request, .htmx-swapping, .htmx-settling')"


@pytest.fixture(autouse=True)
def _no_graders(settings: Settings) -> None:
    settings.MARKING_GRADERS = []  # The suggestion is one that a person wrote.


@pytest.mark.parametrize("path", ["", "reveal/"])
def test_v_shows_the_next_stage_and_y_and_x_answer(
    live_server: LiveServer, client_for: ClientFor, bob: User, path: str
) -> None:
    mark = sealed_mark(bob, *THREE)
    with room_of(live_server, session_of(client_for, bob)) as room:
        page = room.page(f"/marking/task/{mark.task.public_id}/{path}")
        if not path:
            settled(page)
        panel = page.locator("#reveal-panel")

        def press(key: str) -> None:
            while not page.evaluate(STILL):  # `wait_for_function` would need eval, which the page's policy forbids.
                page.wait_for_timeout(20)
            page.keyboard.press(key)

        expect(panel.get_by_role("button", name="Show where findings are")).to_be_visible()
        press("7")
        press("v")
        expect(panel.get_by_role("heading", name="1 · Where")).to_be_visible()
        press("v")
        expect(panel.get_by_role("heading", name="2 · What")).to_be_visible()
        press("x")
        expect(panel.get_by_text("you say: wrong")).to_have_count(1)
        press("y")
        expect(panel.get_by_text("you say: right")).to_have_count(1)
    mark.refresh_from_db()
    assert mark.points == 3
    assert sorted(FindingAnswer.objects.values_list("is_accepted", flat=True)) == [False, True]
    assert Reveal.objects.count() == 2
