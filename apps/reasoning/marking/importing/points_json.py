"""Lists of grading points as JSON: objects with points, title and description, alone or under a key (`grading_scheme`, …)."""

import json
from decimal import Decimal, InvalidOperation
from html.parser import HTMLParser
from typing import Any

from apps.reasoning.marking.importing.imported import Imported, refuse_too_large, scale_found
from apps.reasoning.marking.schemes.faults import Fault, FormWrong
from apps.reasoning.marking.schemes.json_form import FORMAT
from apps.reasoning.marking.schemes.scheme import Scheme, SchemeItem, text_clean

_KEYS = ("grading_scheme", "marking_scheme", "scheme", "rubric", "items")
_TEXTS = ("description", "desc", "text", "criterion")
_POINTS = ("points", "max_points", "score")


def points_json_read(text: str) -> Imported | None:
    """The scheme of a JSON list of grading points; None where the text is our own JSON form. Raises `FormWrong`."""
    try:
        value = json.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError) as error:
        raise FormWrong((Fault(where="", message=f"This is not JSON: {error}."),)) from error
    if isinstance(value, dict):
        if value.get("format") == FORMAT:
            return None
        value = next((value[key] for key in _KEYS if isinstance(value.get(key), list)), None)
    if not isinstance(value, list) or not value:
        keys = ", ".join(_KEYS)
        raise FormWrong((Fault(where="", message=f"This JSON holds no list of grading points, alone or under one of {keys}."),))
    faults: list[Fault] = []
    read = [_item(number, entry, faults) for number, entry in enumerate(value, start=1)]
    if faults:
        raise FormWrong(tuple(faults))
    texts = [text for _, text in read]
    refuse_too_large(len(read), texts)
    items = [SchemeItem(code=f"c{number}", points=points, text=text) for number, (points, text) in enumerate(read, start=1)]
    scheme, notes = scale_found(Scheme(items=tuple(items)))
    return Imported(scheme=scheme, shape="JSON list of grading points", notes=notes)


def _item(number: int, entry: Any, faults: list[Fault]) -> tuple[Decimal, str]:
    """Points and text of one entry; what is wrong goes to `faults`."""
    where = f"entry {number}"
    if not isinstance(entry, dict):
        faults.append(Fault(where=where, message="This is not an object."))
        return Decimal(0), ""
    title = str(entry.get("title") or "").strip()
    body = plain_text(next((str(entry[key]) for key in _TEXTS if entry.get(key)), ""))
    raw = next((entry[key] for key in _POINTS if key in entry), None)
    try:
        points = Decimal(str(raw))
        if not (points.is_finite() and 0 < points <= 100) or isinstance(raw, bool):
            raise InvalidOperation
    except InvalidOperation:
        faults.append(Fault(where=where, message=f"Its points are {raw!r}, not a number above 0."))
        points = Decimal(0)
    if not (title or body):
        faults.append(Fault(where=where, message="It has neither a title nor a description."))
    return points, f"{title}: {body}" if title and body else title or body


class _Plain(HTMLParser):
    """Collects the text of simple HTML as Markdown: paragraphs, line breaks and list items."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.parts.append({"p": "\n\n", "br": "\n", "li": "\n- ", "ul": "\n", "ol": "\n", "div": "\n"}.get(tag, ""))

    def handle_endtag(self, tag: str) -> None:
        self.parts.append({"p": "\n\n", "ul": "\n\n", "ol": "\n\n"}.get(tag, ""))

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def plain_text(source: str) -> str:
    """Text without tags where it is HTML; other text, which may hold a < of its own, as it is."""
    if "</" not in source:
        return text_clean(source)
    parser = _Plain()
    parser.feed(source)
    parser.close()
    lines = [line.strip() for line in text_clean("".join(parser.parts)).split("\n")]
    kept = [line for index, line in enumerate(lines) if line or (index and lines[index - 1])]
    return "\n".join(kept)
