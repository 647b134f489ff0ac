"""Short titles of lemmas for drawings and lists: plain text, with formulas in Unicode.

A title is the conclusion of a statement: without the sentences and clauses that introduce its symbols, as far as a few
patterns find them. Nothing is paraphrased.
"""

import functools
import re

from pylatexenc.latex2text import LatexNodes2Text, MacroTextSpec, get_default_latex_context_db

LONGEST = 48
#: Characters of a statement that are converted; the conversion of a long text takes milliseconds.
_LOOKED_AT = 500
_SENTENCE = re.compile(r"(?<=\.)\s+(?=\S)")
#: Sentences that name symbols, and sentences with conditions. A title without a condition begins with "…".
_INTRODUCES = re.compile(r"(?:let|put|denote|fix|set|write|take|consider|define)\b", re.IGNORECASE)
_CONDITION = re.compile(r"(?:suppose|assume|given)\b", re.IGNORECASE)
#: Words that say only what kind of statement follows.
_LABEL = re.compile(
    r"(?:(?:key|main|critical|crucial|important|final|structural|simple|basic) )?(?:assumption|definition|observation"
    r"|insight|lemma|claim|theorem|argument|constraint|verdict|analysis|note|remark|fact|conclusion|summary|realization|approach|check|synthesis"
    r"|critical|proof strategy|case analysis|property)(?: \d+)?\s*[:.]\s+",
    re.IGNORECASE,
)
_QUANTIFIER = re.compile(
    r"for (?:every|all|any|each)(?: [a-z]{2,}){0,3} [a-z](?: [≥≤<>=∈] [^\s,{]+)?,?\s+"
    r"(?!with\b|such\b|where\b|in\b|of\b|that\b|there\b)(?=[a-z])",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"(?:then|therefore|thus|hence|so|moreover|note that|we have|there holds|it follows that)\b[,:]?\s+", re.IGNORECASE
)
_RELATION = re.compile(r"\s*([=<>≤≥≠≡∈→↦∣⊆])\s*")
_MARKS = re.compile(r"\*\*|(?m:^#+\s*)|\\label\{[^}]*\}")
_GROUP = re.compile(r"([\^_])\{((?:[^{}]|\{[^{}]*\})*)\}")
_ARG = r"\s*(?:\{((?:[^{}]|\{[^{}]*\})*)\}|(\w))"
_BINOMIAL = re.compile(rf"\\[dt]?binom{_ARG}{_ARG}")
_FRACTION = re.compile(rf"\\[dtc]?frac{_ARG}{_ARG}")
_ROOT = re.compile(rf"\\sqrt\s*(?:\[([^\]]*)\])?{_ARG}")
_BLOCK = re.compile(r"\\begin\{(\w+\*?)\}.*?(?:\\end\{\1\}|$)", re.DOTALL)
_SIMPLE = re.compile(r"\\[a-zA-Z]+|\w|\d+")
_ROOTS = {"3": "∛", "4": "∜"}
_MODULO = re.compile(r"\\pmod\s*(?:\{([^{}]*)\}|(\w))")
_INDEX = re.compile(r"([\^_])([0-9A-Za-z])(?![\w(])")
_RAISED = dict(zip("0123456789+-=()nik", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱᵏ", strict=True))
_LOWERED = dict(zip("0123456789+-=()aeijkmnprx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑᵢⱼₖₘₙₚᵣₓ", strict=True))
_TABLES = {"^": _RAISED, "_": _LOWERED}
_SIGNS = {
    "triangle": "△", "mid": "∣", "nmid": "∤", "bmod": " mod ", "wideparen": "%s", "ldots": "…",
    "dots": "…", "cdots": "⋯", "leftrightarrow": "↔", "circ": "°", "ne": "≠", "neq": "≠", "lt": "<", "gt": ">", "ncong": "≇",
    **{name: name for name in ("gcd", "lcm", "max", "min", "sin", "cos", "tan", "log", "ln", "deg", "det", "dim")},
}  # fmt: skip


def title_of(statement: str) -> str:
    """A title of at most `LONGEST` characters; "" for an empty statement."""
    plain = plain_of(statement[:_LOOKED_AT])
    if label := _LABEL.match(plain):
        plain = plain[label.end() :]
    sentences = [sentence.rstrip(" .;") for sentence in _SENTENCE.split(plain)]
    rest = [sentence for sentence in sentences if not _INTRODUCES.match(sentence)] or sentences[:1]
    said = next((sentence for sentence in rest if not _CONDITION.match(sentence)), rest[0])
    omitted = "… " if said != rest[0] and _CONDITION.match(rest[0]) else ""
    for pattern in (_OPENING, _QUANTIFIER, _OPENING):
        said = pattern.sub("", said, count=1) if pattern.match(said) else said
    if omitted:
        return shortened(omitted + said)
    return shortened(said[:1].upper() + said[1:] if re.match(r"[a-z]{2,}\b(?!\(| [=<>≤≥≠≡∈])", said) else said)


@functools.lru_cache(maxsize=4096)
def title_once(statement: str) -> str:
    """`title_of`, remembered: for rows that were written before titles were stored."""
    return title_of(statement)


def plain_of(text: str) -> str:
    """A text with TeX as one line of plain text: Greek letters and signs in Unicode, simple indices raised or lowered."""
    prepared = _GROUP.sub(_group, _spelled(_MARKS.sub("", text)))
    try:
        plain = _converter().latex_to_text(prepared)
    except Exception:  # The parser raises errors of many classes for broken TeX.
        plain = prepared.replace("$", "")
    plain = re.sub(r"(?<=[(⌊])\s+|\s+(?=[)⌋])|(?<=[+\-/])\s+(?=[√∛∜])", "", plain)
    return " ".join(_RELATION.sub(r" \1 ", _INDEX.sub(_index, plain)).replace("^°", "°").split())


def shortened(text: str, longest: int = LONGEST) -> str:
    """The beginning of a text, cut between words."""
    if len(text) <= longest:
        return text
    cut = text[: longest - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[longest // 2 :] else cut).rstrip(" ,;:") + "…"


def _spelled(text: str) -> str:
    """Fractions, roots and binomials on one line, from the inside out, with parentheses where they are needed; no blocks."""
    text = _MODULO.sub(r" (mod \1\2)", _BLOCK.sub("…", text))
    for pattern, spell in ((_FRACTION, _fraction), (_ROOT, _root), (_BINOMIAL, _binomial)) * 3:
        text = pattern.sub(spell, text)
    return text


def _bracketed(text: str) -> str:
    text = text.strip()
    return text if _SIMPLE.fullmatch(text) else f"({text})"


def _fraction(found: re.Match[str]) -> str:
    above, below = found[1] or found[2] or "", found[3] or found[4] or ""
    return f" {_bracketed(above)}/{_bracketed(below)} "


def _root(found: re.Match[str]) -> str:
    inside = _bracketed(found[2] or found[3] or "")
    return (
        f" {_ROOTS.get(found[1] or '', '√')}{inside} " if not found[1] or found[1] in _ROOTS else f" {inside}^(1/{found[1]}) "
    )


def _binomial(found: re.Match[str]) -> str:
    return f"C({found[1] or found[2]}, {found[3] or found[4]})"


def _group(found: re.Match[str]) -> str:
    """An index of several characters: raised or lowered where all have a sign for it, else in parentheses."""
    sign, inside = found[1], found[2].replace(" ", "")
    if inside in (r"\circ", r"\prime"):
        return f"{sign}{inside} "
    table = _TABLES[sign]
    if inside and all(letter in table for letter in inside):
        return "{}" + "".join(table[letter] for letter in inside)  # A macro before it, such as \\sum, must end here.
    return f"{sign}{found[2]}" if len(inside) == 1 else f"{sign}({found[2]})"


def _index(found: re.Match[str]) -> str:
    return _TABLES[found[1]].get(found[2], found[0])


@functools.cache
def _converter() -> LatexNodes2Text:
    known = get_default_latex_context_db()
    known.add_context_category("ours", macros=[MacroTextSpec(name, sign) for name, sign in _SIGNS.items()], prepend=True)
    return LatexNodes2Text(latex_context=known, math_mode="text", strict_latex_spaces=False)
