"""The workspace for everybody: axe, narrow screens, 200 % zoom, names without keys, selections that become places."""

import pytest
from playwright.sync_api import expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from apps.marks.models import Mark
from apps.marks.setups import cases_prepare
from apps.marks.workspace.keymaps import COMMANDS
from tests.browser.marking_pages import ClientFor, room_of, session_of, settled
from tests.contests.factory import TEXT
from tests.marks.factory import ONE_PLACE, claimed, problem_to_mark, script_add, sealed
from tests.marks.suggested import suggested
from tests.ui.axe import AXE, faults, faults_in_both_themes, needs_axe
from tests.ui.browser import needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium, pytest.mark.django_db(transaction=True)]
SELECT = """([from, to]) => {
  const step = document.querySelector('[data-step="2"] .marking__set p');
  const leaves = [...step.childNodes];
  const range = document.createRange();
  range.setStart(leaves[from[0]].nodeType === 3 ? leaves[from[0]] : leaves[from[0]].firstChild, from[1]);
  range.setEnd(leaves[to[0]].nodeType === 3 ? leaves[to[0]] : leaves[to[0]].firstChild, to[1]);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}"""


@pytest.fixture(autouse=True)
def _no_graders(settings: Settings) -> None:
    settings.MARKING_GRADERS = []  # Sealing asks them through the broker, which these tests do not have.


@needs_axe
def test_axe_finds_nothing_serious(live_server: LiveServer, client_for: ClientFor, bob: User) -> None:
    problem_to_mark(bob)
    with room_of(live_server, session_of(client_for, bob)) as room:
        page = room.begin()
        for key in ("i", "a", "Escape", "e", "g", "r", "j", "e", "w", "q", "g", "m"):
            page.keyboard.press(key)
        page.keyboard.type("Why is $p$ odd?")
        settled(page)
        assert faults_in_both_themes(page) == []
        page.keyboard.press("Escape")
        for keys in (("p",), ("/",), ("e",), ("Escape", "a"), ("Escape", "?"), ("Escape", "Control+k"), ("Escape", "t")):
            for key in keys:
                page.keyboard.press(key)
            page.wait_for_timeout(150)
            assert faults_in_both_themes(page) == [], keys
        page.goto("/marking/keys/")
        assert faults_in_both_themes(page) == []


@pytest.mark.parametrize(("width", "height"), [(390, 844), (720, 450)])
def test_narrow_screens_and_twice_the_size_show_all_of_it(
    live_server: LiveServer, client_for: ClientFor, bob: User, width: int, height: int
) -> None:
    problem_to_mark(bob)
    with room_of(live_server, session_of(client_for, bob), viewport={"width": width, "height": height}) as room:
        page = room.begin()
        for key in ("e", "g", "m"):
            page.keyboard.press(key)
        page.keyboard.type("A comment.")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.get_by_role("group", name="Manual points").get_by_role("button", name="5").click()
        expect(page.locator('[data-part="points"]')).to_have_text("5")
        page.goto("/marking/keys/")
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_telephone_shows_long_formulas_and_sealed_marks_in_its_width(
    live_server: LiveServer, client_for: ClientFor, bob: User
) -> None:
    problem = problem_to_mark(bob, scripts=0, unrevealed_percent=0)
    long = "+".join(f"a_{{{number}}}b_{{{number}}}" for number in range(12))
    script_add(problem, "author", f"So $\\left({long}\\right) = 1$ holds.\n\nAnd $p = 2$.")
    cases_prepare(problem)
    mark = sealed(claimed(problem, bob), bob, ("claim", {"line": "A1"}), ("verdict", ONE_PLACE))
    suggested(mark)
    with room_of(live_server, session_of(client_for, bob), viewport={"width": 390, "height": 844}, color_scheme="dark") as room:
        page = room.page(f"/marking/task/{mark.task.public_id}/")
        expect(page.locator("#reveal-panel")).to_contain_text("three stages")
        page.wait_for_selector('[data-step="1"] .katex')
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        first = page.locator('[data-step="1"] .marking__set')
        assert first.evaluate("box => box.getBoundingClientRect().right") <= 390
        assert first.evaluate("box => { box.scrollLeft = 9999; return box.scrollLeft }") > 0
        assert first.evaluate("box => { box.focus(); return document.activeElement === box }"), "keys cannot scroll it"
        # axe wants a tabindex; browsers let keys into what scrolls without one, and only while it scrolls.
        assert not AXE.exists() or {rule for rule, _ in faults(page)} <= {"scrollable-region-focusable"}


def test_keys_are_shown_and_not_read_out(live_server: LiveServer, client_for: ClientFor, bob: User) -> None:
    problem_to_mark(bob)
    with room_of(live_server, session_of(client_for, bob)) as room:
        page = room.begin()
        comment = page.get_by_role("button", name="Comment", exact=True)
        expect(comment.locator("kbd")).to_have_text("m")
        expect(page.get_by_role("button", name="Seal, next", exact=True)).to_be_visible()
        expect(page.get_by_role("checkbox", name="A1 , checkpoint, 3")).to_be_visible()


def test_every_command_of_the_table_does_something(live_server: LiveServer, client_for: ClientFor, bob: User) -> None:
    problem_to_mark(bob)
    with room_of(live_server, session_of(client_for, bob)) as room:
        page = room.begin()
        names = page.evaluate("import('/static/js/marking/page.js').then((page) => page.commandNames())")
        buttons = page.evaluate("[...document.querySelectorAll('[data-command]')].map((one) => one.dataset.command)")
    assert {one.name for one in COMMANDS} <= set(names)
    assert set(buttons) <= set(names)


@pytest.mark.parametrize(
    ("span", "quote"),
    [
        (([0, 0], [0, 4]), "Then"),
        (([0, 2], [0, 4]), "en"),
        (([1, 0], [2, 3]), r"$p \equiv 1 \pmod 4$ or"),
    ],
)
def test_a_selection_becomes_a_place_in_the_source(
    live_server: LiveServer, client_for: ClientFor, bob: User, span: tuple[list[int], list[int]], quote: str
) -> None:
    problem = problem_to_mark(bob, scripts=0)
    script_add(problem, "author", TEXT.replace("Suppose", "**Suppose** in 𝔽 that"))
    with room_of(live_server, session_of(client_for, bob)) as room:
        page = room.begin()
        page.evaluate(SELECT, list(span))
        page.keyboard.press("e")
        page.keyboard.press("g")
        settled(page)
        expect(page.locator('[data-step="2"] .marking__quote')).to_be_visible()
    verdict = Mark.objects.get(row_version__gt=0).sheet["verdicts"][0]
    assert (verdict["step"], verdict["anchor"]["quote"]) == (2, quote)


def test_evidence_is_linked_to_an_item_and_unlinked(live_server: LiveServer, client_for: ClientFor, bob: User) -> None:
    problem_to_mark(bob)
    with room_of(live_server, session_of(client_for, bob)) as room:
        page = room.begin()
        page.keyboard.press("e")
        page.keyboard.press("g")
        note = page.get_by_role("article", name="Verdict: gap")
        note.focus()
        note.get_by_label("Evidence for an item").select_option("A2")
        note.get_by_label("Evidence for an item").select_option("A1")
        note.get_by_role("button", name="Not evidence for A2").click()
        settled(page)
        expect(note.get_by_role("button", name="Not evidence for A2")).to_have_count(0)
    assert Mark.objects.get(row_version__gt=0).sheet["verdicts"][0]["items"] == ["A1"]
