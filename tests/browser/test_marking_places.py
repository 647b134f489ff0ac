"""Words that a note is about are marked in the script as it is set; the note leads to them and they to the note."""

import pytest
from playwright.sync_api import Page, expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from apps.marks.models import Mark
from tests.browser.marking_pages import ClientFor, Room, room_of, session_of, settled
from tests.marks.factory import problem_to_mark, script_add
from tests.ui.browser import needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium, pytest.mark.django_db(transaction=True)]
TEXT = (
    "Suppose **that 𝔽** is a field. Similarly for $y$ we find $y^2 = 1$, and more.\n\n"
    "Similarly for $z$ we find $z^2 = 1$, and *much* more.\n\n"
    "| case | value |\n|---|---|\n| one | $a$ |\n| two | é |\n\n"
    "$$\\sum_{k=1}^{n} k = \\frac{n(n+1)}{2}$$\n\n"
    "- The first, `code`, item\n\n"
    "Hence 👩‍🚀 and $\\{n\\}$ and so on."
)
#: Selects the words `from` … `to` of a step, from the beginning of the first to the end of the last that is found after it.
SELECT = """([step, from, to]) => {
  const set = document.querySelector(`[data-step="${step}"] .marking__set`);
  const walker = document.createTreeWalker(set, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  let begun = false;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.parentElement.closest('.math')) continue;
    if (!begun && node.data.includes(from)) { range.setStart(node, node.data.indexOf(from)); begun = true; }
    if (begun && node.data.includes(to)) { range.setEnd(node, node.data.indexOf(to) + to.length); break; }
  }
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}"""
#: What is marked for a note, a formula as its TeX.
MARKED = """(id) => [...document.querySelectorAll('.marking__set .marking__noted')]
  .filter((one) => !id || one.dataset.of.split(' ').includes(id))
  .map((one) => one.querySelector('annotation')?.textContent ?? one.textContent)"""
#: Random selections in every step, what the workspace makes of them, and what it then marks, all as letters alone.
ROUND = """async ([count, seed]) => {
  const { selectionPlace, pieces } = await import('/static/js/marking/anchors.js');
  const { Places } = await import('/static/js/marking/places.js');
  const root = document.querySelector('[data-marking]');
  const places = new Places(root);
  let state = seed;
  const draw = (most) => { state = (state * 1103515245 + 12345) % 2147483648; return state % most; };
  const letters = (text) => text.replaceAll(/[^\\p{L}\\p{N}]/gu, '');
  const tex = (node, text) => node.nodeType === 1 ? (node.querySelector('annotation')?.textContent ?? text) : text;
  const wrong = [];
  let tried = 0;
  for (const step of root.querySelectorAll('[data-step]')) {
    const set = step.querySelector('.marking__set');
    const before = set.textContent;
    for (let turn = 0; turn < count; turn += 1) {
      const texts = pieces(set).filter(({ node, text }) => node.nodeType === 3 && text.trim());
      if (!texts.length) break;
      const [one, two] = [draw(texts.length), draw(texts.length)].sort((a, b) => a - b);
      const [from, to] = [draw(texts[one].text.length), 1 + draw(texts[two].text.length)];
      if (one === two && from >= to) continue;
      const range = document.createRange();
      const whole = (text, at) => /[\\uDC00-\\uDFFF]/.test(text[at] ?? '') ? at - 1 : at;
      range.setStart(texts[one].node, whole(texts[one].text, from));
      range.setEnd(texts[two].node, whole(texts[two].text, to));
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      const selected = pieces(set).filter(({ node }) => range.intersectsNode(node)).map(({ node, text }) => {
        if (node.nodeType !== 3) return tex(node, text);
        const start = node === range.startContainer ? range.startOffset : 0;
        return node.data.slice(start, node === range.endContainer ? range.endOffset : undefined);
      }).join('');
      const place = selectionPlace(root);
      if (!place || !letters(selected)) continue;
      places.show([{ id: 'x', step: place.step, anchor: place }]);
      const marked = [...set.querySelectorAll('.marking__noted')].map((node) => tex(node, node.textContent)).join('');
      tried += 1;
      if (letters(marked) !== letters(selected)) wrong.push([selected, marked]);
      places.show([]);
      if (set.textContent !== before || set.querySelector('mark')) wrong.push(['left behind', set.textContent]);
    }
  }
  return { tried, wrong };
}"""


