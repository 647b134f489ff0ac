"""No text of a person or a model becomes a script, an event handler, an htmx attribute, an image or a dangerous link."""

import re
from html.parser import HTMLParser
from time import perf_counter

import pytest

from apps.ui.markdown import MAX_LENGTH, render, render_inline
from tests.maths.attacks import ATTACKS

_TAGS = {
    *("div", "p", "br", "hr", "em", "strong", "s", "code", "pre", "a", "span", "ul", "ol", "li", "blockquote"),
    *("h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {"href", "title", "rel", "class", "data-s", "data-e", "start"}
_CLASSES = {"math inline", "math display"}


class _Inspector(HTMLParser):
    """Collects what is not on the short list."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _TAGS:
            self.found.append(f"<{tag}>")
        for name, value in attrs:
            if name not in _ATTRIBUTES or (name == "class" and value not in _CLASSES):
                self.found.append(f"{tag} {name}={value}")
            if name == "href" and not re.match(r"(https?|mailto):", value or ""):
                self.found.append(f"{tag} {name}={value}")
        if tag == "a" and dict(attrs).get("rel") != "noopener nofollow ugc":
            self.found.append("a link without rel")


def inside(html: str) -> str:
    """The content of the wrapper."""
    start, end = '<div class="prose" hx-disable>', "</div>"
    assert html.startswith(start)
    assert html.endswith(end)
    return html[len(start) : -len(end)]


def test_the_corpus_is_large() -> None:
    assert len(set(ATTACKS)) == len(ATTACKS) >= 100


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_inert_in_markdown(attack: str) -> None:
    assert _Inspector(inside(render(attack))).found == []


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_inert_between_other_text(attack: str) -> None:
    assert _Inspector(inside(render(f"Let $x$ be *{attack}*\n\n- item {attack}\n\n\\[ y \\] {attack}"))).found == []


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_inert_in_a_title(attack: str) -> None:
    assert _Inspector(render_inline(attack)).found == []


def test_a_text_cannot_close_its_wrapper() -> None:
    html = render("</div></div><p>out</p>\n\n$</div>$")

    assert html.count("<div") == html.count("</div>") == 1


def test_a_text_over_the_limit_is_escaped_whole() -> None:
    html = render("<script>" + "x" * MAX_LENGTH)

    assert _Inspector(inside(html)).found == []
    assert "&lt;script&gt;" in html


def test_an_honest_link_stays() -> None:
    assert '<a href="https://example.org/a?b=1" rel="noopener nofollow ugc">here</a>' in render(
        "[here](https://example.org/a?b=1)"
    )


def test_an_image_becomes_a_link_and_is_not_fetched() -> None:
    html = render("![a figure](https://example.org/f.png)")

    assert "<img" not in html
    assert '<a href="https://example.org/f.png" rel="noopener nofollow ugc">image: a figure</a>' in html


@pytest.mark.parametrize(
    "text", ["[" * 20_000, "$" * 40_000, "\\(" * 20_000, "$a{" * 8_000, "\\begin{align}" * 4_000, "a`" * 15_000]
)
def test_a_text_made_to_be_slow_is_read_in_time(text: str) -> None:
    start = perf_counter()
    render(text)

    assert perf_counter() - start < 5
