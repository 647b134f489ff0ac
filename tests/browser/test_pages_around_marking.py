"""The pages around the workspace in a real browser: axe, a narrow screen, the captain's queue and the setup by keyboard."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from apps.marks.models import Pass, PassReason
from apps.marks.workspace.passes import task_pass
from tests.browser.marking_pages import ClientFor, room_of, session_of
from tests.marks.factory import ONE_PLACE, claimed, problem_to_mark, sealed
from tests.ui.axe import faults, faults_in_both_themes, needs_axe
from tests.ui.browser import needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium, pytest.mark.django_db(transaction=True)]
PICTURES = os.environ.get("PICTURES", "")


@pytest.fixture(autouse=True)
def _no_graders(settings: Settings) -> None:
    settings.MARKING_GRADERS = []


@needs_axe
def test_the_pages_can_be_used_by_all(live_server: LiveServer, client_for: ClientFor, bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=4)
    sealed(claimed(problem, bob), bob, ("points", {"points": 6}), ("verdict", ONE_PLACE))
    words = "Is $\\mathbb Z[i]$ chain B, or a chain of its own?"
    task_pass(task=claimed(problem, dana), user=dana, reason=PassReason.APPROACH, words=words)
    base = f"/marking/problem/{problem.public_id}"
    paths = {"home": "/marking/"} | {name: f"{base}/{name}/" for name in ("setup", "questions", "scripts")}
    session = session_of(client_for, bob)
    for width in (1440, 390):
        with room_of(live_server, session, viewport={"width": width, "height": 900}) as room:
            for name, path in paths.items():
                page = room.page(path)
                assert (faults_in_both_themes(page) if width == 1440 else faults(page)) == [], (name, width)
                if PICTURES:
                    page.screenshot(path=Path(PICTURES) / f"{name}-{width}.png", full_page=True)
                page.close()


def test_a_captain_answers_by_keyboard(live_server: LiveServer, client_for: ClientFor, bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=1)
    task_pass(task=claimed(problem, dana), user=dana, reason=PassReason.UNSURE, words="How much?")
    with room_of(live_server, session_of(client_for, bob)) as room:
        page = room.page("/marking/")
        page.get_by_role("link", name="1 question").focus()
        page.keyboard.press("Enter")
        page.get_by_label("Answer").focus()
        page.keyboard.type("Give it 5.")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.get_by_text("Give it 5.")).to_be_visible()
    assert Pass.objects.get().answer == "Give it 5."
