"""Finds equalities that may be meant modulo a number, and the possible moduli."""

import re
from dataclasses import dataclass

#: Characters before a sentence in which words may still govern it: a frame, a passing word, and a convention that governs
#: numbers to the end of the text.
REACH, SHORT, FAR = 600, 200, 30_000
_MOD = re.compile(r"\\(?:pmod|bmod|mod|pod)(?![A-Za-z])|\bmod(?:ulo|ulus|uli)?(?![A-Za-z])", re.IGNORECASE)
_NUMBERED = re.compile(r"(?:\s|~|\\[ ,(]|[({$])*(\d+)(?=[)}$.,;:?\s]|\\[)\]]|\Z)(?![)}$\s]*(?:,|and|or)[\s$({]*\d)")
_LETTERS = re.compile(r"(?<![\\A-Za-z])[A-Za-z](?![A-Za-z])")
_LAST_DIGITS, _CLOCK = re.compile(r"\blast\s+(?:\w+\s+)?digits?\b", re.I), re.compile(r"\bclocks?\b", re.I)
_RESIDUES = re.compile(r"\bresidues?\b|\bcongruen\w+|\\equiv", re.IGNORECASE)
_FRAME = re.compile(
    r"\bcharacteristic\b|\bbinary\b|\bternary\b|\boctal\b|\bhexadecimal\b|\bin\s+base\b|\bbase[\s-]*(?:\$?\d|\$[a-z]\$|ten|two|three"
    r"|seven|eight|nine|twelve)|\bxor\b|\bnim\w*\b|\bcyclic\s+groups?\b|\\mathbb\s*\{?\s*[ZF]\s*\}?\s*[_/]|\bGF\s*\(|\bbitwise\b|\bexclusive\s+or\b|\\oplus\b",
    re.IGNORECASE,
)
#: Words that give sums and products of numbers another meaning, if no names occur in them.
_OTHER_ARITHMETIC = re.compile(
    r"\brings?\b|\bboolean\b|\bcyclic(?:al|ally)?\b(?!\s+(?:quad|sum|poly|pent|hex|ineq|expr|prod|symm))|\bwrap\w*\s+(?:a?round|over)\b"
    r"|\bdials?\b|\bweekdays?\b|\bdays?\s+of\s+the\s+week\b|\bquotient\s+(?:group|ring|field|set)s?\b|\bsubgroups?\b|\babelian\b"
    r"|\bgroups?\s+(?:of\s+order|law|operation|table|\$)|\b(?:of|in)\s+(?:the|this|a)\s+group\b|\btropical\b|\b(?:max|min)-plus\b|\bsemi-?rings?\b|\blattices?\b(?!\s+(?:points?|paths?|squares?))"
    r"|\bround(?:s|ed|ing)\b|\btruncat\w*|\binteger\s+(?:parts?|division|arithmetic)\b|\bfloating\b|\bsaturat\w*|\bcarr(?:y|ies)\b"
    r"|\bplays?\s+the\s+role\b|\b(?:as|for)\s+(?:sum|addition|product|multiplication)\b|\bparity\s+table"
    r"|\bmultiples?\s+of\s+\$?\d+\$?\s+(?:are|is|may\s+be)\s+(?:ignor|dropp|left|neglect)\w*|\bup\s+to\s+(?:a\s+)?multiples?\b|\bcolou?rs\s+add",
    re.IGNORECASE,
)
#: The same for its own sentence and nearby text.
_OTHER_NUMERALS = re.compile(
    r"\bconcaten\w*|\bside\s+by\s+side\b|\bglu(?:e|ed|ing|eing)\b|\bjuxtapos\w*|\bnumerals?\b|\bstrings?\b|\bas\s+words?\b"
    r"|\bwords?\s+over\b|\bdigits?\s+by\s+digits?\b|\bdigit-?wise\b",
    re.IGNORECASE,
)
_SETS_UP = re.compile(
    r"\b(?:work\w*|throughout|from\s+(?:now|here)|henceforth|always|every\w*|all|count\w*|comput\w*|calculat\w*|read|understood|meant"
    r"|taken?|reduc\w*|equalit\w+|equations?|arithmetic|indices|numbers|follows)\b",
    re.IGNORECASE,
)
_FIELD = re.compile(r"\bfields?\b(?!\s+of\s+(?:the\s+)?(?:real|rational|complex))", re.IGNORECASE)
_FINITE_FIELD = re.compile(r"\bfinite\s+fields?\b|\bfields?\s+(?:with|of\s+(?:order|size|\$?\d))", re.IGNORECASE)
_ROUND = re.compile(r"\bcircles?\b|\bcyclic\w*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Talk:
    """Words about residues. If they govern, an equality is never refuted; else only if it also fails modulo all `moduli`."""

    governs: bool
    moduli: frozenset[int] = frozenset()


def residue_context(before: str, sentence: str, names: frozenset[str]) -> Talk:
    """The moduli in the sentence and the text before it that may matter to an equality with these names."""
    reach, near = before[-REACH:], before[-SHORT:]
    whole = reach + sentence
    if _FRAME.search(whole) or _is_field(near, sentence, names):
        return Talk(True)
    far = Talk(False) if names else _earlier_talk(before[-FAR:], sentence)
    if far.governs:
        return far
    moduli = set(far.moduli) | ({10} if _LAST_DIGITS.search(whole) else set())
    moduli |= {12} if _CLOCK.search(whole) else set()
    found = list(_MOD.finditer(whole))
    for word in found:
        number = _NUMBERED.match(whole, word.end())
        if number:
            moduli.add(int(number[1]))
        elif _governs(word, whole, len(reach), names):
            return Talk(True)
    return Talk(not found and not moduli and _RESIDUES.search(whole) is not None, frozenset(moduli))


def _earlier_talk(before: str, sentence: str) -> Talk:
    """Conventions anywhere before that govern equalities of numbers to the end of the text."""
    whole = before + sentence
    if _FRAME.search(whole) or _OTHER_ARITHMETIC.search(whole) or _OTHER_NUMERALS.search(before[-SHORT:] + sentence):
        return Talk(True)
    moduli = {10} if _LAST_DIGITS.search(whole) else set[int]()
    moduli |= {12} if _CLOCK.search(whole) else set()
    for word in _MOD.finditer(before):
        if word[0].startswith("\\"):
            continue
        if number := _NUMBERED.match(whole, word.end()):
            moduli.add(int(number[1]))
        elif _SETS_UP.search(before[before.rfind(".", 0, word.start()) + 1 : word.start()]):
            return Talk(True)
    return Talk(False, frozenset(moduli))


def _is_field(near: str, sentence: str, names: frozenset[str]) -> bool:
    """Whether a field or circle is mentioned. For numbers alone, only a finite field in the same sentence counts."""
    if not names:
        return _FINITE_FIELD.search(sentence) is not None
    return _FIELD.search(near + sentence) is not None or _ROUND.search(sentence) is not None


def _governs(word: re.Match[str], whole: str, begins: int, names: frozenset[str]) -> bool:
    """Whether a modulus that is not a number governs the sentence that begins at `begins`. "Modulo p" in words does.

    A modulus inside a formula governs its own sentence, formulas with its letters, and numbers shortly after it.
    """
    if not word[0].startswith("\\") or word.start() >= begins:
        return True
    letters = set(_LETTERS.findall(whole[max(0, word.start() - 80) : word.end() + 12]))
    return bool(names & letters) if names else begins - word.start() <= SHORT
