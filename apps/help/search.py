"""Find sections of the documents by words, the best first. In memory: all documents together have less than a megabyte."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from apps.help.documents import page_url, pages
from apps.help.rendering import Page, Section

MOST = 20
LONGEST_QUERY = 200
_MOST_WORDS = 8
_IN_TITLE, _IN_PAGE_TITLE, _MOST_IN_TEXT = 8.0, 2.0, 4
_NEARLY_ALL = 0.7
_SHORT = 3
_EXCERPT, _BEFORE = 220, 60  # characters
#: Pages of history, and pages that only contributors read, rank lower.
_RECORDS = ("adr/", "benchmarks", "status", "project/", "contributing", "components", "engines", "story", "life_of_a_run")
_OF_RECORDS = 0.3
#: Words of questions that say nothing about their subject.
_STOP = {
    "a", "an", "and", "are", "as", "at", "be", "can", "could", "do", "does", "for", "from", "has", "have", "how", "i", "if",
    "in", "into", "is", "it", "its", "me", "my", "of", "on", "or", "our", "should", "so", "that", "the", "their", "then",
    "there", "these", "this", "to", "was", "we", "what", "when", "where", "which", "who", "why", "will", "with", "would",
    "you", "your",
}  # fmt: skip


@dataclass(frozen=True)
class Found:
    """A section with its address; title and excerpt have the words of the query marked."""

    address: str
    page_title: str
    title: SafeString
    excerpt: SafeString


def search(query: str) -> list[Found]:
    """At most `MOST` sections, each with nearly all of the query that any section has; rare words count more than frequent
    ones. A word of three letters or more also matches longer words that begin with it.
    """
    asked = re.findall(r"\w+", query[:LONGEST_QUERY])
    words = ([word for word in asked if word.casefold() not in _STOP] or asked)[:_MOST_WORDS]
    terms = [re.compile(rf"\b{_pattern(word)}", re.IGNORECASE) for word in words]
    rows = [(page, section) for page in pages() if page.name for section in page.sections]
    weights = [[_weight(term, page, section) for term in terms] for page, section in rows]
    rarity = [math.log((1 + len(rows)) / (1 + sum(1 for row in weights if row[place]))) for place in range(len(terms))]
    covered = [sum(value for value, weight in zip(rarity, row, strict=True) if weight) for row in weights]
    least = _NEARLY_ALL * max(covered, default=0)
    scores = [sum(map(float.__mul__, rarity, row)) for row in weights]
    ranked = sorted((place for place in range(len(rows)) if covered[place] >= least > 0), key=lambda place: -scores[place])
    marks = re.compile(rf"\b(?:{'|'.join(map(_marked_pattern, words))})", re.IGNORECASE)
    return [_found(*rows[place], marks) for place in ranked[:MOST]]


def _pattern(word: str) -> str:
    return re.escape(word) if len(word) >= _SHORT else rf"{re.escape(word)}\b"


def _marked_pattern(word: str) -> str:
    return _pattern(word) + (r"\w*" if len(word) >= _SHORT else "")


def _weight(term: re.Pattern[str], page: Page, section: Section) -> float:
    in_text = min(_MOST_IN_TEXT, len(term.findall(section.text)))
    in_titles = _IN_TITLE * bool(term.search(section.title)) + _IN_PAGE_TITLE * bool(in_text and term.search(page.title))
    return (in_text + in_titles) * (_OF_RECORDS if page.name.startswith(_RECORDS) else 1)


def _found(page: Page, section: Section, marks: re.Pattern[str]) -> Found:
    return Found(
        page_url(page.name, section.anchor),
        page.title if section.level > 1 else "",
        _marked(section.title, marks),
        _marked(_excerpt(section.text, marks), marks),
    )


def _excerpt(text: str, marks: re.Pattern[str]) -> str:
    """The text around the first marked word, cut between words."""
    first = marks.search(text)
    start = max(0, first.start() - _BEFORE) if first else 0
    start = text.find(" ", start) + 1 if start else 0
    end = start + _EXCERPT
    cut = text[start:end].rsplit(" ", 1)[0] if end < len(text) else text[start:]
    return f"{'… ' if start else ''}{cut}{' …' if end < len(text) else ''}"


def _marked(text: str, marks: re.Pattern[str]) -> SafeString:
    pieces: Sequence[str] = re.split(f"({marks.pattern})", text, flags=re.IGNORECASE)
    html = "".join(f"<mark>{escape(piece)}</mark>" if place % 2 else escape(piece) for place, piece in enumerate(pieces))
    return mark_safe(html)  # noqa: S308
