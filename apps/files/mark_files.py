"""Read rows of values from a CSV, JSONL or JSON file with any columns."""

import json
import re
from typing import Any

from apps.files.tables import FILE_BYTES, ROWS_AT_MOST, FileWrong, table_read

Row = dict[str, Any]
ANY = "*"
_EUROPEAN = ";"
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


def rows_read(data: bytes, where: str = "") -> dict[str, list[Row]]:
    """The lists of rows of a file by name: one list named "", or one per match if `where` contains an asterisk.

    `where`: path of the rows in a JSON file, such as `variants.*.predictions`. It defaults to the file itself or to the only
    list of objects in it. Raises `FileWrong`.
    """
    document = _document(data)
    if document is None:
        if where:
            raise FileWrong("A path of rows is for JSON files only. This file has one row per line; leave the path empty.")
        return {"": _lines(data)}
    found = _found(document, where.split(".") if where else [])
    if not where and isinstance(document, dict):
        found = _only_list(document)
    for name, rows in found:
        if not _is_rows(rows):
            raise FileWrong(f"{_place(where, name)} is not a list of objects. {_lists_hint(document)}")
        if len(rows) > ROWS_AT_MOST:
            raise FileWrong(f"The file has {len(rows):,} rows, more than the limit of {ROWS_AT_MOST:,}. Split it.")
    return dict(found)


def places_read(data: bytes) -> list[str]:
    """The paths of lists of rows in a file for `rows_read`, "" for the file itself. Raises `FileWrong`.

    A path has an asterisk if several sibling objects have a list of the same name.
    """
    document = _document(data)
    if document is None:
        _lines(data)
        return [""]
    if _is_rows(document):
        return [""]
    places = _places(document)
    if _is_one_row(document, places):
        return [""]
    if not places:
        raise FileWrong(_lists_hint(document) if isinstance(document, dict) else "The file is not a list of objects.")
    together = dict.fromkeys(_starred(place) for place in places if "." in place)
    return [*(star for star in together if sum(_starred(one) == star for one in places) > 1), *places]


def _starred(place: str) -> str:
    """`variants.first.rows` as `variants.*.rows`: the last name but one becomes an asterisk."""
    parts = place.split(".")
    return ".".join([*parts[:-2], ANY, parts[-1]])


def column_names(rows: list[Row]) -> list[str]:
    """The columns of rows, with paths into nested objects."""
    return list(dict.fromkeys(name for row in rows for name in _names(row)))


def value_of(row: Row, column: str) -> Any:
    """A row's value, None if absent. A name that is not a column is a path into objects, such as `answer.points`."""
    if column in row:
        return row[column]
    value: Any = row
    for part in column.split("."):
        if not isinstance(value, dict) or part not in value:
            return None
        value = value[part]
    return value


def columns_check(rows: list[Row], columns: list[str]) -> None:
    """Require each column in at least one row. Raises `FileWrong` with the existing columns."""
    for column in columns:
        if not any(_has(row, column) for row in rows):
            raise FileWrong(f"No column “{column}”. Choose from: {', '.join(column_names(rows))}.")


def _document(data: bytes) -> Any:
    """The content of a JSON file; None for a file with one row per line."""
    start = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if start not in (b"{", b"["):
        return None
    if len(data) > FILE_BYTES:
        raise FileWrong(f"The file is larger than {FILE_BYTES // 1024**2} MB. Split it.")
    try:
        return json.loads(data.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        if start == b"{" and error.msg == "Extra data":
            return None
        raise FileWrong(f"The file is not valid JSON: {error.msg} in line {error.lineno}.") from error
    except (ValueError, RecursionError) as error:
        raise FileWrong("The JSON is unreadable: wrong encoding, a number too long, or nesting too deep.") from error


def _lines(data: bytes) -> list[Row]:
    table = table_read(data)
    if wrong := [f"row {record.number}: {record.reason}" for record in table.records if record.reason]:
        raise FileWrong(f"Unreadable rows: {len(wrong)}; nothing was read. The first one is {wrong[0]}")
    if table.separator != _EUROPEAN:
        return [record.values for record in table.records]
    return [{name: _with_point(value) for name, value in record.values.items()} for record in table.records]


def _with_point(value: Any) -> Any:
    """`3,5` as `3.5`: in files separated by semicolons, a comma is a decimal comma."""
    return value.replace(",", ".") if isinstance(value, str) and _DECIMAL_COMMA.fullmatch(value.strip()) else value


def _found(value: Any, parts: list[str], name: str = "") -> list[tuple[str, Any]]:
    """The values at a path; the names matched by asterisks are joined."""
    if not parts:
        return [(name, value)]
    first, *rest = parts
    if not isinstance(value, dict):
        raise FileWrong(f"The file has no “{first}” at this path.")
    if first == ANY:
        return [pair for key, inner in value.items() for pair in _found(inner, rest, f"{name} {key}".strip())]
    if first not in value:
        raise FileWrong(f"The file has no “{first}” at this path. Choose from: {', '.join(map(str, value))}.")
    return _found(value[first], rest, name)


def _only_list(document: Any) -> list[tuple[str, Any]]:
    places = _places(document)
    if len(places) == 1:
        return [("", _found(document, places[0].split("."))[0][1])]
    if _is_one_row(document, places):
        return [("", [document])]
    raise FileWrong(f"The file is an object, not a list of rows. {_lists_hint(document)}")


def _is_one_row(document: Any, places: list[str]) -> bool:
    """A file of JSON lines with a single line looks like an object."""
    return isinstance(document, dict) and bool(document) and not places


def _lists_hint(document: Any) -> str:
    places = _places(document)
    return f"Set --rows to one of these lists: {', '.join(places)}." if places else "It holds no list of objects."


def _places(value: Any, way: str = "") -> list[str]:
    if _is_rows(value):
        return [way] if way else []
    if not isinstance(value, dict):
        return []
    return [place for key, inner in value.items() for place in _places(inner, f"{way}.{key}".strip("."))]


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _place(where: str, name: str) -> str:
    return f"“{where.replace(ANY, name)}”" if where else "The file"


def _has(row: Row, column: str) -> bool:
    return column in row or value_of(row, column) is not None


def _names(row: Row) -> list[str]:
    """The columns of a row, with paths into its objects."""
    return [
        way for name, value in row.items()
        for way in ([f"{name}.{inner}" for inner in value] if isinstance(value, dict) else [name])
    ]  # fmt: skip
