"""A student with a phone: photographs pages, orders and crops them, inserts symbols, and writes without a connection."""

import io
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import FilePayload, Page, expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from apps.contests.models import ContestState
from apps.submissions.models import Scan
from tests.browser.marking_pages import ClientFor, room_of, session_of
from tests.contests.factory import enter, make_contest
from tests.problems.factory import make_problem
from tests.submissions.pages import models_file
from tests.ui.axe import faults, needs_axe
from tests.ui.browser import needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium, needs_axe, pytest.mark.django_db(transaction=True)]
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
    "color_scheme": "dark",
}
KEPT = "async () => (await caches.keys()).length"
SMALL = """() => [...document.querySelectorAll("main button, main label.button, main select, dialog button")]
  .filter((one) => one.checkVisibility() && Math.min(one.offsetHeight, one.offsetWidth) < 44).map((one) => one.outerHTML)"""


def photo(width: int) -> FilePayload:
    out = io.BytesIO()
    Image.new("RGB", (width, 120), "beige").save(out, "JPEG")
    return {"name": "photo.jpg", "mimeType": "image/jpeg", "buffer": out.getvalue()}


def widths() -> list[int]:
    return [scan.width for scan in Scan.objects.exclude(position=None).order_by("position")]


def photographed(page: Page) -> None:
    """Two photos, of which the second waits for a connection."""
    camera, text = page.get_by_text("Photograph a page"), page.get_by_label("Your solution")
    assert camera.bounding_box()["y"] < text.bounding_box()["y"]  # type: ignore[index]
    camera.locator("input").set_input_files(photo(90))
    expect(page.get_by_alt_text("Page 1")).to_be_visible()
    page.context.set_offline(True)
    camera.locator("input").set_input_files(photo(60))
    expect(page.get_by_text("Not sent: 1 file.")).to_be_visible()
    page.context.set_offline(False)
    expect(page.get_by_alt_text("Page 2")).to_be_visible()


def ordered_and_cropped(page: Page) -> None:
    page.get_by_role("button", name="Move down page 1").click()
    expect(page.get_by_role("button", name="Move up page 2")).to_be_focused()
    handle, first = page.locator("[data-drag]").nth(1), page.get_by_alt_text("Page 1")
    handle.scroll_into_view_if_needed()
    start, end = handle.bounding_box(), first.bounding_box()
    assert start
    assert end
    page.mouse.move(start["x"] + 20, start["y"] + 20)
    page.mouse.down()
    page.mouse.move(end["x"] + 20, end["y"] + 20, steps=4)
    page.mouse.up()
    expect(page.get_by_role("button", name="Move down page 1")).to_be_focused()
    page.get_by_role("button", name="Crop page 1").click()
    page.get_by_role("button", name="Rotate 90°").click()
    page.get_by_role("slider", name="Top left corner").focus()
    for _ in range(10):
        page.keyboard.press("Shift+ArrowRight")
    assert (
        page.get_by_role("slider", name="Top left corner").get_attribute("aria-valuetext")
        == "50 % from the left, 0 % from the top"
    )
    assert page.evaluate(SMALL) == []
    assert faults(page) == []
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_alt_text("Page 1")).to_have_attribute("width", "60")
    expect(page.get_by_alt_text("Page 1")).to_have_attribute("height", "90")


def symbols_inserted(page: Page) -> None:
    """By keyboard alone: to the toolbar, a fraction around the selected text, a sign in the formula, and undone."""
    text = page.get_by_label("Your solution")
    text.fill("Let a")
    text.evaluate("(field) => field.setSelectionRange(4, 5)")
    page.get_by_role("button", name="Step", exact=True).focus()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(text).to_have_value("Let $\\frac{a}{}$")
    page.keyboard.type("b")
    page.get_by_role("button", name="Congruent").click()
    expect(text).to_have_value("Let $\\frac{a}{b\\equiv}$")
    page.keyboard.press("Control+z")
    expect(text).to_have_value("Let $\\frac{a}{b}$")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#preview .katex")).to_be_visible()
    assert faults(page) == []
    page.get_by_role("button", name="Text").click()


def written_without_a_connection(page: Page) -> None:
    text = page.get_by_label("Your solution")
    expect(page.locator("[data-draft-status]")).to_contain_text("Saved")
    page.wait_for_selector("html[data-kept]")
    page.context.set_offline(True)
    page.reload()
    expect(text).to_have_value("Let $\\frac{a}{b}$")  # Newer than the page that is kept.
    text.press_sequentially(" be.")
    page.reload()
    expect(text).to_have_value("Let $\\frac{a}{b}$ be.")
    page.get_by_role("button", name="Hand in").click()
    expect(page.locator("[data-offline]")).to_be_focused()
    page.context.set_offline(False)
    expect(page.locator("[data-draft-status]")).to_contain_text("Saved")


def test_a_student_writes_with_a_phone_and_without_a_connection(
    live_server: LiveServer, client_for: ClientFor, bob: User, charlie: User, settings: Settings, tmp_path: Any
) -> None:
    settings.MODELS_FILE = models_file(tmp_path, "")
    contest = make_contest(bob, make_problem("One"), state=ContestState.OPEN)
    _, problem = enter(contest, charlie)
    with room_of(live_server, session_of(client_for, charlie), **PHONE) as room:
        page = room.page(f"/contests/problems/{problem.public_id}/write/")
        photographed(page)
        ordered_and_cropped(page)
        assert page.evaluate(SMALL) == []
        symbols_inserted(page)
        written_without_a_connection(page)
        assert page.evaluate(KEPT) == 1
        page.locator("details.menu summary").click()
        page.get_by_role("button", name="Sign out").click()
        page.get_by_label("User name").wait_for()
        page.wait_for_function(
            "async () => !(await caches.keys()).length && !Object.keys(localStorage).some((key) => key.startsWith('saved:'))"
        )
        page.context.set_offline(True)
        with pytest.raises(Exception, match="net::ERR_"):
            page.goto(f"/contests/problems/{problem.public_id}/write/")
    assert sorted(widths()) == [60, 60]
