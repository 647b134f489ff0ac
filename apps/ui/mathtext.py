"""Repairs of TeX for KaTeX: missing environments and declared operators. Pure; no HTML."""

import re

_DECLARATION = re.compile(r"\\DeclareMathOperator(\*?)\s*\{?\\([A-Za-z]{1,30})\}?\s*\{([^{}\\]{1,60})\}")
_MIDDLE_COLUMN = re.compile(r"&\s*([^&\\]{0,20}?|\\[a-zA-Z]+\s*)&")
_UNNUMBERED = re.compile(r"\\(begin|end)\{(equation|align|gather|alignat)\}")
_MAX_OPERATORS = 50


def take_operators(text: str) -> tuple[str, dict[str, str]]:
    r"""The text with `\DeclareMathOperator` blanked out (same length), and the meaning of each declared command."""
    operators: dict[str, str] = {}

    def blank(match: re.Match[str]) -> str:
        star, name, body = match.groups()
        if len(operators) < _MAX_OPERATORS:
            operators[name] = rf"\operatorname{star}{{{body}}}"
        return " " * len(match.group())

    return _DECLARATION.sub(blank, text), operators


def repaired(tex: str, operators: dict[str, str]) -> str:
    """TeX that KaTeX can set: similar environments for `eqnarray` and `multline`, no numbers, declared operators expanded.

    Numbers are left out because several texts share a page; `\\tag` is kept.
    """
    if r"{eqnarray" in tex:
        tex = _MIDDLE_COLUMN.sub(r"&\1 ", tex)
        tex = re.sub(r"\\(begin|end)\{eqnarray\*?\}", r"\\\1{align*}", tex)
    tex = re.sub(r"\\(begin|end)\{multline\*?\}", r"\\\1{gather*}", tex)
    tex = re.sub(r"\\(begin|end)\{flalign\*?\}", r"\\\1{align*}", tex)
    tex = _UNNUMBERED.sub(r"\\\1{\2*}", tex)
    for name, meaning in operators.items():
        tex = re.sub(rf"\\{name}(?![A-Za-z])", lambda _, meaning=meaning: meaning, tex)  # type: ignore[misc]
    return tex
