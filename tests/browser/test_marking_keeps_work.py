"""Nothing that a marker did is lost or done twice: reloads, killed tabs, lost connections, two windows, undone seals.

Requests are held back from before the page opens: if routing starts later, Chromium sometimes lets the next one through.
"""

import pytest
from playwright.sync_api import Page, Route, expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from apps.marks.models import Mark, MarkState
from tests.browser.marking_pages import ClientFor, paper_of, room_of, session_of, settled
from tests.marks.factory import problem_to_mark
from tests.ui.browser import needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def _no_graders(settings: Settings) -> None:
    settings.MARKING_GRADERS = []  # Sealing asks them through the broker, which these tests do not have.


def points(page: Page, value: str) -> None:
    expect(page.locator('[data-part="points"]')).to_have_text(value)


def test_undo_and_redo_continue_after_a_reload(live_server: LiveServer, client_for: ClientFor, bob: User) -> None:
    problem_to_mark(bob)
    with room_of(live_server, session_of(client_for, bob)) as room:
        page = room.begin()
        for key in "137":
            page.keyboard.press(key)
        settled(page)
        page.reload()
        settled(page)
        points(page, "7")
        page.keyboard.press("u")
        points(page, "3")
        page.keyboard.press("Control+z")
        points(page, "1")
        page.keyboard.press("Control+y")
        points(page, "3")
    assert Mark.objects.get(row_version__gt=0).sheet["typed"] == "3"


def test_one_key_opens_a_mark_that_was_just_sealed(live_server: LiveServer, client_for: ClientFor, bob: User) -> None:
    problem_to_mark(bob)
    with room_of(live_server, session_of(client_for, bob)) as room:
        page = room.begin()
        first = paper_of(page)
        page.keyboard.press("7")
        page.keyboard.press("Enter")
        expect(page.locator(".marking__title .contest-number")).not_to_have_text(first)
        page.keyboard.press("u")
        expect(page.locator(".marking__title .contest-number")).to_have_text(first)
        settled(page)
        points(page, "7")
        expect(page.get_by_label("Claim line")).to_be_enabled()
    assert not Mark.objects.filter(state=MarkState.SEALED).exists()


def test_a_killed_tab_loses_at_most_a_second(live_server: LiveServer, client_for: ClientFor, bob: User) -> None:
    problem_to_mark(bob)
    with room_of(live_server, session_of(client_for, bob)) as room:
        page = room.begin()
        sealed = paper_of(page)
        page.keyboard.press("0")
        page.keyboard.press("Enter")
        expect(page.locator(".marking__title .contest-number")).not_to_have_text(sealed)
        settled(page)
        address = page.url
        page.keyboard.press("m")
        page.keyboard.type("A comment that was being typed")
        page.keyboard.press("Escape")
        page.keyboard.press("e")
        page.keyboard.press("g")
        page.close(run_before_unload=False)
        again = room.page(address)
        settled(again)
        expect(again.get_by_text("A comment that was being typed").first).to_be_visible()
        expect(again.get_by_role("article", name="Verdict: gap")).to_have_count(1)
    assert Mark.objects.filter(state=MarkState.SEALED, sealed_points=0).count() == 1
    draft = Mark.objects.get(state=MarkState.DRAFT, sheet__comments__isnull=False, row_version__gt=0)
    assert [one["words"] for one in draft.sheet["comments"]] == ["A comment that was being typed"]
    assert len(draft.sheet["verdicts"]) == 1


def test_without_a_connection_work_waits_and_is_done_once(live_server: LiveServer, client_for: ClientFor, bob: User) -> None:
    problem_to_mark(bob)
    with room_of(live_server, session_of(client_for, bob)) as room:
        page = room.begin()
        room.context.set_offline(True)
        page.keyboard.press("i")
        page.keyboard.press("b")
        page.keyboard.press("Escape")
        page.keyboard.press("e")
        page.keyboard.press("u")
        expect(page.locator('[data-part="status"]')).to_contain_text("No connection. Your work is kept in this browser")
        expect(page.locator('[data-tick="B1"]')).to_be_checked()
        room.context.set_offline(False)
        settled(page)
        points(page, "7")
    sheet = Mark.objects.get(row_version__gt=0).sheet
    assert sheet["ticks"] == ["B1"]
    assert len(sheet["verdicts"]) == 1


