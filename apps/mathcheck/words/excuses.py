"""Reasons why a sentence or a formula is never refuted, whatever the test points show."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from apps.mathcheck.claims import Claim, Link, links
from apps.mathcheck.testing.deciding import MODULO
from apps.mathcheck.tex.modular import residue_context
from apps.mathcheck.tex.tree import is_bare_number
from apps.mathcheck.words.meanings import other_meaning, other_notation
from apps.mathcheck.words.quantifiers import is_for_some
from apps.mathcheck.words.reading import Line, read_line
from apps.mathcheck.words.restrictions import ALTERNATIVE, OTHER_OPERATION, may_be_alternative, uses
from apps.mathcheck.words.stance import (
    HYPOTHETICAL_WORDS,
    is_about_cases,
    is_denied_later,
    is_hypothesis,
    is_unasserted,
    is_under_contradiction,
    may_be_hypothesis,
)
from apps.mathcheck.words.texts import Sentence, sentences
from apps.mathcheck.words.vocabulary import is_read

REACH_AFTER, REACH_BEFORE, NEAR = 300, 2_000, 600
CASES = "its sentence may be about several cases"
UNDER_HYPOTHESIS = "it may hold only under the sentence's own hypothesis"
OTHERWISE_COUNTED = "it may be counted in another way"

_COUNTED_OTHERWISE = re.compile(
    r"\b(?:order\w*|repe(?:at|tit)\w*|replacement|rotat\w*|reflect\w*|symmetr\w*|(?:non-?)?empty|proper|identical|alike|(?:in)?distinguish\w*"
    r"|round|circles?|circular\w*|exclud\w*|except\w*|besides|necklaces?|bracelets?|fixed\s+points?|derange\w*|rings?|bases?|binary"
    r"|octal|hexadecimal|ternary|up\s+to\s+(?!⟦|\$)|not\s+count\w*|left\s+(?:out|aside))\b",
    re.IGNORECASE,
)
_OTHER_NUMBERS = re.compile(
    r"\bGauss\w*|\bEisenstein|\brings?\b|\bfields?\b|\bquadratic\s+integers?|\\mathbb\s*\{?Z\}?\s*\[", re.I
)
_GIVES_REASON = re.compile(r"\b(?:since|because|due\s+to|owing\s+to|thanks\s+to)\b", re.IGNORECASE)
_VANISHING = re.compile(
    r"\bvanish\w*|\bdrops?\b|\bcross(?:ed)?[\s-]+terms?\b|\bmixed\s+(?:terms?|products?)|\b(?:dot|inner|scalar|cross)[\s-]+products?"
    r"|\bsquares?\s+to\b|\b(?:first|second|higher|lower)[\s-]+(?:orders?|terms?)\b|\bneglig\w*|\bneglect\w*|\bignor\w*|\bdisjoint"
    r"|\bcancels?\s+out\b|\bequat(?:e[sd]?|ing|ions?)\b|\bclear(?:ing|ed)\b|\bunknowns?\b|\bsystem\b|\bintersect\w*|\bcurves?\b|\b(?:is|are|be|being|equals?)\s+(?:equal\s+to\s+)?(?:zero|null)\b|\b(?:un)?correlated|\bindependen\w+",
    re.IGNORECASE,
)
_OTHER_ALGEBRA = re.compile(
    r"\borthogonal\w*|\bperpendicular\w*|\\perp\b|\bvectors?\b|\bmatri(?:x|ces)\b|\banti-?commut\w*|\bnon-?commut\w*|\bcommutators?\b"
    r"|\bquaternions?\b|\bnilpotent\w*|\bboolean\b|\bidempotent\w*|\bzero\s+divisors?\b|\bdual\s+numbers?\b|\\vec\b",
    re.IGNORECASE,
)
_OPENS_REASON = re.compile(
    r"^\W*(?:here|recall|remember|indeed|this|because|since|as|for|note|notice|by|after\s+all|we\s+(?:used?|know|had|have\s+used)"
    r"|the\s+reason|it\s+(?:was|is)|where|now)\b",
    re.IGNORECASE,
)
_REASON_BEFORE = re.compile(
    r"\b(?:since|because|as|for|recall\w*|remember\w*|given|where|with|when|if|provided|by|using|used?|due\s+to|owing\s+to|from)\b[^⟦]*$",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Around:
    """A sentence with the text around it."""

    text: str
    sentence: Sentence
    line: Line

    @property
    def itself(self) -> str:
        return self.text[self.sentence.start : self.sentence.end]

    @property
    def before(self) -> str:
        return self.text[: self.sentence.start]

    @property
    def after(self) -> str:
        return self.text[self.sentence.end : self.sentence.end + REACH_AFTER]


def excuse_for_words(around: Around, place: int | None = None) -> str:
    """Why the statement at `place`, or anything in the sentence, may not be refuted; empty if it is an assertion."""
    line = around.line
    clause = () if place is None else (line.before(place), line.after(place))
    if is_unasserted(line.words, *clause):
        return "the sentence does not clearly assert it"
    if is_denied_later(around.after, around.before):
        return "what follows may deny it"
    if is_about_cases(line.words):
        return CASES
    if is_under_contradiction(around.before[-REACH_BEFORE:]):
        return "it is part of a proof by contradiction"
    if may_be_alternative(around.line.words, around.before[-REACH_AFTER:], around.after):
        return ALTERNATIVE
    return ""


def excuse_for_formula(
    around: Around, claim: Claim, place: int, link: Link, operations: set[tuple[str, object]]
) -> tuple[str, frozenset[int]]:
    """Why the claim may not be refuted ("" if it may), and the moduli that the equality may be meant under."""
    line, nothing = around.line, frozenset[int]()
    if words := excuse_for_words(around, place):
        return words, nothing
    if any(uses(side, operations) for one in claim.variants for side in (one.left, one.right)):
        return OTHER_OPERATION, nothing
    meaning = other_notation(link, around.before + around.itself) or other_meaning(
        claim, link, line.words, around.before[-NEAR:]
    )
    if meaning:
        return meaning, nothing
    moduli = nothing
    if claim.relation == "=":
        talk = residue_context(around.before, around.itself, claim.names)
        if talk.governs:
            return MODULO, nothing
        moduli = talk.moduli
    implied = line.statements[place].words == "then" and place > 0
    bare = all(is_bare_number(side) for variant in claim.variants for side in (variant.left, variant.right))
    if not claim.names and (implied or HYPOTHETICAL_WORDS.search(line.words) or bare):
        return UNDER_HYPOTHESIS, moduli
    return "", moduli


def excuse_for_count(around: Around, kind: str, start: int, end: int) -> str:
    """Why a claim in words about numbers or functions, `flat[start:end]`, may not be refuted; empty if it may."""
    if words := excuse_for_words(around):
        return words
    if HYPOTHETICAL_WORDS.search(around.line.words):
        return UNDER_HYPOTHESIS
    if kind not in ("counting", "arithmetic", "divisibility"):
        return ""
    talk = residue_context(around.before, around.itself, frozenset())
    claimed = around.line.flat[start:end]
    near = around.before[-NEAR:] + around.itself
    if talk.governs or (talk.moduli and "perfect" in claimed) or _OTHER_NUMBERS.search(near):
        return MODULO
    if kind == "counting":
        rest = around.line.flat[:start] + " " + around.line.flat[end:]
        if not is_read(re.sub(r"⟦\d+⟧", " ", rest)) or _COUNTED_OTHERWISE.search(
            around.before[-REACH_AFTER:] + rest + around.after
        ):
            return OTHERWISE_COUNTED
    return ""


def has_reason(around: Around, place: int) -> bool:
    """Whether nearby words may justify an equation that is only similar: "since the vectors are orthogonal"."""
    if _OTHER_ALGEBRA.search(around.before + around.itself + around.after):
        return True
    if _VANISHING.search(around.before[-NEAR:] + around.itself + around.after):
        return True
    at = around.line.places[place]
    for cue in _GIVES_REASON.finditer(around.line.flat):
        between = re.sub(r"\b(?:that|we|have|now|of|the|identity)\b|[\s,:]", "", around.line.flat[cue.end() : at])
        if cue.start() > at or between:
            return True
    return False


def later_relations(around: Around, place: int) -> Iterator[Link]:
    """Relations after a claim that may be its conditions: "… because $ab=0$", "Recall that $ab=0$"."""
    for later in range(place + 1, len(around.line.statements)):
        if _REASON_BEFORE.search(around.line.before(later)):
            yield from links(around.line.statements[later])
    for following in sentences(around.after):
        line = read_line(around.after, following)
        if _OPENS_REASON.search(line.flat):
            for statement in line.statements:
                yield from links(statement)


def says(before: str, after: str, settled: bool) -> bool:
    """Whether words before a formula assert it. "Since $P$" does so if earlier sentences settled its names."""
    if re.search(r"[A-Za-z]{2}", before) is None or is_hypothesis(before, after) or is_for_some(after):
        return False
    return settled or not may_be_hypothesis(before, after)
