"""Convert a TeX formula to a tree of lists for `document.typ`, with MathML of latex2mathml as intermediate.

`["sym", "x"]`, `["frac", a, b]`, …: the first entry of a list is its kind; `document.typ` defines the layout of each. An
unknown command or an incomplete formula gives None: its source is then printed and marked.
"""

import html
import re
from collections.abc import Sequence
from typing import Any
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert_to_element

Tree = list[Any]
LENGTH_AT_MOST = 6_000

_LINES = re.compile(r"\\(begin|end)\{(?:aligned|split|gathered|gather|multline|eqnarray|flalign|equation|align)\*?\}")
_AT = re.compile(r"\\begin\{align(?:ed)?at\}\{\d+\}|\\end\{align(?:ed)?at\}")
_LABEL = re.compile(r"\\(?:label|nonumber|notag)\b(?:\{[^{}]*\})?")
_SMALL = re.compile(r"\\(?:tfrac|cfrac)\b")
#: Letters that KaTeX has as commands.
_LETTERS = re.compile(r"\\([RNZQC])(?![A-Za-z])")
_ARC = re.compile(r"\\(?:wideparen|overarc)\b")
_SPACES = {"negativethinmathspace": -0.17, "thinmathspace": 0.17, "mediummathspace": 0.22, "thickmathspace": 0.28}
_ACCENTS = {"^": "\u0302", "~": "\u0303", "→": "→", "˙": "\u0307", "¨": "\u0308", "´": "\u0301", "`": "\u0300", "ˇ": "\u030c"}
_LIMITED = {"lim", "max", "min", "sup", "inf", "gcd", "lim sup", "lim inf", "Pr", "det"}
_ALPHABETS = {"double-struck": "bb", "script": "cal", "fraktur": "frak", "bold": "bold"}
_GROUPS = {"mrow", "math", "mstyle", "mpadded", "merror"}
_OPEN, _CLOSE = set("([{⟨⌊⌈|‖"), set(")]}⟩⌋⌉|‖")


class NotSet(Exception):
    """The formula has a part that may not be set correctly."""


def formula_tree(tex: str) -> Tree | None:
    """The tree of a formula; None if its source must be printed instead."""
    if len(tex) > LENGTH_AT_MOST:
        return None
    plain = _LABEL.sub("", _AT.sub(_lines, _LINES.sub(r"\\\1{align*}", tex)))
    plain = _LETTERS.sub(r"\\mathbb{\1}", plain)
    plain = _ARC.sub(r"\\overset{\\frown}", _SMALL.sub(r"\\frac", plain))
    try:
        return _one(convert_to_element(plain))
    except (NotSet, RecursionError):
        return None
    except Exception:  # latex2mathml raises any exception for an incomplete formula.
        return None


def _lines(match: re.Match[str]) -> str:
    return "\\begin{align*}" if match[0].startswith("\\begin") else "\\end{align*}"


def _one(element: Element) -> Tree:
    """The tree of an element. Raises `NotSet`."""
    tag = element.tag
    if tag in _GROUPS:
        return _row(list(element))
    if tag in ("mi", "mn", "mo", "mtext"):
        return _token(element)
    if tag == "mspace":
        return ["sp", _width(element)]
    if tag == "mtable":
        return _table(element)
    if tag in ("mphantom", "menclose", "msqrt"):
        kind = {"mphantom": "hide", "menclose": "box", "msqrt": "sqrt"}[tag]
        return [kind, _row(list(element))]
    return _built(tag, element, [*element])


