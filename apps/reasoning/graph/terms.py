"""Search terms of statements: stems of the prose and tokens of the formulas, as ASCII words for any full-text index.

Formulas have the normal form of `statements`. On top of it, braces around one token, font commands and `\\cdot` are left out.
Each token is a word with a prefix that English words do not have. A formula is fenced, and followed by a hash of its form
with renamed variables, so that whole formulas can be found under other names.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

from apps.reasoning.graph.statements import FORMULA, SHORT_WORDS, normal_pieces, normalise_statement

#: Terms kept of one statement; longer statements are searched by their beginning.
TERMS_AT_MOST = 4_000
FENCE = "xf"
#: Begins every term of a formula, and no word.
OF_FORMULA = re.compile(r"x[cfhqsu]")
_LONGEST = 60
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+|[^\W\d_]|\S")
_PROSE_TOKEN = re.compile(r"\\[a-z]+|\w+")
_WORD = re.compile(r"\w+")
_FRACTION_OF_DIGITS = re.compile(r"(\\frac|\\binom)\s*(\d)(?=\d)")
_LEFT_OUT = frozenset(
    f"\\{name}" for name in ("cdot", "limits", "nolimits", "mathrm", "mathit", "operatorname", "text", "rm", "middle")
)
_SAME = {
    **dict.fromkeys((r"\mid", r"\vert", r"\lvert", r"\rvert", r"\divides"), "|"),
    **dict.fromkeys((r"\bmod", r"\pmod"), r"\mod"),
    **dict.fromkeys((r"\implies", r"\Longrightarrow"), r"\Rightarrow"),
    r"\iff": r"\Leftrightarrow", r"\lt": "<", r"\gt": ">", r"\colon": ":", r"\ast": "*",
}  # fmt: skip
_BLACKBOARD = {f"\\{letter}": letter.lower() for letter in "NZQRC"}


@dataclass(frozen=True)
class Piece:
    """A word or a formula of a statement: its code points and its terms."""

    start: int
    end: int
    terms: tuple[str, ...]
    is_formula: bool


def terms_of(text: str) -> list[str]:
    """The terms of a statement in order, at most `TERMS_AT_MOST`."""
    found: list[str] = []
    for is_formula, normal in normal_pieces(text):
        if is_formula:
            tokens = formula_terms(normal)
            found += [FENCE, *tokens, FENCE, renamed_hash(tokens)] if tokens else []
        else:
            found += word_terms(normal)
        if len(found) >= TERMS_AT_MOST:
            break
    return found[:TERMS_AT_MOST]


def form_of(text: str) -> str:
    """A key of the normal form: statements with the same key say the same word for word. 32 hexadecimal digits."""
    return sha256(normalise_statement(text).encode()).hexdigest()[:32]


def formula_of(tex: str) -> list[str]:
    """The terms of one formula, with or without its math delimiters."""
    given = tex.strip()
    if not FORMULA.fullmatch(given):
        given = f"${given.replace('$', ' ').strip()}$"
    return formula_terms(" ".join(normal for is_formula, normal in normal_pieces(given) if is_formula))


def formula_terms(normal: str) -> list[str]:
    """The terms of a formula in normal form."""
    tokens = [_SAME.get(token, token) for token in _TOKEN.findall(_FRACTION_OF_DIGITS.sub(r"\1 \2 ", normal))]
    tokens = [token for token in tokens if token not in _LEFT_OUT]
    kept: list[str] = []
    for token in tokens:
        if token == "}" and len(kept) > 1 and kept[-2] == "{":  # noqa: S105  (a brace, not a password)
            kept[-2:] = [kept[-1]]
        elif token in _BLACKBOARD:
            kept += [r"\mathbb", _BLACKBOARD[token]]
        else:
            kept.append(token)
    return [
        _encoded(token.lower() if number and kept[number - 1] == r"\mathbb" else token) for number, token in enumerate(kept)
    ]


def renamed_hash(tokens: Sequence[str]) -> str:
    """A term that whole formulas share if they differ only in the names of their variables."""
    names: dict[str, str] = {}
    renamed = [
        names.setdefault(token, f"v{len(names)}") if len(token) == 3 and token[2].isalpha() and token[1] in "qu" else token
        for token in tokens
    ]
    return "xh" + sha256(" ".join(renamed).encode()).hexdigest()[:12]


def word_terms(prose: str) -> list[str]:
    """The stems of the words without `SHORT_WORDS`; characters of other scripts are terms of their own."""
    found: list[str] = []
    for token in _PROSE_TOKEN.findall(prose.casefold()):
        if token in SHORT_WORDS:
            continue
        if token.startswith("\\"):
            found.append(_encoded(token))
            continue
        plain = "".join(sign for sign in unicodedata.normalize("NFKD", token) if not unicodedata.combining(sign))
        parts = re.findall(r"[a-z0-9]+|[^a-z0-9_]", plain)
        found += [stem(part)[:_LONGEST] if part.isascii() else f"xs{ord(part):x}" for part in parts]
    return found


def stem(word: str) -> str:
    """A word of small letters without its commonest English endings: `divides`, `dividing` and `divided` give `divid`."""
    for ending, instead in (("ies", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith(("ss", "us", "is")):
            word = word.removesuffix(ending) + instead
            break
    return word.removesuffix("e") if len(word) > 3 else word


def pieces_of(text: str) -> Iterator[Piece]:
    """The words and formulas of a statement with their places."""
    at = 0
    for number, part in enumerate(FORMULA.split(text)):
        if number % 2:
            yield Piece(at, at + len(part), tuple(formula_of(part)), is_formula=True)
        else:
            for word in _WORD.finditer(part):
                yield Piece(at + word.start(), at + word.end(), tuple(word_terms(word[0])), is_formula=False)
        at += len(part)


def _encoded(token: str) -> str:
    if token[0] == "\\" and token[1:].isalpha():
        return "xc" + re.sub("[A-Z]", lambda letter: letter[0].lower() + "0", token[1:])[:_LONGEST]
    if token.isascii() and token.isdigit():
        return f"xq{token[:_LONGEST]}"
    if token.isascii() and token.isalpha():
        return f"x{'u' if token.isupper() else 'q'}{token.lower()}"
    return "xs" + "".join(f"{ord(sign):x}" for sign in token)[:_LONGEST]
