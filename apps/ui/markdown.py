"""Convert Markdown with formulas to safe HTML. The only place where text of users or models becomes HTML.

Covered: raw HTML is shown as text; images become links, never fetched; links keep only http, https and mailto and get
`noopener nofollow ugc`; the result passes an allow-list (nh3) without style, id, event or `hx-` attributes; htmx is disabled
inside. Formulas become escaped TeX in `.math` elements, which static/js/maths.js typesets: `span.inline`,
`span.display` inside a paragraph, `div.display` on lines of their own. Blocks carry `data-s` and `data-e`, code points.
Not covered: the target of a followed link.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from apps.ui import formulas, protocol
from apps.ui.mathtext import repaired, take_operators

MAX_LENGTH = 400_000
_CACHED_LENGTH = 20_000
_LINE_END = re.compile(r"\r\n?|\n")
_PUNCTUATION = re.compile(r"[\s.,;:!?]*")

_BLOCKS = {"p", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "table", "div"}
_TAGS = _BLOCKS | {"br", "hr", "em", "strong", "s", "code", "a", "span", "thead", "tbody", "tr", "th", "td"}
_ANCHOR = {"data-s", "data-e"}
_CLEANER = nh3.Cleaner(
    tags=_TAGS,
    clean_content_tags={"script", "style", "svg", "math", "iframe", "object", "template"},
    attributes={**dict.fromkeys(_BLOCKS, _ANCHOR), "a": {"href", "title"}, "ol": _ANCHOR | {"start"}},
    allowed_classes={"span": {"math", "inline", "display", "protocol"}, "div": {"math", "display"}},
    url_schemes={"http", "https", "mailto"},
    url_relative="deny",
    link_rel="noopener nofollow ugc",
)
_INLINE_CLEANER = nh3.Cleaner(
    tags={"em", "strong", "s", "code", "span"}, attributes={}, allowed_classes={"span": {"math", "inline"}}
)


def render(text: str) -> SafeString:
    """HTML of a Markdown text in `<div class="prose">`, with htmx disabled.

    A text over `MAX_LENGTH` characters is escaped and shown without parsing.
    """
    if len(text) > MAX_LENGTH:
        return mark_safe(f'<div class="prose" hx-disable><pre>{escape(text)}</pre></div>')  # noqa: S308
    return mark_safe((_cached_html if len(text) <= _CACHED_LENGTH else _html)(text))  # noqa: S308


def render_answer(text: str) -> SafeString:
    """As `render`, for a model's answer: tags of its prompt's format are wrapped in `span.protocol`, to be shown quietly."""
    return render(text) if len(text) > MAX_LENGTH else mark_safe(_html(text, quiet_tags=True))  # noqa: S308


def render_inline(text: str) -> SafeString:
    """HTML of one line for titles, answers and table cells: emphasis, code and formulas, without blocks and links."""
    source, operators = take_operators(" ".join(formulas.without_hidden(text[:MAX_LENGTH]).split()))
    html = _PARSER.renderInline(source, {"lines": [], "operators": operators, "one_line": True})
    return mark_safe(_INLINE_CLEANER.clean(html))  # noqa: S308


def _html(text: str, *, quiet_tags: bool = False) -> str:
    plain, operators = take_operators(formulas.without_hidden(text))
    source = formulas.hide_breaks(plain)
    html = _PARSER.render(source, {"lines": _line_bounds(source), "operators": operators, "quiet_tags": quiet_tags})
    return f'<div class="prose" hx-disable>{_CLEANER.clean(formulas.show_breaks(html))}</div>'


_cached_html = lru_cache(maxsize=256)(_html)


def _line_bounds(text: str) -> list[tuple[int, int]]:
    """Start and end (without the line break) of every line, in code points."""
    bounds, start = [], 0
    for end in _LINE_END.finditer(text):
        bounds.append((start, end.start()))
        start = end.end()
    return [*bounds, (start, len(text))]


def _formula_rule(state: StateInline, silent: bool) -> bool:
    """An inline rule: a formula is one token and is not parsed as Markdown."""
    if state.src[state.pos] not in "\\$":
        return False
    formula = formulas.formula_at(state.src, state.pos)
    if formula is None or formula.end > state.posMax:
        return False
    if not silent:
        token = state.push("formula", "span", 0)
        token.content = repaired(formulas.show_breaks(formula.tex), state.env.get("operators", {}))
        token.meta = {"display": formula.display}
    state.pos = formula.end
    return True


def _formula_html(_: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    if token.block:
        return f'<div class="math display"{_anchor(token)}>{escape(token.content)}</div>\n'
    kind = "display" if token.meta["display"] and "one_line" not in env else "inline"
    return f'<span class="math {kind}">{escape(token.content)}</span>'


def _text_html(_: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    text = tokens[index].content
    if not env.get("quiet_tags"):
        return escape(text)
    found = protocol.pieces(text)
    return "".join(f'<span class="protocol">{escape(piece)}</span>' if is_tag else escape(piece) for piece, is_tag in found)


def _break_html(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    following = tokens[index + 1].content if index + 1 < len(tokens) else ""
    return "<br>\n" if env.get("quiet_tags") and protocol.begins_with_tag(following) else "\n"


def _fence_html(_: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    return f"<pre{_anchor(tokens[index])}><code>{escape(tokens[index].content)}</code></pre>\n"


def _anchor(token: Token) -> str:
    return "".join(f' {name}="{value}"' for name, value in token.attrs.items())


def _shape_rule(state: StateCore) -> None:
    """A core rule: add offsets to blocks, lower headings by two levels, turn images into links, unwrap lone displays."""
    bounds: list[tuple[int, int]] = state.env["lines"]
    for token in state.tokens:
        if token.map and token.nesting >= 0 and token.type != "inline":
            token.attrSet("data-s", str(bounds[token.map[0]][0]))
            token.attrSet("data-e", str(bounds[max(token.map[0], token.map[1] - 1)][1]))
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"
        if token.type == "inline":
            token.children = [piece for child in token.children or [] for piece in _image_as_link(child)]
    state.tokens = _without_lone_paragraphs(state.tokens)


def _image_as_link(token: Token) -> list[Token]:
    """A link with the image's text: a remote image would reveal the reader to its server."""
    if token.type != "image":
        return [token]
    words = Token("text", "", 0, content=f"image: {token.content or 'no description'}")
    return [Token("link_open", "a", 1, attrs={"href": token.attrs.get("src", "")}), words, Token("link_close", "a", -1)]


