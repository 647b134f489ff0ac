"""What a person searches for, read into clauses, and written as a condition of each database's full-text search."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from apps.reasoning.graph.statements import FORMULA
from apps.reasoning.graph.terms import FENCE, OF_FORMULA, Piece, formula_of, pieces_of, renamed_hash, stem, word_terms

LONGEST = 1_000
_CLAUSES_AT_MOST = 30
_TERMS_AT_MOST = 200
_QUOTED = re.compile(r'(-?"[^"]*")')
_PART = re.compile(r'-?"[^"]*"|\S+')
_OF_TEX = re.compile(r"[\\^_=<>≤≥≠∈|{}+]|\d/\d|^[a-zA-Z]!$|^-\d")
#: Too common to be searched with other words.
_COMMON = frozenset(
    ("a", "an", "and", "are", "as", "at", "be", "by", "for", "if", "in", "is", "it", "let", "of", "on", "or", "that", "the",
     "then", "there", "to", "we", "with")
)  # fmt: skip


@dataclass(frozen=True)
class Clause:
    """Terms in a row. `others` are spellings that count as well; `excluded` statements have none of them."""

    terms: tuple[str, ...]
    is_prefix: bool = False
    excluded: bool = False
    others: tuple[str, ...] = ()
    written: str = ""

    @property
    def is_word(self) -> bool:
        return len(self.terms) == 1 and not OF_FORMULA.match(self.terms[0])

    def matches(self, piece: Piece) -> bool:
        """Whether a word or formula of a statement is what this clause looks for."""
        if len(self.terms) == 1 and self.terms[0].startswith("xh"):
            return piece.is_formula and renamed_hash(piece.terms) == self.terms[0]
        if piece.is_formula:
            size = len(self.terms)
            has_row = any(piece.terms[at : at + size] == self.terms for at in range(len(piece.terms) - size + 1))
            return has_row or any(term in self.others for term in piece.terms)
        wanted = (*self.terms, *self.others)
        return any(term.startswith(wanted) if self.is_prefix else term in wanted for term in piece.terms)


@dataclass(frozen=True)
class Query:
    """The clauses of a search. All must hold, or with `any_of` one of them.

    `notes` are sentences about what was left out or replaced.
    """

    clauses: tuple[Clause, ...] = ()
    notes: list[str] = field(default_factory=list)
    is_asked: bool = False
    any_of: bool = False

    @property
    def finds_nothing(self) -> bool:
        """Whether something was asked that cannot be searched for."""
        return self.is_asked and not self._wanted

    @property
    def _wanted(self) -> list[Clause]:
        return [one for one in self.clauses if not one.excluded]

    def with_spellings(self, found: dict[str, tuple[str, ...]]) -> "Query":
        """The same query in which other spellings of a word count as well."""
        clauses = (replace(one, others=found.get(one.terms[0], one.others)) if one.is_word else one for one in self.clauses)
        return replace(self, clauses=tuple(clauses))

    def for_any(self) -> "Query":
        """The same query for statements that match any of its clauses; nothing is excluded."""
        return replace(self, clauses=tuple(self._wanted), any_of=True)

    def on_postgresql(self) -> str:
        """For `to_tsquery`. Terms are ASCII letters and digits, so nothing needs to be quoted."""
        written = []
        for one in self.clauses:
            phrase = "<->".join(one.terms) + ":*" * one.is_prefix
            condition = f"({'|'.join((phrase, *one.others))})"
            written.append("!" * one.excluded + condition)
        return ("|" if self.any_of else "&").join(written)

    def on_sqlite(self) -> str:
        """For FTS5's MATCH."""
        written: dict[bool, list[str]] = {True: [], False: []}
        for one in self.clauses:
            phrase = f'"{" ".join(one.terms)}"' + "*" * one.is_prefix
            written[one.excluded].append("(" + " OR ".join((phrase, *(f'"{other}"' for other in one.others))) + ")")
        return " NOT ".join([(" OR " if self.any_of else " AND ").join(written[False]), *written[True]])

    def spans(self, statement: str) -> list[tuple[int, int]]:
        """Where the statement has what was searched for: code points of words and formulas."""
        wanted = self._wanted
        return [(piece.start, piece.end) for piece in pieces_of(statement) if any(one.matches(piece) for one in wanted)]


