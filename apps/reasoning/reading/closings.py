"""Find the closing of an answer: the short piece that a program needs after the reasoning, such as a decision.

From strict to tolerant: a tag; a labelled line or heading ("## Decision" above "fail", "Verdict: fail"); a JSON object; a last
line that is only the value. A tag counts if it ends the answer or is alone on its line, so a tag quoted in a sentence never
does. Two contradicting readings of one rank are unreadable, unless the later one ends the answer.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.answers import ends_answer, plain, read_json, tag_pattern

T = TypeVar("T")
LONGEST = 400
#: Characters of a second answer that is nothing but its value, with a word of reason perhaps.
LONGEST_ALONE = 80
_MARKS = r"[ \t]*(?:(?:[#*_`~•+-]+|\d{1,3}[.)])[ \t]*)*"
_JOINT = re.compile(r"[ \t*_`~\"“”']*(?:[:=–—]|->|is\b|-(?=[ \t]))?[ \t*_`~\"“”']*", re.IGNORECASE)
_JOINED = re.compile(r"[:=–—]|->|\bis\b|- ", re.IGNORECASE)
_FENCED = re.compile(r"^[ \t]*```[a-z]*[ \t]*\n(.*?)^[ \t]*```", re.DOTALL | re.MULTILINE | re.IGNORECASE)
_OBJECTS_AT_MOST = 20


#: Words after a closing with which a writer takes it back, at once or at the end of what follows.
_TAKEN_BACK = re.compile(
    r"\b(?:wait|oops|on reflection|on second thought|correction|scratch that|i was wrong|i retract)\b", re.IGNORECASE
)
#: The same right after it; in a report that follows, they say what the solution lacks.
_SHOULD_BE = re.compile(r"\bshould (?:be|have been)\b", re.IGNORECASE)
_NEAR, _AT_ONCE = 400, 200


class Said(NamedTuple, Generic[T]):
    """The value of a closing, the text before it, the closing as written, and the text after it."""

    value: T
    before: str
    written: str
    after: str = ""


def is_taken_back(after: str) -> bool:
    """Does the text after a closing take it back?"""
    near = after if len(after) <= 2 * _NEAR else f"{after[:_NEAR]}\n{after[-_NEAR:]}"
    return _TAKEN_BACK.search(near) is not None or _SHOULD_BE.search(after[:_AT_ONCE]) is not None


@dataclass(frozen=True)
class Closing(Generic[T]):
    """A closing to look for. `parse` gives the value of the content of a tag or line, or None if it has none.

    `labels`: its names in lines and headings, in lower case. `bare`: a last line that is only the value counts too.
    """

    tag: str
    what: str
    parse: Callable[[str], T | None]
    labels: tuple[str, ...] = ()
    bare: Callable[[str], T | None] | None = None

    @cached_property
    def _closed(self) -> re.Pattern[str]:
        return tag_pattern(self.tag)

    @cached_property
    def _open(self) -> re.Pattern[str]:
        """A tag that is not closed, or closed by another tag."""
        return re.compile(
            rf"<{self.tag}(?:\s[^<>]{{0,80}})?>[ \t]*([^<\n]{{1,{LONGEST}}})(?:</?[\w-]+>|(?=\n)|\Z)", re.IGNORECASE
        )

    @cached_property
    def _line(self) -> re.Pattern[str]:
        names = "|".join(re.escape(label) for label in sorted(self.labels, key=len, reverse=True))
        return re.compile(rf"^({_MARKS})({names})(?![\w-])([^\n]*)$", re.IGNORECASE | re.MULTILINE)

    def read(self, answer: str) -> Said[T] | Unscored:
        """The closing of an answer, or the reason why there is none."""
        tags = self._tags(answer)
        conclusive = [one for one in tags if one.is_conclusive(answer)]
        if found := _agreed(answer, [one for one in conclusive if one.value is not None]):
            return self._undisputed(answer, found)
        if found := _agreed(answer, list(self._lines(answer, 0))):
            return self._said(answer, found)
        if self.bare is not None and (found := _last_line(answer, self.bare)):
            return self._said(answer, found)
        if conclusive:
            return Unscored(reason=f"the {self.what} is {plain(conclusive[-1].written)[:40]!r}")
        if tags:
            return Unscored(reason=f"the answer does not end with its {self.what}")
        return Unscored(reason=f"there is no {self.what}")

    def again(self, answer: str) -> T | Unscored:
        """The value in a second answer, which has the closing alone: as a JSON field, as the whole text, or as in `read`."""
        value = json_within(answer, self.tag)
        said = value.get(self.tag) if value is not None else None
        if isinstance(said, str | int | float) and not isinstance(said, bool) and (found := self.parse(str(said))) is not None:
            around = self.read(text_around_json(answer, self.tag))
            return self.differs if isinstance(around, Said) and around.value != found else found
        if len(answer) <= LONGEST_ALONE and (found := self.parse(answer)) is not None:
            return found
        read = self.read(answer)
        return read if isinstance(read, Unscored) else read.value

    @property
    def differs(self) -> Unscored:
        """The reason for rejecting an answer with one value in JSON and another in prose."""
        return Unscored(reason=f"it gives two different {self.what}s")

    def all(self, answer: str) -> list[T]:
        """The values of all labelled lines and headings."""
        return [place.value for place in self._lines(answer, 0) if place.value is not None]

    def _undisputed(self, answer: str, found: "_Place[T] | _Contradiction") -> Said[T] | Unscored:
        """A tag, unless a line after it says something else."""
        if isinstance(found, _Place) and any(line.value != found.value for line in self._lines(answer, found.end)):
            return Unscored(reason=f"what follows its {self.what} contradicts it")
        return self._said(answer, found)

    def _said(self, answer: str, found: "_Place[T] | _Contradiction") -> Said[T] | Unscored:
        if isinstance(found, _Contradiction):
            return Unscored(reason=f"it gives two different {self.what}s: {found.one[:40]!r} and {found.other[:40]!r}")
        assert found.value is not None
        after = answer[found.end :].strip()
        if is_taken_back(after):
            return Unscored(reason=f"what follows its {self.what} takes it back")
        return Said(found.value, answer[: found.start].strip(), found.written, after)

    def _tags(self, answer: str) -> list["_Place[T]"]:
        matches = list(self._closed.finditer(answer))
        ends = [match.end() for match in matches]
        matches.extend(self._open.finditer(answer, ends[-1] if ends else 0))
        return [_Place(self.parse(match[1]), match.start(), match.end(), match[1].strip()) for match in matches]

    def _lines(self, answer: str, start: int) -> Iterator["_Place[T]"]:
        """Lines and headings that name the closing and have a value, there or on the next line that is not empty."""
        if not self.labels:
            return
        for match in self._line.finditer(answer, start):
            marks, rest = match[1], match[3]
            joint = _JOINT.match(rest)
            written = rest[joint.end() :] if joint else rest
            end = match.end()
            if plain(written):
                if not ("#" in marks or _JOINED.search(rest[: joint.end() if joint else 0])):
                    continue
            else:
                below = re.compile(r"\s*([^\n]*)").match(answer, end)
                written, end = (below[1], below.end()) if below else ("", end)
            value = self.parse(written)
            if value is not None:
                yield _Place(value, match.start(), end, plain(written))


@dataclass(frozen=True)
class _Place(Generic[T]):
    """The place of a possible closing."""

    value: T | None
    start: int
    end: int
    written: str

    def is_conclusive(self, answer: str) -> bool:
        """Does it end the answer, or is it alone on its lines?"""
        if ends_answer(answer, self.end):
            return True
        before = answer[answer.rfind("\n", 0, self.start) + 1 : self.start]
        after = answer[self.end :].partition("\n")[0]
        return not plain(before).strip("#~- ") and not plain(after)


class _Contradiction(NamedTuple):
    one: str
    other: str


def _agreed(answer: str, places: list[_Place[T]]) -> _Place[T] | _Contradiction | None:
    """The last place, if the others agree with it or it ends the answer."""
    if not places:
        return None
    last = places[-1]
    others = [one for one in places if one.value != last.value]
    if others and not ends_answer(answer, last.end):
        return _Contradiction(plain(others[-1].written), plain(last.written))
    return last


def _last_line(answer: str, parse: Callable[[str], T | None]) -> _Place[T] | None:
    body = answer.rstrip("` \t\n")
    start = body.rfind("\n") + 1
    value = parse(plain(body[start:]))
    return None if value is None else _Place(value, start, len(answer), body[start:])


def json_within(answer: str, *names: str) -> dict[str, Any] | None:
    """The answer as one JSON object, or the last object in it that has a field of one of these names; None for neither."""
    found = _json_found(answer, names)
    return found[0] if found else None


def text_around_json(answer: str, *names: str) -> str:
    """The answer without the object that `json_within` finds in it; "" where that is all."""
    found = _json_found(answer, names)
    return answer if found is None else f"{answer[: found[1]]}\n{answer[found[2] :]}".strip()


def _json_found(answer: str, names: tuple[str, ...]) -> tuple[dict[str, Any], int, int] | None:
    """The object with its place."""
    if (whole := read_json(answer)) is not None:
        return whole, 0, len(answer)
    for match in reversed(list(_FENCED.finditer(answer))):
        if (value := read_json(match[1])) is not None and not value.keys().isdisjoint(names):
            return value, match.start(), match.end()
    starts = [match.start() for match in re.finditer(r"^[ \t]*\{", answer, re.MULTILINE)][-_OBJECTS_AT_MOST:]
    for start in reversed(starts):
        written = _balanced(answer[start:])
        value = read_json(written)
        if value is not None and not value.keys().isdisjoint(names):
            return value, start, start + len(written)
    return None


def _balanced(text: str) -> str:
    """The text up to the bracket that closes its first one; strings may hold brackets."""
    depth, quoted, escaped = 0, False, False
    for at, sign in enumerate(text):
        if quoted:
            quoted, escaped = (escaped or sign != '"'), sign == "\\" and not escaped
        elif sign == '"':
            quoted = True
        elif sign in "{}":
            depth += 1 if sign == "{" else -1
            if depth == 0:
                return text[: at + 1]
    return text
