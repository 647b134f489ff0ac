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
_SENTENCE = re.compile(r"(?<=[.;])\s+(?=\S)")
_INTRODUCES = re.compile(r"(?:let|suppose|assume|put|denote|fix|set|write|take|consider|define)\b", re.IGNORECASE)
#: Words that say only what kind of statement follows.
_LABEL = re.compile(
    r"(?:(?:key|main|critical|crucial|important|final|structural|simple|basic) )?(?:assumption|definition|observation"
    r"|insight|lemma|claim|theorem|argument|constraint|verdict|analysis|note|remark|fact|conclusion|summary|realization|approach|check|synthesis"
    r"|critical|proof strategy|case analysis|property)(?: \d+)?\s*[:.]\s+",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"(?:if|let|suppose|assume|for|given|when|whenever|since|consider)\b.*?,?\s+(?:then|we have|it follows that)[,:]?\s+",
    re.IGNORECASE,
)
_QUANTIFIER = re.compile(r"for (?:every|all|any|each)(?: [a-z]{2,}){0,3} [a-z] [≥≤<>=∈] [^\s,{]+,?\s+(?=[a-z])", re.IGNORECASE)
_OPENING = re.compile(
    r"(?:then|therefore|thus|hence|so|moreover|note that|we have|there holds|it follows that)\b[,:]?\s+", re.IGNORECASE
)
_RELATION = re.compile(r"\s*([=<>≤≥≠≡∈→↦∣⊆])\s*")
_MARKS = re.compile(r"\*\*|(?m:^#+\s*)|\\label\{[^}]*\}")
_GROUP = re.compile(r"([\^_])\{((?:[^{}]|\{[^{}]*\})*)\}")
_BINOMIAL = re.compile(r"\\[dt]?binom\{([^{}]*)\}\{([^{}]*)\}")
_MODULO = re.compile(r"\\pmod\s*(?:\{([^{}]*)\}|(\w))")
_INDEX = re.compile(r"([\^_])([0-9A-Za-z])(?![\w(])")
_RAISED = dict(zip("0123456789+-=()nik", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱᵏ", strict=True))
_LOWERED = dict(zip("0123456789+-=()aeijkmnprx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑᵢⱼₖₘₙₚᵣₓ", strict=True))
_TABLES = {"^": _RAISED, "_": _LOWERED}
_SIGNS = {
    "triangle": "△", "mid": "∣", "nmid": "∤", "bmod": " mod ", "wideparen": "%s", "ldots": "…",
    "dots": "…", "cdots": "⋯", "leftrightarrow": "↔", "circ": "°",
}  # fmt: skip


def title_of(statement: str) -> str:
    """A title of at most `LONGEST` characters; "" for an empty statement."""
    plain = plain_of(statement[:_LOOKED_AT])
    if label := _LABEL.match(plain):
        plain = plain[label.end() :]
    sentences = [sentence.rstrip(" .;") for sentence in _SENTENCE.split(plain)]
    said = next((sentence for sentence in sentences if not _INTRODUCES.match(sentence)), sentences[0])
    for pattern in (_CLAUSE, _OPENING, _QUANTIFIER):
        said = pattern.sub("", said, count=1) if pattern.match(said) else said
    return shortened(said[:1].upper() + said[1:] if re.match(r"[a-z]{2,}\b(?! [=<>≤≥≠≡∈])", said) else said)


@functools.lru_cache(maxsize=4096)
def title_once(statement: str) -> str:
    """`title_of`, remembered: for rows that were written before titles were stored."""
    return title_of(statement)


def plain_of(text: str) -> str:
    """A text with TeX as one line of plain text: Greek letters and signs in Unicode, simple indices raised or lowered."""
    spelled = _MODULO.sub(r" (mod \1\2)", _BINOMIAL.sub(r"C(\1, \2)", _MARKS.sub("", text)))
    prepared = _GROUP.sub(_group, spelled)
    try:
        plain = _converter().latex_to_text(prepared)
    except Exception:  # The parser raises errors of many classes for broken TeX.
        plain = prepared.replace("$", "")
    return " ".join(_RELATION.sub(r" \1 ", _INDEX.sub(_index, plain)).replace("^°", "°").split())


def shortened(text: str, longest: int = LONGEST) -> str:
    """The beginning of a text, cut between words."""
    if len(text) <= longest:
        return text
    cut = text[: longest - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[longest // 2 :] else cut).rstrip(" ,;:") + "…"


def _group(found: re.Match[str]) -> str:
    """An index of several characters: raised or lowered where all have a sign for it, else in parentheses."""
    sign, inside = found[1], found[2].replace(" ", "")
    if inside in (r"\circ", r"\prime"):
        return f"{sign}{inside} "
    table = _TABLES[sign]
    if inside and all(letter in table for letter in inside):
        return "".join(table[letter] for letter in inside)
    return f"{sign}{found[2]}" if len(inside) == 1 else f"{sign}({found[2]})"


def _index(found: re.Match[str]) -> str:
    return _TABLES[found[1]].get(found[2], found[0])


@functools.cache
def _converter() -> LatexNodes2Text:
    known = get_default_latex_context_db()
    known.add_context_category("ours", macros=[MacroTextSpec(name, sign) for name, sign in _SIGNS.items()], prepend=True)
    return LatexNodes2Text(latex_context=known, math_mode="text", strict_latex_spaces=False)
