"""Markdown with formulas to safe HTML. The only place where text of people or models becomes HTML.

Covered: raw HTML is shown as text; images become links and are never fetched; links keep only http, https and mailto and
carry `noopener nofollow ugc`; the result passes an allow-list (nh3) without style, id, event or `hx-` attributes; htmx is off
inside. Formulas come out as escaped TeX in `.math` elements, which static/js/maths.js typesets.
Not covered: what a followed link shows.
"""

from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import Any

import nh3
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from mdit_py_plugins.amsmath import amsmath_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin

from apps.ui.mathtext import bracket_maths, repaired, take_operators

_TAGS = {
    "p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "s", "hr", "br",
    "a", "table", "thead", "tbody", "tr", "th", "td", "span", "div",
}  # fmt: skip
_ANCHOR = {"data-s", "data-e"}
_ATTRIBUTES: dict[str, set[str]] = {tag: set(_ANCHOR) for tag in _TAGS} | {
    "a": {"href", "title"},
    "ol": _ANCHOR | {"start"},
}
_CLASSES = {"span": {"math", "inline", "display"}, "div": {"math", "display"}}
_SCHEMES = {"http", "https", "mailto"}


def render(text: str) -> SafeString:
    """HTML of a markdown text in `<div class="prose">`. Blocks carry `data-s` and `data-e`: code points of the source."""
    source, operators = take_operators(text.replace("\r\n", "\n").replace("\r", "\n"))
    parser = _parser()
    environment: dict[str, Any] = {"operators": operators}
    tokens = parser.parse(source, environment)
    _mark_offsets(tokens, source)
    html = parser.renderer.render(tokens, parser.options, environment)
    clean = nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        allowed_classes=_CLASSES,
        url_schemes=_SCHEMES,
        link_rel="noopener nofollow ugc",
        strip_comments=True,
    )
    return format_html('<div class="prose" hx-disable>{}</div>', mark_safe(clean))  # noqa: S308  (cleaned in the line above)


def render_inline(text: str) -> SafeString:
    """HTML of one line, for titles and table cells: emphasis, code and formulas, but no blocks and no links."""
    source, operators = take_operators(" ".join(text.split()))
    html = _parser().renderInline(source, {"operators": operators})
    clean = nh3.clean(html, tags={"em", "strong", "s", "code", "span"}, attributes={}, allowed_classes=_CLASSES)
    return mark_safe(clean)  # noqa: S308  (cleaned in the line above)


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])
    # Prices are not formulas: "$5 and $6" stays text.
    parser.use(dollarmath_plugin, allow_space=False, allow_digits=False, double_inline=True, allow_labels=False)
    parser.use(amsmath_plugin).use(bracket_maths)
    for name, tag, kind in (
        ("math_inline", "span", "inline"),
        ("math_inline_double", "span", "display"),
        ("math_block", "div", "display"),
        ("amsmath", "div", "display"),
    ):
        parser.add_render_rule(name, _formula_rule(tag, kind))
    parser.add_render_rule("image", _image)
    return parser


def _formula_rule(tag: str, kind: str) -> Any:
    def rule(
        renderer: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, environment: dict[str, Any]
    ) -> str:
        token = tokens[at]
        tex = escape(repaired(token.content.strip(), environment.get("operators", {})))
        place = "".join(f' {name}="{value}"' for name, value in token.attrs.items() if name in _ANCHOR)
        end = "\n" if tag == "div" else ""
        return f'<{tag} class="math {kind}"{place}>{tex}</{tag}>{end}'

    return rule


def _image(renderer: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, environment: dict[str, Any]) -> str:
    """A remote picture would tell its server who reads the page, so it is a link with its text."""
    token = tokens[at]
    return f'<a href="{escape(token.attrGet("src") or "")}">{escape(token.content or "picture")}</a>'


def _mark_offsets(tokens: Sequence[Token], source: str) -> None:
    """Give every block token the code points of its lines: where the source of what a reader selects is looked up."""
    starts = [0, *accumulate(len(line) + 1 for line in source.split("\n"))]
    for token in tokens:
        if token.map is not None and token.nesting >= 0 and token.type != "inline":
            first, after = token.map
            token.attrSet("data-s", str(starts[first]))
            token.attrSet("data-e", str(min(starts[max(after, first + 1)], len(source))))