def _without_lone_paragraphs(tokens: list[Token]) -> list[Token]:
    shaped: list[Token] = []
    skip_close = False
    for token in tokens:
        if skip_close and token.type == "paragraph_close":
            skip_close = False
            continue
        lone = _lone_display(token) if token.type == "inline" and shaped and shaped[-1].type == "paragraph_open" else None
        if lone is None:
            shaped.append(token)
            continue
        lone.attrs = shaped.pop().attrs
        shaped.append(lone)
        skip_close = True
    return shaped


def _lone_display(inline: Token) -> Token | None:
    """The display formula if it is alone in its paragraph, with the punctuation after it moved inside."""
    children = inline.children or []
    if not children or children[0].type != "formula" or not children[0].meta["display"]:
        return None
    if any(child.type not in {"text", "softbreak"} for child in children[1:]):
        return None
    rest = "".join(child.content for child in children[1:])
    formula = children[0]
    if not _PUNCTUATION.fullmatch(rest) or (rest.strip() and formula.content.rstrip().endswith("}")):
        return None
    formula.content = f"{formula.content.rstrip()}{rest.strip()}" if rest.strip() else formula.content
    formula.block = True
    return formula


def formulas_enable(parser: MarkdownIt) -> None:
    """Let a parser read formulas as tokens and write them as escaped TeX for static/js/maths.js."""
    parser.inline.ruler.before("escape", "formula", _formula_rule)
    parser.add_render_rule("formula", _formula_html)


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "typographer": False})
    parser.enable(["table", "strikethrough"])
    parser.disable(["code", "html_block", "html_inline", "reference"])  # Indentation in proofs does not mean code.
    formulas_enable(parser)
    parser.core.ruler.push("shape", _shape_rule)
    parser.add_render_rule("text", _text_html)
    parser.add_render_rule("softbreak", _break_html)
    parser.add_render_rule("fence", _fence_html)
    return parser


_PARSER = _parser()
