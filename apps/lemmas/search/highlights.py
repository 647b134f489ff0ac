"""Marks what a search found in the HTML of a statement: words by `<mark>`, formulas by a class."""

import re
from collections.abc import Sequence

from django.utils.safestring import SafeString, mark_safe

from apps.ui.marking import render_marked

#: A formula, a tag or an escaped sign: HTML in which no words are marked.
_NO_WORDS = re.compile(r'(<(?:span|div) class="math[^>]*>.*?</(?:span|div)>|<[^>]*>|&#?\w+;)', re.DOTALL)


def highlighted(statement: str, spans: Sequence[tuple[int, int]]) -> SafeString:
    """The statement as HTML. `spans`: code points of words and formulas (`Query.spans`)."""
    html = render_marked(statement, [(start, end, "found") for start, end in spans])
    words = {re.escape(statement[start:end]) for start, end in spans if statement[start:end].isalnum()}
    if not words:
        return html
    word = re.compile(rf"(?<!\w)({'|'.join(sorted(words, key=len, reverse=True))})(?!\w)")
    pieces = _NO_WORDS.split(html)
    marked = [piece if number % 2 else word.sub(r"<mark>\1</mark>", piece) for number, piece in enumerate(pieces)]
    return mark_safe("".join(marked))  # noqa: S308  (HTML of ours, and words of it)
