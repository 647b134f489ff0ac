"""Keys are a person's own: changed on a page, kept on the server, switched off with one switch."""

import json

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import expect
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from apps.marks.workspace.keymaps import COMMANDS, FALLACY_KEYS, KeysRefused, keys_of, keys_save
from apps.reasoning.marking.sheets.sheet import Fallacy
from tests.browser.marking_pages import ClientFor, room_of, session_of, settled
from tests.marks.factory import problem_to_mark
from tests.ui.browser import needs_chromium


@pytest.mark.browser
@needs_chromium
@pytest.mark.django_db(transaction=True)
def test_a_changed_key_and_the_switch_hold_in_the_workspace(live_server: LiveServer, client_for: ClientFor, bob: User) -> None:
    problem_to_mark(bob)
    with room_of(live_server, session_of(client_for, bob)) as room:
        page = room.begin()
        task = page.url
        page.keyboard.press("?")
        page.get_by_role("link", name="Change keys").click()
        page.get_by_label("Grant this step").fill("f")
        page.get_by_role("button", name="Save keys").click()
        page.wait_for_url(task)
        settled(page)
        granted = page.get_by_text("granted: would the rest hold?")
        page.keyboard.press("g")
        expect(granted).to_have_count(0)
        page.keyboard.press("f")
        expect(granted).to_be_visible()
        expect(page.get_by_role("button", name="Grant step", exact=True).locator("kbd")).to_have_text("f")
        page.keyboard.press("Control+k")
        page.keyboard.type("all keys")
        page.keyboard.press("Enter")
        page.get_by_label("Enable keys without Ctrl or Alt").uncheck()
        expect(page.get_by_role("button", name="Grant step", exact=True).locator("kbd")).to_have_count(0)
        page.keyboard.press("Escape")
        page.keyboard.press("f")
        page.keyboard.press("7")
        settled(page)
        expect(granted).to_be_visible()
        expect(page.locator('[data-part="points"]')).to_have_text("–")
        page.get_by_role("group", name="Manual points").get_by_role("button", name="7").click()
        expect(page.locator('[data-part="points"]')).to_have_text("7")
        page.reload()
        settled(page)
        page.keyboard.press("2")
        settled(page)
        expect(page.locator('[data-part="points"]')).to_have_text("7")
        page.keyboard.press("Control+z")
        expect(page.locator('[data-part="points"]')).to_have_text("–")


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"grant": "j"}, "j is used twice"),
        ({"grant": "Ctrl+z"}, "Ctrl+z is used twice"),
        ({"grant": "7"}, "digits enter points"),
        ({"grant": "jj"}, "cannot be used as a key"),
        ({"grant": "Escape"}, "cannot be used as a key"),
        ({"dance": "w"}, "There is no command “dance”."),
    ],
)
def test_keys_that_cannot_work_are_refused_with_the_reason(bob: User, changed: dict[str, str], why: str) -> None:
    with pytest.raises(KeysRefused, match=why.replace("+", r"\+")):
        keys_save(user=bob, keys=changed, single_keys=True)
    assert keys_of(bob).keys["grant"] == "g"


def test_only_what_differs_is_kept_and_no_key_is_a_choice(bob: User) -> None:
    kept = keys_save(user=bob, keys={"undo": "Backspace", "half": ""}, single_keys=False)
    assert (kept.keys["undo"], kept.keys["half"], kept.single_keys) == ("Backspace", "", False)
    assert bob.key_map.keys == {"undo": "Backspace", "half": ""}
    keys_save(user=bob, keys={}, single_keys=True)
    bob.key_map.refresh_from_db()
    assert bob.key_map.keys == {}


def test_every_kind_of_error_has_a_letter_of_its_own_and_no_two_commands_share_a_key() -> None:
    assert set(FALLACY_KEYS) == set(Fallacy)
    assert len(set(FALLACY_KEYS.values())) == len(Fallacy)
    keys = [key for one in COMMANDS for key in (one.key, *one.also) if key]
    assert len(keys) == len(set(keys))


def test_the_page_refuses_bad_keys_keeps_what_was_typed_and_leads_nowhere_else(client_for: ClientFor, bob: User) -> None:
    client, address = client_for(bob), reverse("marks:keys")
    typed = {one.name: one.key for one in COMMANDS} | {"grant": "j", "back_to": "https://elsewhere.example/"}
    answer = client.post(address, typed)
    assert answer.status_code == 422
    assert "is used twice" in answer.content.decode()
    answer = client.post(address, typed | {"grant": "f"})
    assert (answer.status_code, answer.headers["Location"]) == (302, address)
    assert client.post(address, {"reset": "1", "single_keys": "on"}).status_code == 302
    assert keys_of(bob).keys["grant"] == "g"


def test_the_switch_is_for_markers_and_says_what_it_takes(client_for: ClientFor, bob: User, charlie: User) -> None:
    address = reverse("marks:single_keys")
    answer = client_for(bob).post(address, json.dumps({"on": False}), content_type="application/json")
    assert answer.json()["single_keys"] is False
    assert client_for(bob).post(address, "[]", content_type="application/json").status_code == 422
    assert client_for(charlie).post(address, json.dumps({"on": True}), content_type="application/json").status_code == 404


def test_the_switch_sent_as_a_form_is_refused_with_words(bob: User) -> None:
    client = Client(enforce_csrf_checks=True)  # Its check reads a form before the view does.
    client.force_login(bob)
    client.get(reverse("marks:keys"))
    token = client.cookies["csrftoken"].value
    answer = client.post(reverse("marks:single_keys"), {"on": "1"}, headers={"X-CSRFToken": token})
    assert answer.status_code == 422
    assert "Send JSON" in answer.json()["message"]
