"""A log is chosen, uploaded and opens as a run that replays: a browser against the real views."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client
from playwright.sync_api import expect
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from apps.runs.models import Run
from tests.browser.marking_pages import room_of, session_of
from tests.importing.files import SHARED, check, needs_shared, solver_log
from tests.importing.test_the_shared_logs import runs_of
from tests.ui.browser import needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium, pytest.mark.django_db(transaction=True)]


@needs_shared("imo25-logs")
def test_the_largest_published_log_opens_and_replays(
    live_server: LiveServer, client_for: Callable[[User | None], Client], alice: User
) -> None:
    run = runs_of(SHARED / "imo25-logs", "solution_p1_grok4.log")["solution_p1_grok4.log"]
    with room_of(live_server, session_of(client_for, alice)) as room:
        page = room.page()
        page.goto(f"/runs/{run.public_id}/", wait_until="domcontentloaded")
        page.get_by_role("button", name="Replay", exact=True).click()
        play = page.locator('[data-action="play"]')
        expect(play).to_be_focused()
        page.keyboard.press("End")
        expect(play).to_have_text("Play again")
        page.keyboard.press("Home")
        expect(page.locator(".exchange__turn:visible")).to_have_count(0)
        page.keyboard.press("Escape")
        assert page.locator(".diff").count() < page.locator("[data-proof-diff]").count()


def test_a_log_is_uploaded_and_opens_as_a_run_that_replays(
    live_server: LiveServer, client_for: Callable[[User | None], Client], alice: User, tmp_path: Path
) -> None:
    log, other = tmp_path / "ours.log", tmp_path / "cat.json"
    log.write_text(solver_log(*check("yes")))
    other.write_text("{}")
    with room_of(live_server, session_of(client_for, alice)) as room:
        page = room.page()
        page.goto("/runs/import/")
        page.get_by_label("Files").set_input_files([other])
        page.get_by_role("button", name="Import").click()
        expect(page.get_by_text("cat.json was not imported: unknown format.")).to_be_visible()
        page.get_by_label("Files").set_input_files([log])
        page.get_by_label("Topic").select_option("N")
        page.get_by_label("Licence").fill("none needed")
        page.get_by_role("button", name="Import").click()
        page.wait_for_url("**/runs/*/")
        page.locator("summary", has_text="Imported").click()
        expect(page.get_by_text("none needed")).to_be_visible()
        expect(page.locator(".exchange__turn h3").first).to_contain_text("Solver")
        page.get_by_role("button", name="Replay", exact=True).click()
        play = page.locator('[data-action="play"]')
        expect(play).to_be_focused()
        page.keyboard.press("End")
        expect(play).to_have_text("Play again")
        page.keyboard.press("Home")
        expect(page.locator(".exchange__turn:visible")).to_have_count(0)
    assert Run.objects.get().owner == alice
