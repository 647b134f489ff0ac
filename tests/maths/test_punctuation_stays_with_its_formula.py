"""A short formula and the sign after it are not torn apart by a line break, and copying still gives both."""

import pytest
from django.http import HttpResponse
from django.template.loader import render_to_string

from apps.ui.markdown import render
from tests.ui.browser import Pages, browser_page, needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium]
TEXT = "Let $p$, then $q$; and $r$ too. But $" + "x+" * 40 + "y$, no."


def test_a_sign_after_a_short_formula_is_held_to_it() -> None:
    body = render_to_string("base.html").replace("</main>", f"{render(TEXT)}</main>")
    with browser_page(Pages({"/": HttpResponse(body)}), viewport={"width": 390, "height": 800}) as page:
        page.goto("/")
        page.wait_for_selector(".katex")
        held = page.evaluate("[...document.querySelectorAll('.math-held')].map((element) => element.lastChild.data)")
        assert held == [",", ";"]
        assert page.evaluate("document.querySelector('.math-held').children.length") == 1
