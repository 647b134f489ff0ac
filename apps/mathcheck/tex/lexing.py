"""Tokens of TeX with their places: layout commands are dropped, spellings are unified, unknown commands are kept."""

import re
from dataclasses import dataclass

_DROPPED_WRITTEN = r"""
    \left \right \bigl \bigr \Bigl \Bigr \biggl \biggr \Biggl \Biggr \big \Big \bigg \Bigg \displaystyle \textstyle
    \limits \nolimits \notag \nonumber \, \; \: \! \> \/ \hfill \bigm \middle \scriptstyle \allowbreak \nobreak
"""
DROPPED = frozenset(_DROPPED_WRITTEN.split())
SPACES = frozenset([r"\quad", r"\qquad"])
SAME = {
    r"\dfrac": r"\frac", r"\tfrac": r"\frac", r"\cfrac": r"\frac", r"\dbinom": r"\binom", r"\tbinom": r"\binom",
    r"\times": r"\cdot", "*": r"\cdot", "·": r"\cdot", "×": r"\cdot", r"\ast": r"\cdot",
    r"\leqslant": r"\le", r"\leq": r"\le", "≤": r"\le", r"\geqslant": r"\ge", r"\geq": r"\ge", "≥": r"\ge",
    r"\lt": "<", r"\gt": ">", r"\neq": r"\ne", "≠": r"\ne", "−": "-", "–": "-", "≡": r"\equiv",
    r"\ldots": r"\dots", r"\cdots": r"\dots", r"\dotsb": r"\dots", r"\dotsc": r"\dots", r"\dotsm": r"\dots", "…": r"\dots",
    "...": r"\dots", r"\to": r"\to", r"\lbrace": r"\{", r"\rbrace": r"\}", r"\lvert": "|", r"\rvert": "|", r"\vert": "|",
    r"\colon": ":", r"\tg": r"\tan", r"\ctg": r"\cot", r"\arctanh": r"\artanh", r"\varphi": r"\phi", r"\lbrack": "[",
    r"\rbrack": "]", "√": r"\sqrt", "π": r"\pi", r"\coloneqq": ":=", r"\div": "/", r"\bmod": r"\mod", r"\pod": r"\pmod",
    r"\implies": r"\Rightarrow", r"\Longrightarrow": r"\Rightarrow", r"\iff": r"\Leftrightarrow",
    r"\Longleftrightarrow": r"\Leftrightarrow", r"\land": r"\wedge", r"\lor": r"\vee", "∈": r"\in",
}  # fmt: skip
WORDS = (r"\text", r"\mbox", r"\textrm", r"\textbf", r"\textit", r"\hbox", r"\textnormal")
NAMED = (r"\operatorname", r"\mathrm", r"\operatorname*", r"\rm")
_TOKEN = re.compile(
    r"""(?P<space>\s+|~|%[^\n]*\n)|(?P<dots>\.\.\.)|(?P<assign>:=)
    |(?P<num>\d{1,3}(?:(?:\{,\}|\\,)\d{3})+(?!\d)|\d+(?:\.\d+)?)
    |(?P<cmd>\\(?:[A-Za-z]+\*?|.))|(?P<letter>[A-Za-z])|(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_GROUP = re.compile(r"\s*\{([^{}$]*(?:\$[^$]*\$[^{}$]*)*)\}")
_REMOVED = re.compile(
    r"""\\(?:tag|label|hspace|vspace|phantom|hphantom|vphantom)\*?\s*\{[^{}]*\}
    |\\(?:begin|end)\{(?:align|aligned|alignat|gather|gathered|equation|multline|eqnarray|flalign|split)\*?\}(?:\{\d+\})?""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is num, letter, cmd, text (words inside the formula), break (a new line), space (a wide one) or sign."""

    kind: str
    text: str
    start: int
    end: int


def tokens(tex: str) -> list[Token]:
    """The tokens of a formula without its delimiters; places are code points in `tex`."""
    found: list[Token] = []
    position = 0
    while position < len(tex):
        removed = _REMOVED.match(tex, position)
        if removed:
            position = removed.end()
            continue
        match = _TOKEN.match(tex, position)
        if match is None:
            break
        token, position = _token(tex, match)
        if token is not None:
            found.append(token)
    return found


def _token(tex: str, match: re.Match[str]) -> tuple[Token | None, int]:
    kind, text, start, end = match.lastgroup or "other", match[0], match.start(), match.end()
    if kind == "space" or text in DROPPED or text in ("&", "\\ "):
        return None, end
    if kind == "num":
        return Token("num", re.sub(r"\{,\}|\\,", "", text), start, end), end
    if text == "\\\\":
        return Token("break", text, start, end), end
    if text in SPACES:
        return Token("space", text, start, end), end
    if text in WORDS or text in NAMED:
        group = _GROUP.match(tex, end)
        if group is None:
            return Token("cmd", text, start, end), end
        words = group[1].strip()
        if text in NAMED or re.fullmatch(r"gcd|lcm|mod|max|min|arctanh|artanh", words):
            return Token("cmd", SAME.get("\\" + words, "\\" + words), start, group.end()), group.end()
        return Token("text", words, start, group.end()), group.end()
    text = SAME.get(text, text)
    kind = {"letter": "letter", "cmd": "cmd"}.get(kind, "sign")
    return Token("cmd" if text.startswith("\\") and text != "\\" else kind, text, start, end), end
