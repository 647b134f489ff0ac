"""A student alone, at 390 px: tries a problem, photographs, hands in, disagrees, takes a hint, revises, and a coach settles it.

The first half is by thumb, the second by keyboard alone. Accessibility is tested in both themes on each page.
"""

from typing import Any

import pytest
from playwright.sync_api import Page, expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from apps.practice.models import Question, Remark, Settlement
from tests.browser.marking_pages import ClientFor, Room, room_of, session_of
from tests.browser.test_writing_on_a_phone import PHONE, SMALL, photo
from tests.practice.factory import HINTS, grouped, with_hints
from tests.submissions.pages import models_file
from tests.ui.axe import faults_in_both_themes, needs_axe
from tests.ui.browser import needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium, needs_axe, pytest.mark.django_db(transaction=True)]
FIRST = "\n\n".join(
    (
        "Let $n = 2k + 1$ be odd.",
        "Then clearly $(k + 1)^2 = k^2 + 1$ for all $k$.",
        "One of $k$ and $k + 1$ is even, so $8$ divides it.",
    )
)
RIGHT = FIRST.replace("k^2 + 1$ for", "k^2 + 2k + 1$ for")
STUCK = "I do not see how eight comes in."
REASON = "Neighbours always have different parity."


def fits(page: Page) -> None:
    """No scrolling to the side, no target under 44 px, and nothing for axe in either theme."""
    page.wait_for_function("document.documentElement.scrollWidth <= 390")
    assert page.evaluate(SMALL) == []
    assert faults_in_both_themes(page) == []


def tried_by_thumb(page: Page) -> None:
    fits(page)
    page.get_by_role("button", name="Try this problem").tap()
    page.get_by_text("Photograph a page").locator("input").set_input_files(photo(90))
    expect(page.get_by_alt_text("Page 1")).to_be_visible()
    page.get_by_label("Your solution").fill(FIRST)
    expect(page.locator("#formula-findings")).to_contain_text("Step 2: check this formula again.", timeout=20_000)
    expect(page.locator("#formula-findings details")).not_to_have_attribute("open", "")
    page.get_by_text("Hints, one at a time").tap()
    page.get_by_label("Say in a sentence where you are stuck.").fill(STUCK)
    page.get_by_role("button", name="Take hint 1").tap()
    expect(page.get_by_text(HINTS[0])).to_be_visible()
    page.get_by_role("button", name="Put it into my text as a goal").tap()
    expect(page.get_by_label("Your solution")).to_have_value(f"{FIRST}\n\n> **Goal.** {HINTS[0]}\n")
    fits(page)
    expect(page.locator("[data-draft-status]")).to_contain_text("Saved")
    page.get_by_role("button", name="Hand in").tap()
    expect(page.get_by_text("Version 1 is handed in.")).to_be_visible()


def asked_by_thumb(page: Page) -> None:
    page.get_by_label("Where are you stuck").fill("Is my third step enough?")
    page.get_by_label("About", exact=True).select_option("3")
    page.get_by_role("button", name="Ask a coach").tap()
    expect(page.get_by_text("A coach will answer here.")).to_be_visible()
    fits(page)


def answered(page: Page) -> None:
    """A coach: one key opens the oldest, a remark at a step, one key chooses the outcome, one answers."""
    page.goto("/practice/queue/")
    page.keyboard.press("n")
    expect(page.get_by_role("heading", name="The question")).to_be_visible()
    page.get_by_text("Remark on step 3", exact=True).click()
    page.get_by_label("Kind").locator("visible=true").select_option("gap")
    page.get_by_label("Words to the student").locator("visible=true").fill("Why is one of them even?")
    page.get_by_role("button", name="Add the remark").locator("visible=true").click()
    expect(page.get_by_text("Why is one of them even?")).to_be_visible()
    page.locator("h1").click()
    page.keyboard.press("2")
    page.get_by_label("Answer", exact=True).fill("Nearly there.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Nothing waits")).to_be_visible()


def pressed(page: Page, name: str, role: Any = "button") -> None:
    """Reach a control by Tab, and press it."""
    control = page.get_by_role(role, name=name).first
    for _ in range(120):
        if control.evaluate("(one) => one === document.activeElement"):
            break
        page.keyboard.press("Tab")
    expect(control).to_be_focused()
    page.keyboard.press("Enter")


def disagreed_and_revised_by_keyboard(page: Page) -> None:
    page.goto("/practice/")
    pressed(page, "Odd squares", "link")
    expect(page.get_by_text("Nearly there.", exact=True)).to_be_visible()
    page.get_by_text("I disagree because …").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type(REASON)
    pressed(page, "Send to a coach")
    expect(page.get_by_text(f"You disagreed: {REASON}").first).to_be_visible()
    pressed(page, "Check the formulas")
    expect(page.get_by_text("Check this formula again")).to_be_visible()
    fits(page)
    pressed(page, "Write a newer version", "link")
    page.get_by_label("Your solution").fill(RIGHT)
    expect(page.locator("[data-draft-status]")).to_contain_text("Saved")
    pressed(page, "Hand in")
    expect(page.get_by_text("Version 2 is handed in.")).to_be_visible()
    for count in (1, 2):  # Of two remarks, the formula's is confirmed at once; the coach's waits.
        pressed(page, "Version 2 settles this")
        expect(page.get_by_role("button", name="Version 2 settles this")).to_have_count(2 - count)


def decided(page: Page) -> None:
    """The coach decides the disagreement, and confirms that the newer version settles the remark."""
    page.goto("/practice/queue/")
    page.get_by_role("listitem").filter(has_text="Disagrees with a remark").get_by_role("link").click()
    assert faults_in_both_themes(page) == []
    page.get_by_role("button", name="The student is right").click()
    expect(page.get_by_text("The student is right.")).to_be_visible()
    page.get_by_role("button", name="Settled", exact=True).click()
    expect(page.get_by_role("button", name="Settled", exact=True)).to_have_count(0)


def test_a_student_alone_goes_the_whole_way(
    live_server: LiveServer, client_for: ClientFor, bob: User, charlie: User, settings: Settings, tmp_path: Any
) -> None:
    settings.MODELS_FILE = models_file(tmp_path, "")
    grouped(bob, charlie)
    problem, coach_session = with_hints(), session_of(client_for, bob)
    with room_of(live_server, session_of(client_for, charlie), **PHONE) as room:
        page = room.page(f"/problems/{problem.slug}/")
        tried_by_thumb(page)
        asked_by_thumb(page)
        assert room.context.browser
        desk = Room(room.context.browser, live_server.url, coach_session)
        coach = desk.page()
        answered(coach)
        disagreed_and_revised_by_keyboard(page)
        decided(coach)
        assert desk.trouble == []
        page.reload()
        page.get_by_text("The story of this attempt").tap()
        expect(page.get_by_text("A coach agreed with you")).to_be_visible()
        fits(page)
    assert Question.objects.get().answered_by == bob
    assert Remark.objects.get(by=bob).step == 3
    assert {one.remark.origin: one.holds for one in Settlement.objects.all()} == {"formula": True, "coach": True}
