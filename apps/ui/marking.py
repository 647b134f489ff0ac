"""Mark formulas in the HTML of a text by a class, so that marks survive typesetting."""

import re
from collections.abc import Iterable

from django.utils.safestring import SafeString, mark_safe

from apps.ui import formulas, markdown

_MATH = re.compile(r'<(?:span|div) class="math (?:inline|display)(?=")')
_NAME = re.compile(r"[a-z-]+")

Mark = tuple[int, int, str]
"""`(start, end, name)`: code points of the text, and the class `marked--<name>` for the formula there."""


def render_marked(text: str, marks: Iterable[Mark]) -> SafeString:
    """As `markdown.render`, with the classes `marked` and `marked--<name>` on every formula that a mark touches.

    The first of several marks on one formula counts. Marks outside formulas are ignored, and all marks if the HTML and the text
    have different numbers of formulas. Raises `ValueError` for an invalid class name.
    """
    html = markdown.render(text)
    wanted = list(marks)
    if not wanted:
        return html
    if any(not _NAME.fullmatch(name) for _, _, name in wanted):
        raise ValueError("the name of a mark must have small letters only")
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
