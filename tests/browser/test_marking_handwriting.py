"""A script of scanned pages alone, marked by keyboard and mouse: places on the page, size, turn, two pages, keys counted."""

from collections.abc import Callable

import pytest
from django.test import Client
from playwright.sync_api import FloatRect, Page, expect
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from apps.marks.models import Mark
from tests.browser.marking_pages import SAVED, Hands, paper_of, room_of, session_of, settled
from tests.marks.factory import problem_to_mark, script_scanned
from tests.ui.axe import AXE, faults_in_both_themes

ClientFor = Callable[[User | None], Client]

pytestmark = pytest.mark.django_db(transaction=True)


def drag(page: Page, number: int, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Drag with the mouse between two places of a page, in parts of its shown width and height."""
    sheet = page.locator(f'[data-page="{number}"] [data-sheet]')
    sheet.scroll_into_view_if_needed()
    box = sheet.bounding_box()
    assert box is not None
    (x1, y1), (x2, y2) = ((box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in (start, end))
    page.mouse.move(x1, y1)
    page.mouse.down()
    page.mouse.move(x2, y2, steps=3)
    page.mouse.up()


def test_handwriting_is_marked_where_it_is(live_server: LiveServer, client_for: ClientFor, bob: User) -> None:
    problem = problem_to_mark(bob, scripts=0)
    for name in ("Ada", "Bea", "Cleo"):
        script_scanned(problem, name, size=(600, 400))
    with room_of(live_server, session_of(client_for, bob), viewport={"width": 1440, "height": 900}) as room:
        page = room.begin()
        first, hands = paper_of(page), Hands(page)
        hands.press("7", "Enter")
        expect(page.locator(".marking__title")).not_to_contain_text(first)
        assert hands.pressed == 2, "all points cost two keys"
        second, hands = paper_of(page), Hands(page)
        hands.press("i", "a", "Enter")
        expect(page.locator(".marking__title")).not_to_contain_text(second)
        assert hands.pressed == 3, "partial points with one item cost k + 2 keys: the page in sight is the place"
        settled(page)

        drag(page, 1, (0.2, 0.3), (0.6, 0.5))
        expect(page.locator(".pin--draft rect")).to_have_count(1)
        page.keyboard.press("e")
        page.keyboard.press("g")
        expect(page.locator('[data-page="1"] .pin--error rect')).to_have_count(1)
        page.keyboard.press("w")
        page.keyboard.press("o")
        drag(page, 1, (0.2, 0.8), (0.2, 0.8))
        page.keyboard.press("m")
        page.keyboard.type("A good idea.")
        page.keyboard.press("Escape")
        expect(page.locator('[data-page="1"] .pin')).to_have_count(2)
        expect(page.locator('[data-notes="10001"] [data-part="number"]').nth(1)).to_have_text("2")
        drag(page, 1, (0.5, 0.5), (0.502, 0.5))
        expect(page.locator(".pin--draft")).to_have_count(0)
        assert page.evaluate("document.activeElement.dataset.kind") == "verdict", "a click on a place goes to its note"
        page.keyboard.press("m")
        drag(page, 1, (0.2, 0.1), (-0.3, 0.15))
        assert page.evaluate("document.activeElement.tagName") == "LI", "no letter goes into the comment that was open"
        page.keyboard.press("Escape")
        page.locator('[data-strip="10002"]').click()
        assert page.evaluate("document.querySelector('[data-page=\"2\"]').getBoundingClientRect().top < innerHeight")
        page.keyboard.press("l")
        for key in ("ArrowRight", "ArrowDown", "Shift+ArrowRight"):
            page.keyboard.press(key)
        expect(page.locator('[data-page="2"] .pin--draft')).to_have_count(1)
        page.keyboard.press("Escape")
        expect(page.locator(".pin--draft")).to_have_count(0)
        page.keyboard.press("d")
        expect(page.locator(".scan--shown")).to_have_count(2)
        page.keyboard.press("d")
        for key in ("z", "Z", "w"):
            page.keyboard.press(key)
        if AXE.exists():
            assert faults_in_both_themes(page) == []
        expect(page.locator("[data-part=status]")).to_have_text(SAVED)
        page.reload()
        settled(page)
        expect(page.locator('[data-page="1"] .pin')).to_have_count(2)
        page.set_viewport_size({"width": 390, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert room.trouble == []
    sheet = Mark.objects.get(sealed_at=None).sheet
    region = sheet["verdicts"][0]["region"]
    assert [round(region[side], 2) for side in "xywh"] == [0.2, 0.3, 0.4, 0.2]
    assert [round(sheet["comments"][0]["region"][side], 1) for side in "xywh"] == [0.8, 0.8, 0, 0], "before its turn"


def box_of(page: Page, selector: str) -> FloatRect:
    box = page.locator(selector).bounding_box()
    assert box is not None
    return box


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1024, 768)])
def test_commands_and_tools_stay_in_sight_on_long_pages(
    live_server: LiveServer, client_for: ClientFor, bob: User, width: int, height: int
) -> None:
    script_scanned(problem_to_mark(bob, scripts=0), "Ada", pages=3)
    with room_of(live_server, session_of(client_for, bob), viewport={"width": width, "height": height}) as room:
        page = room.begin()
        tabs = page.locator(".marking__panes .tabs").evaluate("one => [one.scrollWidth, one.clientWidth]")
        assert tabs[0] <= tabs[1], "a tab is cut"
        sheet = box_of(page, '[data-page="1"] [data-sheet]')
        page.mouse.move(sheet["x"] + 200, sheet["y"] + 200)
        page.mouse.wheel(0, 1100)
        expect(page.locator('[data-page="1"] [data-sheet]')).not_to_be_in_viewport(ratio=0.5)
        seal, error = box_of(page, '[data-command="seal"]'), box_of(page, '[data-command="error"]')
        zoom, points = box_of(page, '[data-command="page_larger"]'), box_of(page, ".marking__points")
        assert 0 <= seal["y"] == error["y"], "one row"
        assert seal["y"] + seal["height"] <= zoom["y"] <= 100
        assert seal["y"] + seal["height"] <= points["y"] <= height
        assert error["x"] + error["width"] <= box_of(page, '[data-command="undo"]')["x"]
        for selector in ('[data-command="seal"]', '[data-command="page_larger"]'):
            page.locator(selector).click(trial=True)


def test_an_error_covers_no_note_that_is_written(live_server: LiveServer, client_for: ClientFor, bob: User) -> None:
    script_scanned(problem_to_mark(bob, scripts=0), "Ada", pages=2, size=(600, 400))
    with room_of(live_server, session_of(client_for, bob), viewport={"width": 1440, "height": 900}) as room:
        page = room.begin()
        page.keyboard.press("m")
        page.keyboard.type("A note that is written at the end of the page.")
        page.evaluate("import('/static/js/site.js').then(({ toast }) => toast('Not sealed. '.repeat(20), { error: true }))")
        expect(page.locator(".toast--error")).to_be_visible()
        page.keyboard.type(" More.")
        for shift in (0, 150, 300, 450):
            page.evaluate(f"scrollTo(0, {shift})")
            page.keyboard.type("x")
            toast = box_of(page, ".toast--error")
            field = box_of(page, "textarea:focus")
            assert toast["y"] + toast["height"] <= field["y"] or field["y"] + field["height"] <= toast["y"]
