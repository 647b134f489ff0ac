"""A scheme as text that people write. docs/marking_schemes.md is its manual.

    scale 7
    step 1
    chain A: Smallest counterexample
    checkpoint A1, 2 points, chain A: Takes a counterexample with $a+b$ smallest.
      What follows with an indent belongs to it.
      note: From here on to markers only.
    cap K5, at most 5, chain A: The sign is never discussed.

`text_read(text_written(scheme))` is the scheme again, without its lineage.
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from pydantic import ValidationError

from apps.reasoning.domain.values import Value
from apps.reasoning.marking.schemes.faults import Fault, FormWrong, validation_faults
from apps.reasoning.marking.schemes.scheme import Chain, Kind, Scheme, SchemeItem, lines_clean, points_text

SIZE_AT_MOST = 200_000

_NUMBER = r"\d{1,4}(?:\.\d{1,2})?|\d{1,4}/\d{1,2}"
_POINTS = re.compile(rf"[+\-−]?\s*({_NUMBER})(?:\s+points?)?")
_LIMIT = re.compile(rf"at most ({_NUMBER})(?:\s+points?)?")
_CLAUSES = {
    "chains": re.compile(r"chains?\s+(.+)"),
    "requires": re.compile(r"(?:needs|requires)\s+(.+)"),
    "excludes": re.compile(r"excludes\s+(.+)"),
    "group": re.compile(r"(?:pick )?one of\s+(\w+)"),
}
_NOTE = re.compile(r"\\*note:")
_HEADS = ("scale", "step", "mixing", "remarks", "chain", *Kind)
_INDENT = "  "


class _Block(Value):
    """A line that begins at the margin, split at its first colon, with the indented lines below it."""

    line: int
    head: str
    body: tuple[str, ...]


def text_read(text: str) -> Scheme:
    """The scheme in a text. Raises `FormWrong`, which names every line that is not understood."""
    if len(text) > SIZE_AT_MOST:
        raise FormWrong((Fault(where="", message=f"The text is longer than {SIZE_AT_MOST:,} characters."),))
    values: dict[str, Any] = {"chains": [], "items": []}
    faults: list[Fault] = []
    for block in _blocks(text):
        try:
            _take(block, values)
        except ValidationError as error:
            faults += [Fault(where=f"line {block.line}", message=fault.message) for fault in validation_faults(error)]
        except ValueError as error:
            faults.append(Fault(where=f"line {block.line}", message=str(error)))
    if faults:
        raise FormWrong(tuple(faults))
    try:
        return Scheme(**values)
    except ValidationError as error:
        raise FormWrong(validation_faults(error)) from error


def text_written(scheme: Scheme) -> str:
    """The text of a scheme, in the one form that `text_read` gives back."""
    lines = [f"scale {points_text(scheme.scale)}", f"step {points_text(scheme.step)}"]
    if scheme.mixing:
        lines.append(f"mixing: {scheme.mixing}")
    if scheme.remarks:
        lines += _with_text("remarks", scheme.remarks)
    lines += [""] if scheme.chains else []
    for chain in scheme.chains:
        limit = f", at most {points_text(chain.limit)}" if chain.limit is not None else ""
        lines.append(f"chain {chain.name}{limit}: {chain.title}".rstrip())
    for item in scheme.items:
        lines += ["", *_with_text(_head(item), item.text)]
        if item.note:
            lines += [_indented(line) for line in f"note: {item.note}".split("\n")]
    return "\n".join(lines) + "\n"


def _head(item: SchemeItem) -> str:
    parts = [f"{item.kind} {item.code}"]
    if item.kind is Kind.CAP:
        parts.append(f"at most {points_text(item.points)}")
    elif item.points or item.kind in {Kind.CHECKPOINT, Kind.DEDUCTION}:
        parts.append(f"{points_text(item.points)} point{'' if item.points == 1 else 's'}")
    if item.chains:
        parts.append(f"chain {' '.join(item.chains)}")
    if item.group:
        parts.append(f"one of {item.group}")
    if item.requires:
        parts.append(f"needs {' '.join(item.requires)}")
    if item.excludes:
        parts.append(f"excludes {' '.join(item.excludes)}")
    return ", ".join(parts)


def _with_text(head: str, text: str) -> list[str]:
    first, *rest = text.split("\n")
    return [f"{head}: {first}".rstrip(), *(_indented("\\" + line if _NOTE.match(line) else line) for line in rest)]


def _indented(line: str) -> str:
    return _INDENT + line if line else ""


def _blocks(text: str) -> Iterator[_Block]:
    current: tuple[int, str, list[str]] | None = None
    for number, line in enumerate(lines_clean(text), start=1):
        if current is not None and (not line or line[0] in " \t"):
            current[2].append(_dedented(line))
        elif line:
            if current is not None:
                yield _Block(line=current[0], head=current[1], body=tuple(current[2]))
            head, _, first = line.partition(":")
            current = (number, head.strip(), [first])
    if current is not None:
        yield _Block(line=current[0], head=current[1], body=tuple(current[2]))


def _dedented(line: str) -> str:
    """Without the indent: two spaces, or one, or one tab."""
    return line[2:] if line.startswith(_INDENT) else line[1:]


def _take(block: _Block, values: dict[str, Any]) -> None:
    """Put what a block says into `values`. Raises `ValueError`."""
    word, _, rest = block.head.partition(" ")
    if word not in _HEADS:
        raise ValueError(f"“{_short(block.head)}” is not understood. A line begins with one of: {', '.join(_HEADS)}.")
    if word in Kind.__members__.values():
        values["items"].append(_item(Kind(word), rest, block))
    elif word == "chain":
        values["chains"].append(_chain(rest, block))
    elif word in values:
        raise ValueError(f"“{word}” is given twice.")
    elif word in {"scale", "step"}:
        if not (found := re.fullmatch(_NUMBER, rest.strip())) or any(line.strip() for line in block.body):
            raise ValueError(f"“{word}” needs a number and nothing else, such as “{word} {'7' if word == 'scale' else '0.5'}”.")
        values[word] = _number(found.group())
    elif rest:
        raise ValueError(f"“{word}” needs a colon after it.")
    else:
        values[word] = "\n".join(_unescaped(line) for line in block.body)


def _chain(rest: str, block: _Block) -> Chain:
    name, *clauses = [part.strip() for part in rest.split(",")]
    limit = None
    for clause in clauses:
        if limit is not None or not (found := _LIMIT.fullmatch(clause)):
            raise ValueError(f"“{_short(clause)}” is not understood; a chain has a name and, where you like, “at most 5”.")
        limit = _number(found.group(1))
    return Chain(name=name, title=" ".join(block.body), limit=limit)


def _item(kind: Kind, rest: str, block: _Block) -> SchemeItem:
    code, *clauses = [part.strip() for part in rest.split(",")]
    values: dict[str, Any] = {}
    for clause in clauses:
        name, value = _clause(kind, clause)
        if name in values:
            raise ValueError(f"“{_short(clause)}” repeats an earlier clause.")
        values[name] = value
    begins = next((index for index, line in enumerate(block.body[1:], start=1) if line.startswith("note:")), len(block.body))
    text = "\n".join([block.body[0], *(_unescaped(line) for line in block.body[1:begins])])
    note = "\n".join(block.body[begins:]).removeprefix("note:")
    return SchemeItem(code=code, kind=kind, text=text, note=note, **values)


def _clause(kind: Kind, clause: str) -> tuple[str, Any]:
    number = _LIMIT if kind is Kind.CAP else _POINTS
    if found := number.fullmatch(clause):
        return "points", _number(found.group(1))
    for name, pattern in _CLAUSES.items():
        if found := pattern.fullmatch(clause):
            return name, found.group(1) if name == "group" else tuple(found.group(1).split())
    limit = "at most 5" if kind is Kind.CAP else "2 points"
    example = f"“{limit}”, “chain A B”, “one of level”, “needs A1 A2” or “excludes B1”"
    raise ValueError(f"“{_short(clause)}” is not understood; expected {example}, and the text after a colon.")


def _number(text: str) -> Decimal:
    whole, _, part = text.partition("/")
    if part and not int(part):
        raise ValueError(f"{text} is not a number.")
    return Decimal(whole) / Decimal(part) if part else Decimal(whole)


def _unescaped(line: str) -> str:
    return line[1:] if line.startswith("\\") and _NOTE.match(line) else line


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}…"