def read(words: str, formula: str = "", *, whole: bool = False) -> Query:
    """Read what was written in the two fields. With `whole`, a formula must be all of one, names of variables aside.

    `words` may have quoted phrases, `-word` for what must not occur, `word*` for a beginning, and formulas, in dollars or bare.
    """
    words, formula = words.replace("\0", " ").strip()[:LONGEST], formula.replace("\0", " ").strip()[:LONGEST]
    clauses: list[Clause] = []
    for is_quoted, piece in enumerate(_QUOTED.split(words)):
        if is_quoted % 2:
            clauses += _part(piece, whole)
            continue
        for number, part in enumerate(FORMULA.split(piece)):
            clauses += (
                _formula(part, whole) if number % 2 else [one for bare in _PART.findall(part) for one in _part(bare, whole)]
            )
    clauses += _formula(formula, whole)
    plain = [one for one in clauses if one.excluded or one.terms[0] not in _COMMON or len(one.terms) > 1]
    chosen = (plain if any(not one.excluded for one in plain) else clauses)[:_CLAUSES_AT_MOST]
    return Query(tuple(dict.fromkeys(chosen)), list(_notes(words, formula, clauses)), bool(words or formula))


def _notes(words: str, formula: str, clauses: list[Clause]) -> Iterable[str]:
    if (words or formula) and not clauses:
        yield "Only signs that cannot be searched were found. Write a word, or a formula such as a^2+b^2."
    elif clauses and all(one.excluded for one in clauses):
        yield "Add a word that must occur: a search cannot only exclude."
    elif formula and not _formula(formula, whole=False):
        yield f"“{formula[:80]}” has no sign of a formula and was left out."
    if len(clauses) > _CLAUSES_AT_MOST:
        yield f"Only the first {_CLAUSES_AT_MOST} words and formulas were searched."


def _part(written: str, whole: bool) -> list[Clause]:
    excluded = written.startswith("-") and len(written) > 1 and written[1] not in "-0123456789"
    bare = written[1:] if excluded else written
    if bare.startswith('"') and bare.endswith('"') and len(bare) > 1:
        terms = [term for number, part in enumerate(FORMULA.split(bare.strip('"'))) for term in _phrase(number, part)]
        return [Clause(tuple(terms[:_TERMS_AT_MOST]), excluded=excluded, written=bare)] if terms else []
    if _OF_TEX.search(bare) and any(sign.isalnum() for sign in bare):
        return [replace(one, excluded=excluded) for one in _formula(bare, whole)]
    is_prefix = bare.endswith("*") and len(bare) > 1
    if is_prefix:
        beginning = bare.rstrip("*").casefold()
        if beginning.isascii() and beginning.isalnum():
            others = tuple({stem(beginning)[:60]} - {beginning[:60]})
            return [Clause((beginning[:60],), is_prefix=True, excluded=excluded, others=others, written=bare)]
    # A compound such as “well-known” gives several words in a row.
    terms = word_terms(re.sub(r"[.,;:!?\"'“”‘’`]", " ", bare))
    # A single letter or a number is looked for in formulas too.
    others = tuple(formula_of(bare)) if len(bare) == 1 or bare.isdecimal() else ()
    return [Clause(tuple(terms[:_TERMS_AT_MOST]), excluded=excluded, others=others, written=bare)] if terms else []


def _phrase(number: int, part: str) -> list[str]:
    if number % 2:
        tokens = formula_of(part)
        return [FENCE, *tokens, FENCE, renamed_hash(tokens)]
    return word_terms(re.sub(r"[.,;:!?'“”‘’`]", " ", part))


def _formula(tex: str, whole: bool) -> list[Clause]:
    tokens = formula_of(tex) if tex else []
    if not tokens:
        return []
    return [Clause((renamed_hash(tokens),) if whole else tuple(tokens[:_TERMS_AT_MOST]), written=tex)]