def _built(tag: str, element: Element, parts: list[Element]) -> Tree:
    counts = {"mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "msubsup": 3, "munderover": 3}
    if counts.get(tag) != len(parts):
        raise NotSet(tag)
    if tag == "mfrac":
        kind = "stack" if element.get("linethickness") == "0" else "frac"
        return [kind, _one(parts[0]), _one(parts[1])]
    if tag == "mroot":
        return ["root", _one(parts[1]), _one(parts[0])]
    base = _one(parts[0])
    if tag in ("msub", "msup", "msubsup"):
        above = {"msup": 1, "msubsup": 2}.get(tag)
        below = 1 if tag != "msup" else None
        return ["att", base, *(_one(parts[place]) if place is not None else None for place in (above, below))]
    sign = _text(parts[-1]) if not len(parts[-1]) else ""
    if tag == "mover" and (marked := _marked_above(base, sign)) is not None:
        return marked
    if tag == "munder" and sign in ("⏟", "_", "\u0332", "―", "¯"):
        return ["underbrace" if sign == "⏟" else "underline", base]
    above = {"mover": 1, "munderover": 2}.get(tag)
    below = 1 if tag != "mover" else None
    return ["lim", base, *(_one(parts[place]) if place is not None else None for place in (above, below))]


def _marked_above(base: Tree, sign: str) -> Tree | None:
    if sign in ("¯", "―", "‾", "_"):
        return ["overline", base]
    if sign == "⏞":
        return ["overbrace", base]
    return ["acc", base, _ACCENTS[sign]] if sign in _ACCENTS else None


def _row(parts: Sequence[Element]) -> Tree:
    """Adjacent elements; delimiters that scale enclose the content between them."""
    trees: list[Tree] = []
    place = 0
    while place < len(parts):
        held = parts[place : place + 3]
        if len(held) == 3 and _text(held[0]) in _OPEN and _text(held[2]) in _CLOSE:
            middle = held[1]
            if middle.tag == "mtable":
                trees.append(["lr", [_token(held[0]), _one(middle), _token(held[2])]])
                place += 3
                continue
            if middle.tag == "mfrac" and middle.get("linethickness") == "0" and len(middle) == 2:
                trees.append(["binom", _one(middle[0]), _one(middle[1])])
                place += 3
                continue
        trees.append(_one(parts[place]))
        place += 1
    is_fenced = bool(parts) and any(
        part.tag == "mo" and part.get("fence") == "true" and not part.get("minsize") for part in parts
    )
    return ["lr", trees] if is_fenced else (trees[0] if len(trees) == 1 else ["row", trees])


def _token(element: Element) -> Tree:
    if len(element):  # \mathop and the like.
        return _row(list(element))
    text = _text(element)
    if "\\" in text or "&" in text:
        raise NotSet(text)
    if not text.strip():
        return ["text", text] if text else ["row", []]
    if element.tag == "mtext":
        return ["text", text]
    if element.tag == "mn":
        return ["num", text]
    variant = element.get("mathvariant", "")
    if variant in _ALPHABETS and len(text) == 1:
        return [_ALPHABETS[variant], ["sym", text]]
    if len(text) > 1:
        return ["op", text, text in _LIMITED]
    if element.tag == "mi" and variant == "normal":
        return ["up", text]
    if size := element.get("minsize", ""):
        return ["big", float(size.removesuffix("em")), text]
    return ["sym", text]


def _table(element: Element) -> Tree:
    rows = [list(row) for row in element if row.tag == "mtr"]
    if not rows:
        raise NotSet("mtable")
    sides = {cell.get("columnalign", "center") for row in rows for cell in row}
    cells = [[_row(list(cell)) for cell in row] for row in rows]
    if sides == {"right", "left"} or sides == {"right"}:
        return ["lines", cells]
    width = max(len(row) for row in cells)
    return ["mat", "left" if sides == {"left"} else "center", [row + [["row", []]] * (width - len(row)) for row in cells]]


def _text(element: Element) -> str:
    return html.unescape(element.text or "")


def _width(element: Element) -> float:
    if element.get("linebreak"):
        raise NotSet("a line break outside an environment")
    width = element.get("width", "0em")
    return _SPACES.get(width) or float(width.removesuffix("em"))
