"""A log is chosen, uploaded and opens as a run that replays: a browser against the real views."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client
from playwright.sync_api import expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from apps.runs.models import Run
from tests.importing.files import check, solver_log
from tests.ui.browser import CHROMIUM, FLAGS, needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium, pytest.mark.django_db(transaction=True)]


def test_a_log_is_uploaded_and_opens_as_a_run_that_replays(
    live_server: LiveServer, client_for: Callable[[User | None], Client], alice: User, tmp_path: Path
) -> None:
    log, other = tmp_path / "ours.log", tmp_path / "cat.json"
    log.write_text(solver_log(*check("yes")))
    other.write_text("{}")
    session = client_for(alice).cookies["sessionid"].value
    trouble: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        context = browser.new_context(base_url=live_server.url)
        context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
        page = context.new_page()
        page.set_default_timeout(8_000)
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.goto("/runs/import/")
        page.get_by_label("Files").set_input_files([other])
        page.get_by_role("button", name="Import").click()
        expect(page.get_by_text("cat.json is in no format that is known here.")).to_be_visible()
        page.get_by_label("Files").set_input_files([log])
        page.get_by_label("Topic").select_option("N")
        page.get_by_label("Licence").fill("none needed")
        page.get_by_role("button", name="Import").click()
        page.wait_for_url("**/runs/*/")
        expect(page.get_by_text("none needed")).to_be_visible()
        expect(page.locator(".exchange__turn h3").first).to_contain_text("Solver")
        page.get_by_role("button", name="Replay this run").click()
        play = page.locator('[data-action="play"]')
        expect(play).to_be_focused()
        page.keyboard.press("End")
        expect(play).to_have_text("Again")
        page.keyboard.press("Home")
        expect(page.locator(".exchange__turn:visible")).to_have_count(0)
        browser.close()
    assert trouble == []
    assert Run.objects.get().owner == alice