@pytest.fixture(autouse=True)
def _no_graders(settings: Settings) -> None:
    settings.MARKING_GRADERS = []  # Sealing asks them through the broker, which these tests do not have.


def begun(room: Room) -> Page:
    page = room.begin()
    page.evaluate("async () => (await import('/static/js/maths.js')).typesetAll()")
    return page


def test_selected_words_are_marked_with_their_formulas_and_no_others(
    live_server: LiveServer, client_for: ClientFor, bob: User
) -> None:
    script_add(problem_to_mark(bob, scripts=0), "author", TEXT)
    with room_of(live_server, session_of(client_for, bob)) as room:
        page = begun(room)
        before = page.locator('[data-step="2"] .marking__set').inner_text()
        page.evaluate(SELECT, [2, "Similarly", "we find"])
        page.keyboard.press("e")
        page.keyboard.press("g")
        settled(page)
        assert page.evaluate(MARKED, "") == ["Similarly for ", "z", " we find"]
        expect(page.locator('[data-step="1"] .marking__noted')).to_have_count(0)
        expect(page.locator('[data-step="2"] .marking__set')).to_have_text(before, use_inner_text=True)
        page.keyboard.press("t")
        expect(page.locator('[data-step="2"] [data-source] mark')).to_have_text(
            "Similarly for $z$ we find", use_inner_text=True
        )
        page.keyboard.press("t")
        page.reload()
        settled(page)
        assert page.evaluate(MARKED, "") == ["Similarly for ", "z", " we find"]
        page.get_by_role("article", name="Verdict: gap").focus()
        page.get_by_role("button", name="Remove").click()
        expect(page.locator("[data-note]")).to_have_count(0)
        assert page.evaluate(MARKED, "") == []
        settled(page)
    assert Mark.objects.get(row_version__gt=0).sheet["verdicts"] == []


def test_a_note_leads_to_its_words_and_the_words_to_their_note(
    live_server: LiveServer, client_for: ClientFor, bob: User
) -> None:
    script_add(problem_to_mark(bob, scripts=0), "author", "A long beginning. " * 120 + "\n\n" + TEXT)
    with room_of(live_server, session_of(client_for, bob), viewport={"width": 1100, "height": 500}) as room:
        page = begun(room)
        step = int(page.locator("[data-step]", has_text="𝔽").first.get_attribute("data-step") or 0)
        page.evaluate(SELECT, [step, "that 𝔽", "for"])
        page.keyboard.press("e")
        page.keyboard.press("m")
        settled(page)
        note = page.get_by_role("article", name="Verdict: missing case")
        words = page.locator(".marking__set .marking__noted").first
        page.evaluate("scrollTo(0, 0)")
        expect(words).not_to_be_in_viewport()
        page.keyboard.press("Escape")
        note.focus()
        expect(words).to_be_in_viewport()
        expect(words).to_have_class("marking__noted marking__noted--now")
        page.evaluate("document.activeElement.blur()")
        expect(words).to_have_class("marking__noted")
        words.click()
        expect(note).to_be_focused()
        expect(words).to_have_class("marking__noted marking__noted--now")


def test_words_of_two_notes_are_marked_for_both(live_server: LiveServer, client_for: ClientFor, bob: User) -> None:
    script_add(problem_to_mark(bob, scripts=0), "author", TEXT)
    with room_of(live_server, session_of(client_for, bob)) as room:
        page = begun(room)
        for words, keys in ((("Similarly", "we find"), "eg"), (("we", "and"), "ew")):
            page.evaluate(SELECT, [2, *words])
            for key in keys:
                page.keyboard.press(key)
            settled(page)
        ids = page.evaluate("[...document.querySelectorAll('[data-note]')].map((one) => one.dataset.note)")
        assert "".join(page.evaluate(MARKED, ids[0])) == "Similarly for z we find"
        assert "".join(page.evaluate(MARKED, ids[1])) == "we find z^2 = 1, and"


def test_any_selection_comes_back_as_what_was_selected(live_server: LiveServer, client_for: ClientFor, bob: User) -> None:
    script_add(problem_to_mark(bob, scripts=0), "author", TEXT)
    with room_of(live_server, session_of(client_for, bob)) as room:
        page = begun(room)
        for seed in (1, 2, 3):
            result = page.evaluate(ROUND, [40, seed])
            assert result["tried"] > 100
            assert result["wrong"] == []
