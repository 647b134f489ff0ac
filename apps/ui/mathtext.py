"""Maths inside markdown: which characters are a formula, and small repairs that KaTeX needs. Pure; no HTML here.

Delimiters are `$…$`, `$$…$$`, `\\(…\\)`, `\\[…\\]` and bare LaTeX environments. The text is never changed in length, so that an
offset into the source stays an offset into the source.
"""

import re

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

_DECLARATION = re.compile(r"\\DeclareMathOperator(\*?)\s*\{?\\([A-Za-z]+)\}?\s*\{([^{}]*)\}")
_ENVIRONMENTS = (("eqnarray", "align"), ("multline", "gather"))


def take_operators(text: str) -> tuple[str, dict[str, str]]:
    r"""The text with `\DeclareMathOperator` declarations blanked out, and what each declared command stands for."""
    operators: dict[str, str] = {}

    def blank(match: re.Match[str]) -> str:
        star, name, body = match.groups()
        operators[name] = rf"\operatorname{star}{{{body}}}"
        return " " * len(match.group())

    return _DECLARATION.sub(blank, text), operators


def repaired(tex: str, operators: dict[str, str]) -> str:
    """TeX as KaTeX can set it: environments it lacks by their nearest kin, declared operators spelled out."""
    for missing, kin in _ENVIRONMENTS:
        tex = re.sub(rf"\\(begin|end)\{{{missing}(\*?)\}}", rf"\\\1{{{kin}\2}}", tex)
    for name, meaning in operators.items():
        tex = re.sub(rf"\\{name}(?![A-Za-z])", lambda _, meaning=meaning: meaning, tex)  # type: ignore[misc]
    return tex


def bracket_maths(markdown: MarkdownIt) -> None:
    r"""A markdown-it plugin for `\(…\)` and `\[…\]`, which would otherwise be read as escaped brackets."""
    markdown.inline.ruler.before("escape", "bracket_maths", _bracket_rule)


def _bracket_rule(state: StateInline, silent: bool) -> bool:
    source, start = state.src, state.pos
    opening = source[start : start + 2]
    if opening not in {r"\(", r"\["}:
        return False
    end = source.find(r"\)" if opening == r"\(" else r"\]", start + 2)
    if end < 0 or end >= state.posMax + 1:
        return False
    content = source[start + 2 : end]
    if not content.strip():
        return False
    if not silent:
        token = state.push("math_inline" if opening == r"\(" else "math_inline_double", "math", 0)
        token.content = content
        token.markup = opening
    state.pos = end + 2
    return True
