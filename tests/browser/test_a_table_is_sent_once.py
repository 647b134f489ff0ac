"""A second click on *Import* sends nothing: the answer to the first one is the only page with the passwords."""

from collections.abc import Callable

import pytest
from django.test import Client
from playwright.sync_api import Route, expect
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from tests.browser.marking_pages import room_of
from tests.contests.factory import make_contest
from tests.tables.factory import post, upload
from tests.ui.browser import needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium, pytest.mark.django_db(transaction=True)]
#: Whether the button is disabled after the first of two clicks.
CLICKED_TWICE = """() => new Promise((done) => {
  const button = document.querySelector('button[value="import"]');
  button.click();
  setTimeout(() => { const isDisabled = button.disabled; button.click(); done(isDisabled); }, 50);
})"""


def test_the_button_is_disabled_while_the_import_runs(
    live_server: LiveServer, client_for: Callable[[User | None], Client], bob: User
) -> None:
    client = client_for(bob)
    file = upload(client, make_contest(bob), b"User name,Name\nanna.k,Anna\n")
    post(client, file, "preview", unknown="account")
    held: list[Route] = []
    with room_of(live_server, client.cookies["sessionid"].value) as room:
        page = room.page(f"/contests/tables/{file.public_id}/")
        page.route(
            "**/contests/tables/**", lambda route: held.append(route) if route.request.method == "POST" else route.continue_()
        )
        assert page.evaluate(CLICKED_TWICE)
        assert len(held) == 1
        held[0].continue_()
        expect(page.get_by_text("The passwords are shown only now")).to_be_visible()
