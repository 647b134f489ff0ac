"""Error messages for models.toml, with the line and a correction."""

import re

from pydantic import ValidationError

from apps.reasoning.domain.values import first_mistake
from apps.reasoning.inference.options import OPTIONS_OF

_ADVICE = {
    "api_key": "keys do not belong in this file; put the key in an environment variable and name that in api_key_env",
    "queue": "the queue follows from the name",
}


def explained(error: ValidationError, text: str, name: str, where: str) -> str:
    """The first mistake of a table, with its line and a correction."""
    first = error.errors(include_url=False)[0]
    classes = {cls.__name__ for cls in OPTIONS_OF.values()}
    path = [str(part) for part in first["loc"] if str(part) not in classes]
    key = path[-1] if path else ""
    if first["type"] == "extra_forbidden":
        reason = _ADVICE.get(key, "there is no such key here; docs/models.md lists them")
    elif first["type"] == "missing":
        reason = "this key is missing"
    else:
        reason = re.sub(r", ('\w+') or 'sandbox'", r" or \1", first_mistake(error)[1])
    dotted = ".".join(path)
    line = line_of(text, name, key)
    return f"{where}, line {line}, [{name}]{f' {dotted}' if dotted else ''}: {reason}."


def line_of(text: str, table: str | None, key: str) -> int:
    """The line (from 1) of `key` in `[table]` or a table below it; the table's own line where the key is not written."""
    current: str | None = None
    found = 1
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[\s*\"?([^\]\".\s]+)\"?\s*(?:\.\s*(\w+)\s*)?\]", line)
        if header:
            current = header.group(1)
            if current == table and (not header.group(2) or header.group(2) == key):
                found = number
        elif current == table and key and re.match(rf"\s*\"?{re.escape(key)}\"?\s*[.=]", line):
            return number
    return found
