"""A manifest as TOML, which `manage.py experiment run` reads. The standard library reads TOML and does not write it."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from apps.experiments.solving.manifest import Manifest

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_TABLES = ("methods", "teams", "budgets", "scorers")


def toml_of(manifest: Manifest) -> str:
    """The fields that differ from their defaults; reading the text gives an equal manifest."""
    values = manifest.model_dump(mode="json", exclude_defaults=True)
    lines = [f"format = {manifest.format}"]
    lines += [f"{key} = {_value(value)}" for key, value in values.items() if key not in _TABLES]
    for key in _TABLES:
        for row in values.get(key, ()):
            lines += [
                "",
                f"[[{key}]]",
                *(f"{_key(name)} = {_value(value)}" for name, value in row.items() if value is not None),
            ]
    return "\n".join([*lines, ""])


def toml_lines(values: Mapping[str, Any]) -> str:
    """One value a line."""
    return "\n".join(f"{_key(name)} = {_value(value)}" for name, value in values.items() if value is not None)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _value(name)


def _value(value: Any) -> str:
    """One value. A JSON text without DEL is a TOML text; tables without a value of a key leave it out."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_value(one)}" for key, one in value.items() if one is not None) + " }"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(_value(one) for one in value)}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
