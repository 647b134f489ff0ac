"""A researcher chooses the runs of a dataset: all that are listed at one press, or all but one."""

import pytest
from playwright.sync_api import expect
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from tests.browser.marking_pages import ClientFor, room_of, session_of
from tests.browser.test_after_sealing import shot
from tests.datasets.factory import failed, passed, version_of
from tests.ui.axe import faults
from tests.ui.browser import needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium, pytest.mark.django_db(transaction=True)]


def test_one_box_ticks_all_rows_and_shows_how_many_are_ticked(
    live_server: LiveServer, client_for: ClientFor, alice: User
) -> None:
    version = version_of()
    for make in (passed, failed, passed):
        make(version)
    with room_of(live_server, session_of(client_for, alice), viewport={"width": 390, "height": 900}) as room:
        page = room.page("/learning/datasets/new/")
        every = page.get_by_label("All 3 listed runs")
        boxes = page.locator("#run-table tbody input[type=checkbox]")
        every.check()
        assert [boxes.nth(place).is_checked() for place in range(3)] == [True] * 3
        expect(page.locator("[data-choose] [role=status]")).to_have_text("3 chosen")
        boxes.nth(1).uncheck()
        assert every.evaluate("box => box.indeterminate")
        expect(page.locator("[data-choose] [role=status]")).to_have_text("2 chosen")
        shot(page, "datasets_choose")
        assert faults(page) == []
        page.get_by_role("button", name="Preview").click()
        page.wait_for_load_state()
        expect(page.locator("[data-choose] [role=status]")).to_have_text("2 chosen")
