"""The researcher's desk in a browser: a note and its mention, a link and its reader, axe, and room for fingers on a phone."""

from pathlib import Path

import pytest
from django.core.cache import cache
from playwright.sync_api import Browser, Page, expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from apps.notes.models import Mention
from apps.runs.models import Run
from apps.sharing.models import SharedLink
from tests.browser.marking_pages import ClientFor, Room, room_of, session_of
from tests.browser.test_dangerous_buttons_ask import answered
from tests.explorations.forking import make_parent
from tests.explorations.test_start_form import MODELS
from tests.graph_js.graph_page import GRAPH, wait_until
from tests.ui.axe import faults_in_both_themes, needs_axe
from tests.ui.browser import needs_chromium
from tests.ui.chromium import PATIENCE_MS

pytestmark = [pytest.mark.browser, needs_chromium, pytest.mark.django_db(transaction=True)]

#: Controls that are less than 44 px high. Links within text are exempt, as in WCAG 2.5.8.
SMALL = """() => [...document.querySelectorAll('main :is(button, input, select, textarea, summary, .button, .tabs > a)')]
  .filter((one) => one.checkVisibility() && one.type !== 'hidden' && !one.closest('.graph'))
  .filter((one) => Math.max(...[one, one.closest('label') ?? one].map((box) => box.getBoundingClientRect().height)) < 43.5)
  .map((one) => one.outerHTML.slice(0, 120))"""


@pytest.fixture
def run(alice: User, settings: Settings, tmp_path: Path) -> Run:
    settings.MODELS_FILE = tmp_path / "models.toml"
    settings.MODELS_FILE.write_text(MODELS)
    cache.clear()
    run = make_parent()
    run.owner = alice
    run.save(update_fields=["owner"])
    return run


def page_of(browser: Browser, server: LiveServer, session: str = "") -> Page:
    """A page of another person, or of a reader without an account."""
    context = browser.new_context(base_url=server.url)
    context.set_default_timeout(PATIENCE_MS)
    if session:
        context.add_cookies([{"name": "sessionid", "value": session, "url": server.url}])
    return context.new_page()


def link_to(room: Room, run: Run) -> str:
    """Make a link on the page of the run's links, and copy its address."""
    page = room.page(f"/runs/{run.public_id}/share/")
    page.get_by_label("For whom").fill("Reading group")
    page.get_by_role("button", name="Make a link").click()
    room.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").click()
    expect(page.locator(".toast")).to_contain_text("Copied.")
    copied: str = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.get_by_label("The new link").input_value()
    return copied


@needs_axe
def test_a_note_reaches_whom_it_mentions_and_a_link_shows_graph_and_proof_until_it_is_revoked(
    live_server: LiveServer, client_for: ClientFor, alice: User, bob: User, run: Run
) -> None:
    sessions = {user: session_of(client_for, user) for user in (alice, bob)}
    with room_of(live_server, sessions[alice]) as room:
        assert room.context.browser
        page = room.page(f"/runs/{run.public_id}/lemmas/s0.1/")
        page.get_by_role("link", name="Note or tag on: Lemma s0.1", exact=True).click()
        page.get_by_label("Note on lemma s0.1").fill("@bob Is $2 \\mid 4$ **meant**?")
        page.get_by_role("button", name="Add the note").click()
        expect(page.locator("article.note strong", has_text="meant")).to_be_visible()

        mentioned = page_of(room.context.browser, live_server, sessions[bob])
        mentioned.goto("/")
        mentioned.locator("section", has_text="Notes that mention you").get_by_role("link").click()
        expect(mentioned.locator("article.note")).to_contain_text("meant?")
        expect(mentioned.get_by_role("button", name="Delete")).to_have_count(0)
        mentioned.goto("/")
        mentioned.get_by_role("button", name="Seen").click()
        expect(mentioned.get_by_text("Notes that mention you")).to_have_count(0)

        reader = page_of(room.context.browser, live_server)
        reader.goto(link_to(room, run))
        wait_until(reader, f"Boolean({GRAPH}?.ready)")
        reader.evaluate(f"{GRAPH}.ready")
        reader.locator("summary", has_text="Outline").click()
        reader.locator('[data-node="s0.1"]').click()
        expect(reader.locator("[data-panel]")).to_contain_text("Base.")
        expect(reader.locator(".shared__text", has=reader.get_by_role("heading", name="Proof", exact=True))).to_contain_text(
            "again."
        )
        expect(reader.get_by_text("meant?")).to_have_count(0)
        assert faults_in_both_themes(reader) == []

        page.goto(f"/runs/{run.public_id}/share/")
        answered(page, "Revoke", yes=True)
        expect(page.get_by_text("The link was revoked.")).to_be_visible()
        reader.locator('[data-node="s0.2"]').click()
        expect(reader.locator(".toast")).to_contain_text("no longer exists")
        reader.reload()
        expect(reader.get_by_role("heading", name="This link shows nothing.")).to_be_visible()
        assert reader.context.cookies() == []
    assert Mention.objects.get().person == bob
    assert SharedLink.objects.get().is_revoked


@needs_axe
def test_pages_of_the_desk_pass_axe_and_leave_room_for_fingers_on_a_phone(
    live_server: LiveServer, client_for: ClientFor, alice: User, run: Run
) -> None:
    own = f"/runs/{run.public_id}/"
    other = make_parent()
    client_for(alice).post(f"{own}notes/write/", {"kind": "lemma", "target": "s0.1", "text": "Is $2 \\mid 4$ meant?"})
    pages = {
        "/runs/": "table",
        "/lemmas/?q=top&confidence=1": ".lemma-search mark",
        f"/runs/compare/?run={run.public_id}&run={other.public_id}": ".compare-lemmas",
        f"{own}notes/": "article.note",
        f"{own}share/": "form.sharing__form",
        f"{own}fork/here/?lemma=s0.1": ".fork__choice",
    }
    with room_of(live_server, session_of(client_for, alice), viewport={"width": 1440, "height": 900}) as room:
        page = room.page()
        for path, shown in pages.items():
            page.set_viewport_size({"width": 1440, "height": 900})
            page.goto(path)
            page.locator(shown).first.wait_for()
            assert faults_in_both_themes(page) == [], path
            page.set_viewport_size({"width": 390, "height": 844})
            assert page.evaluate(SMALL) == [], path
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
