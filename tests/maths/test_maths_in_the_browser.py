"""Formulas, streamed text and attacks in a real browser. The page is served without a content policy, so that only our
own work keeps an attack from running."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpResponse
from django.template import Context, Template
from playwright.sync_api import Dialog, Page, expect

from tests.maths.attacks import ATTACKS
from tests.maths.corpus import WRITTEN, random_texts
from tests.ui.browser import ORIGIN, Pages, browser_page, needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium]

PAGE = """{% extends "base.html" %}
{% block main %}{% for text in texts %}<article>{{ text|prose }}</article>{% endfor %}{% endblock %}"""
DANGER = """() => {
  const found = [];
  const forbidden = /^(script|iframe|object|embed|img|link|style|meta|base|form|input|video|audio|template|foreignobject)$/i;
  for (const element of document.querySelectorAll('#main *')) {
    const inFormula = element.closest('.katex');
    if (forbidden.test(element.localName)) found.push(element.outerHTML.slice(0, 80));
    if (/^(svg|math)$/i.test(element.localName) && !inFormula) found.push(element.outerHTML.slice(0, 80));
    for (const { name, value } of element.attributes) {
      if (/^on|^(data-)?hx-(?!disable$)|^src|^ws-|^id$|xlink/i.test(name)) found.push(`${element.localName} ${name}=${value}`);
      if (name === 'href' && !/^(https?|mailto):/.test(value)) found.push(`${element.localName} ${name}=${value}`);
      if (name === 'style' && !inFormula) found.push(`${element.localName} ${name}=${value}`);
      if (name === 'style' && /fixed|url/.test(value)) found.push(`${element.localName} ${name}=${value}`);
    }
  }
  return found;
}"""


@contextmanager
def page_with(texts: list[str]) -> Iterator[tuple[Page, list[str]]]:
    """A page with the texts as prose, and the list of what should not have happened."""
    html = Template(PAGE).render(Context({"texts": texts, "csrf_token": "none"}))
    trouble: list[str] = []

    def note_dialog(dialog: Dialog) -> None:
        trouble.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def note_request(url: str) -> None:
        path = url.removeprefix(ORIGIN)
        if not url.startswith(ORIGIN) or not (path in {"/texts/", "/in_page.mjs"} or path.startswith("/static/")):
            trouble.append(f"asked for {url}")

    script = HttpResponse((Path(__file__).parent / "in_page.mjs").read_bytes(), content_type="text/javascript")
    with browser_page(Pages({"/texts/": HttpResponse(html), "/in_page.mjs": script})) as page:
        page.on("dialog", note_dialog)
        page.on("request", lambda request: note_request(request.url))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.goto("/texts/")
        page.evaluate("async () => (await import('/static/js/maths.js')).typesetAll()")
        yield page, trouble


def in_page(page: Page, name: str, value: Any = None) -> Any:
    """What the function `name` of in_page.mjs answers in the page."""
    return page.evaluate(
        f"""async (given) => {{
          const work = await import('/in_page.mjs');
          return work.{name}(await import('/static/js/stream_text.js'), given);
        }}""",
        value,
    )


def test_attacks_are_inert_as_prose() -> None:
    with page_with(ATTACKS) as (page, trouble):
        page.wait_for_timeout(500)

        assert page.evaluate(DANGER) == []
        assert page.evaluate("document.querySelectorAll('.math[data-tex-state=done]').length") > 5
    assert trouble == []


def test_attacks_are_inert_while_they_stream() -> None:
    with page_with([]) as (page, trouble):
        in_page(page, "streamAll", ATTACKS)
        page.wait_for_timeout(500)

        assert page.evaluate(DANGER) == []
        assert page.evaluate("document.querySelectorAll('#main a').length") == 0
    assert trouble == []


def test_a_streamed_text_is_drawn_as_the_whole_one() -> None:
    with page_with([]) as (page, _):
        assert in_page(page, "differences", [*WRITTEN, *random_texts(150, seed=21)]) == []


def test_a_piece_that_comes_twice_changes_nothing_and_a_gap_is_noticed() -> None:
    with page_with([]) as (page, _):
        assert in_page(page, "offsets") == {
            "answers": [True, True, True, False, True, True],
            "before": "a😀bcd",
            "after": "new!",
            "length": 4,
        }


def test_an_open_formula_is_muted_and_a_closed_one_is_drawn() -> None:
    with page_with([]) as (page, _):
        assert in_page(page, "openFormula", ["Let $x", "^2$ be"]) == [["$x", 0], ["", 1]]


def test_a_formula_that_cannot_be_typeset_shows_its_source_and_why() -> None:
    with page_with(["$\\notacommand{x}$ and $y$"]) as (page, _):
        failed = page.locator(".math-failed")

        assert failed.text_content() == "\\notacommand{x}"
        assert "cannot be typeset" in (failed.get_attribute("title") or "")
        expect(page.locator(".katex")).to_have_count(1)


def test_one_formula_cannot_change_the_macros_of_another() -> None:
    with page_with(["$\\gdef\\frac{pwned}\\gdef\\abs#1{pwned}x$\n\n$\\frac12$ $\\abs{x}$"]) as (page, _):
        assert "pwned" not in page.evaluate("[...document.querySelectorAll('.katex-html')].map((e) => e.textContent).join()")


def test_copying_gives_the_tex() -> None:
    select = """() => {
      getSelection().selectAllChildren(document.querySelector('article'));
      const data = new DataTransfer();
      document.dispatchEvent(new ClipboardEvent('copy', { clipboardData: data, cancelable: true, bubbles: true }));
      return data.getData('text/plain');
    }"""
    with page_with(["Let $x^2$ be\n\n\\[ a+b \\]\n\nend"]) as (page, _):
        assert page.evaluate(select) == "Let $x^2$ be\n\n\\[a+b\\]\n\nend"


def test_sixteen_streams_keep_the_main_thread_free() -> None:
    """Sixteen agents at 60 tokens/s: no task over 100 ms, at most 0.3 ms a token.

    The best of three measurements counts: what else the machine does is not ours.
    """
    text = "\n\n".join(WRITTEN) + "\n\n" + "A long proof with $x_1^2+y$ and more. " * 200
    answers = []
    with page_with([]) as (page, _):
        for _attempt in range(3):
            answers.append(in_page(page, "pace", {"text": text, "streams": 16, "seconds": 3}))
            if max(answers[-1]["tasks"], default=0) <= 100:
                break

    assert answers[-1]["sent"] > 1_000, json.dumps(answers)
    assert min(answer["perToken"] for answer in answers) <= 0.3, json.dumps(answers)
    assert max(answers[-1]["tasks"], default=0) <= 100, json.dumps(answers)


def test_a_label_leaves_nothing_in_the_formula() -> None:
    with page_with(["$x\\label{eq:one}$"]) as (page, _):
        assert page.locator(".katex-html").text_content() == "x"
