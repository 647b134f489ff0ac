"""Marks formulas of a text in its HTML: the formula around a place gets a class, so that the mark survives typesetting."""

import re
from collections.abc import Iterable

from django.utils.safestring import SafeString, mark_safe

from apps.ui import formulas, markdown

_MATH = re.compile(r'<(?:span|div) class="math (?:inline|display)(?=")')
_NAME = re.compile(r"[a-z-]+")

Mark = tuple[int, int, str]
"""`(start, end, name)`: code points of the text, and the class `marked--<name>` for the formula they stand in."""


def render_marked(text: str, marks: Iterable[Mark]) -> SafeString:
    """As `markdown.render`, with the classes `marked` and `marked--<name>` on every formula that a mark touches.

    Of several marks on one formula the first counts. Marks outside formulas show nothing, and none are shown where what stands
    in the HTML is not, one by one, what stands in the text. Raises `ValueError` for a name that is no class.
    """
    html = markdown.render(text)
    wanted = list(marks)
    if not wanted:
        return html
    if any(not _NAME.fullmatch(name) for _, _, name in wanted):
        raise ValueError("the name of a mark is made of small letters")
    found = list(formulas.formulas(formulas.without_hidden(text)))
    places = list(_MATH.finditer(html))
    if len(found) != len(places):
        return html
    pieces, done = [], 0
    for formula, place in zip(found, places, strict=True):
        name = next((name for start, end, name in wanted if start < formula.end and end > formula.start), "")
        if name:
            pieces += [html[done : place.end()], f" marked marked--{name}"]
            done = place.end()
    return mark_safe("".join([*pieces, html[done:]]))  # noqa: S308  (HTML of ours, and names of small letters)