def test_an_answer_that_was_lost_is_asked_for_again_and_nothing_is_done_twice(
    live_server: LiveServer, client_for: ClientFor, bob: User
) -> None:
    problem_to_mark(bob)
    with room_of(live_server, session_of(client_for, bob)) as room:
        lost: list[str] = []

        def lose_the_first(route: Route) -> None:
            if lost:
                route.continue_()
                return
            lost.append(route.request.post_data or "")
            route.fetch()
            route.abort()

        room.context.route("**/command", lose_the_first)
        page = room.begin()
        page.keyboard.press("+")
        expect(page.locator('[data-part="status"]')).to_contain_text("No connection")
        settled(page)
        expect(page.locator('[data-part="band"]')).to_have_text("no solution")
        assert len(lost) == 1
    mark = Mark.objects.get(row_version__gt=0)
    assert mark.commands.count() == 1
    assert mark.row_version == 1


@pytest.mark.parametrize("mine_holds", [True, False])
def test_two_windows_are_shown_side_by_side_and_a_person_decides(
    live_server: LiveServer, client_for: ClientFor, bob: User, mine_holds: bool
) -> None:
    problem_to_mark(bob)
    with room_of(live_server, session_of(client_for, bob)) as room:
        page = room.begin()
        other = room.page(page.url)
        settled(other)
        other.keyboard.press("6")
        settled(other)
        page.keyboard.press("2")
        dialog = page.get_by_role("dialog", name="Changed in another window")
        expect(dialog.get_by_role("row", name="manual points")).to_contain_text("2")
        expect(dialog.get_by_role("row", name="manual points")).to_contain_text("6")
        dialog.get_by_role("button", name="Keep mine" if mine_holds else "Take theirs").click()
        expect(dialog).to_have_count(0)
        settled(page)
        points(page, "2" if mine_holds else "6")
    assert Mark.objects.get(row_version__gt=0).sheet["typed"] == ("2" if mine_holds else "6")


def test_a_script_that_went_to_another_marker_says_so(live_server: LiveServer, client_for: ClientFor, bob: User) -> None:
    problem_to_mark(bob)
    with room_of(live_server, session_of(client_for, bob)) as room:
        gone = '{"message": "This script is being marked by another coach by now."}'
        room.context.route("**/command", lambda route: route.fulfill(status=410, content_type="application/json", body=gone))
        page = room.begin()
        page.keyboard.press("5")
        expect(page.get_by_role("alert").filter(has_text="being marked by another coach")).to_be_visible()


def test_a_mark_that_cannot_be_sealed_here_any_more_says_so(live_server: LiveServer, client_for: ClientFor, bob: User) -> None:
    problem_to_mark(bob)
    with room_of(live_server, session_of(client_for, bob)) as room:
        room.context.route(
            "**/seal", lambda route: route.fulfill(status=404, content_type="text/html", body="<h1>Not found</h1>")
        )
        page = room.begin()
        page.keyboard.press("0")
        settled(page)
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert").filter(has_text="can no longer be marked here")).to_be_visible()
    assert not Mark.objects.filter(state=MarkState.SEALED).exists()


def test_without_scripts_the_forms_do_the_same(live_server: LiveServer, client_for: ClientFor, bob: User) -> None:
    problem_to_mark(bob)
    with room_of(live_server, session_of(client_for, bob), java_script_enabled=False) as room:
        page = room.page("/marking/")
        page.get_by_role("button", name="Mark").first.click()
        plain = page.get_by_label("Marking without JavaScript")
        plain.get_by_label("Claim line").fill("A1")
        plain.get_by_role("button", name="Set").nth(1).click()
        expect(page.locator('[data-part="derivation"]')).to_contain_text("Chain A: A1 3 = 3")
        plain.get_by_label("Points").fill("0")
        plain.get_by_role("button", name="Set").first.click()
        plain.get_by_label("Reason").fill("Nothing follows from it.")
        plain.get_by_role("button", name="Set").nth(2).click()
        plain.get_by_role("button", name="Seal, next").click()
        page.wait_for_selector("[data-marking]")
    assert Mark.objects.get(state=MarkState.SEALED).sealed_points == 0
