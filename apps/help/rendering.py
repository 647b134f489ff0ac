"""Convert a document to HTML and sections. Links and images go through a `resolve` function of the caller.

The documents are part of the code. They quote answers of models, so raw HTML is shown as text and the result passes an
allow-list (nh3), as in `apps.ui.markdown`.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

from apps.ui.markdown import formulas_enable

Resolve = Callable[[str], str | None]
_HEADINGS = {"h2", "h3", "h4", "h5", "h6"}
_CLEANER = nh3.Cleaner(
    tags=_HEADINGS | {"p", "ul", "ol", "li", "blockquote", "pre", "code", "table", "thead", "tbody", "tr", "th", "td", "div",
                      "span", "a", "img", "em", "strong", "s", "br", "hr"},
    attributes={
        **{tag: {"id"} for tag in _HEADINGS}, **{tag: {"tabindex"} for tag in ("pre", "div")},
        **{tag: {"style"} for tag in ("th", "td")}, "a": {"href"}, "img": {"src", "alt"}, "ol": {"start"},
    },
    allowed_classes={"span": {"math", "inline", "display"}, "div": {"scroll-x"}, "table": {"table"}, "a": {"help__anchor"}},
    filter_style_properties={"text-align"},
    link_rel="noopener",
)  # fmt: skip


@dataclass(frozen=True)
class Section:
    """A heading with its plain text, up to the next heading. The first section of a page has level 1 and no anchor."""

    title: str
    anchor: str
    level: int
    text: str


@dataclass(frozen=True)
class Page:
    """A document. `html`: everything below its title."""

    name: str
    html: SafeString
    sections: tuple[Section, ...]

    @property
    def title(self) -> str:
        return self.sections[0].title

    @property
    def headings(self) -> list[Section]:
        """The sections for the table next to the text."""
        return [one for one in self.sections if one.level in (2, 3)]


def page_render(name: str, text: str, resolve: Resolve) -> Page:
    """Render Markdown. `resolve` gives the address of a link or an image, or None to show its text only."""
    tokens = _PARSER.parse(text)
    for token in tokens:
        if token.children:
            token.children = list(_resolved(token.children, resolve))
    sections = tuple(_sections(tokens))
    html = _CLEANER.clean(_PARSER.renderer.render(_without_title(tokens), _PARSER.options, {}))
    return Page(name, mark_safe(html), sections)  # noqa: S308


def slug(title: str) -> str:
    """The anchor of a heading, as on GitHub."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _sections(tokens: Sequence[Token]) -> Iterator[Section]:
    """Yield all sections, and make every heading below the title a link to its anchor."""
    heading: tuple[str, str, int] = ("", "", 1)
    words: list[str] = []
    used: Counter[str] = Counter()
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            if heading[0]:
                yield Section(*heading, " ".join(words))
            words = []
            title = _plain(tokens[place + 1])
            level = int(token.tag[1])
            anchor = slug(title)
            used[anchor] += 1
            anchor = f"{anchor}-{used[anchor] - 1}" if used[anchor] > 1 else anchor
            heading = title, anchor if level > 1 else "", level
            if level > 1:
                token.attrSet("id", anchor)
                _link_to_itself(tokens[place + 1], anchor)
        elif token.type in {"inline", "fence", "code_block"} and tokens[place - 1].type != "heading_open":
            words.append(_plain(token))
    yield Section(*heading, " ".join(words))


def _plain(token: Token) -> str:
    """The words of a block without markup."""
    if token.children is None:
        return " ".join(token.content.split())
    pieces = (" " if child.type in {"softbreak", "hardbreak"} else child.content for child in token.children)
    return " ".join("".join(pieces).split())


def _link_to_itself(inline: Token, anchor: str) -> None:
    children = inline.children or []
    if not any(child.type == "link_open" for child in children):
        opening = Token("link_open", "a", 1, attrs={"href": f"#{anchor}", "class": "help__anchor"})
        inline.children = [opening, *children, Token("link_close", "a", -1)]


def _resolved(children: Sequence[Token], resolve: Resolve) -> Iterator[Token]:
    """Yield tokens with addresses of this site. A link to a file that is no page becomes its text, an image its description."""
    is_dropped = False
    for child in children:
        if child.type == "link_open":
            address = resolve(str(child.attrs["href"]))
            is_dropped = address is None
            if address is None:
                continue
            child.attrs["href"] = address
        elif child.type == "link_close" and is_dropped:
            continue
        elif child.type == "image":
            address = resolve(str(child.attrs["src"]))
            if address is None:
                child = Token("text", "", 0, content=child.content)
            else:
                child.attrs["src"] = address
        yield child


def _without_title(tokens: Sequence[Token]) -> list[Token]:
    """The tokens without the first heading, which the page shows in its head."""
    return list(tokens[3:] if tokens and tokens[0].tag == "h1" else tokens)


def _fence_html(_: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    return f'<pre tabindex="0"><code>{escape(tokens[index].content)}</code></pre>\n'


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    formulas_enable(parser)
    for kind in ("fence", "code_block"):
        parser.add_render_rule(kind, _fence_html)
    parser.add_render_rule("table_open", lambda *_: '<div class="scroll-x" tabindex="0"><table class="table">\n')
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    return parser


_PARSER = _parser()
