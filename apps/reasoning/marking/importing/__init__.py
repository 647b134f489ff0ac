"""Import of existing marking schemes: our two forms, coarse guidelines, lists of grading points.

Nothing is guessed silently: `Imported.notes` lists assumptions and unreadable parts, and the scheme's remarks keep lines that
were not understood.
"""

import re
from collections.abc import Callable

from pydantic import ValidationError

from apps.reasoning.marking.importing.guidelines import guidelines_read
from apps.reasoning.marking.importing.imported import Imported
from apps.reasoning.marking.importing.points_json import points_json_read
from apps.reasoning.marking.importing.points_list import points_list_read
from apps.reasoning.marking.schemes.faults import Fault, FormWrong, validation_faults
from apps.reasoning.marking.schemes.json_form import json_read
from apps.reasoning.marking.schemes.scheme import Scheme
from apps.reasoning.marking.schemes.text_form import SIZE_AT_MOST, text_read

__all__ = ["Imported", "scheme_import"]

_JSON = re.compile(r"\s*(?:\{|\[\s*[\]{\[])")
_TEXT_FORM = re.compile(r"^checkpoint\s", re.MULTILINE)


def scheme_import(text: str) -> Imported:
    """The scheme in a text of any shape that is known. Raises `FormWrong` where it is none of them."""
    if len(text) > SIZE_AT_MOST:
        raise FormWrong((Fault(where="", message=f"The text is longer than {SIZE_AT_MOST:,} characters."),))
    if not text.strip():
        raise FormWrong((Fault(where="", message="There is no text to read."),))
    if _JSON.match(text):
        return points_json_read(text) or _ours("JSON form", json_read, text)
    if _TEXT_FORM.search(text):
        return _ours("text form", text_read, text)
    try:
        for read in (guidelines_read, points_list_read):
            if (imported := read(text)) is not None:
                return imported
    except ValidationError as error:
        raise FormWrong(validation_faults(error)) from error
    return _ours("text form", text_read, text)


def _ours(shape: str, read: Callable[[str], Scheme], text: str) -> Imported:
    return Imported(scheme=read(text), shape=shape)
