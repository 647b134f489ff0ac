"""Sections of a solver–verifier log: a heading of `>` signs, optionally with a time, and a body."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.explorations.importing.imported_run import moment
from apps.reasoning.reading.decoded import keepable

_HEADING = re.compile(r"^(?:\[(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)\] )?>{5,}\s*(\S.*)$")
_COUNTS = re.compile(r"^Number of iterations: \d+, number of corrects: \d+, number of errors: \d+\s*$")
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True)
class Section:
    """One section: `title` in lower case without its colon, the number of its line, its optional time, and its body."""

    title: str
    line: int
    at: datetime | None
    body: str

    def value(self) -> Any:
        """The body as a JSON value, or unchanged if it is not JSON. Raises `CutOff` for incomplete JSON."""
        body = self.body.strip()
        if not body.startswith(('"', "{", "[")):
            return body
        try:
            return keepable(json.JSONDecoder(strict=False).raw_decode(body)[0])
        except (ValueError, RecursionError) as error:
            raise CutOff from error

    def text(self) -> str:
        """The body as text. Raises `CutOff`."""
        value = self.value()
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


class CutOff(ValueError):
    """A JSON value is truncated or invalid."""


def sections(text: str) -> Iterator[Section]:
    """The sections in order; text before the first heading is left out."""
    title, line, at, body = "", 0, None, list[str]()
    for number, row in enumerate(text.split("\n"), start=1):
        heading = _HEADING.match(row)
        if heading is None:
            if not _COUNTS.match(row):
                body.append(row)
            continue
        if title:
            yield Section(title, line, at, "\n".join(body))
        title = _SPACES.sub(" ", heading[2].rstrip().rstrip(": .")).lower()
        line, at, body = number, moment(heading[1]) if heading[1] else None, []
    if title:
        yield Section(title, line, at, "\n".join(body))
