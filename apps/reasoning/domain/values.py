"""The base of every value in the core, and `Unscored`, the only way to say "no result"."""

import functools
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError


class Value(BaseModel):
    """A frozen value. Unknown fields are an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


V = TypeVar("V", bound=Value)


_set_names, _set_extra, _set_private = (
    getattr(BaseModel, slot).__set__ for slot in ("__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
)


def unchecked(kind: type[V], /, **fields: Any) -> V:
    """Make a value without validation, from fields that were validated before or just computed. All fields count as set.

    Validation took a tenth of the replay of a large run; pydantic's own `model_construct` is slower than validation.
    """
    defaults, names = _blank(kind)
    made = kind.__new__(kind)
    object.__setattr__(made, "__dict__", {**defaults, **fields})
    _set_names(made, names)
    _set_extra(made, None)
    _set_private(made, None)
    return made


@functools.cache
def _blank(kind: type[Value]) -> tuple[Mapping[str, Any], set[str]]:
    """The defaults and field names of a class. Values are frozen, so that both may be shared."""
    fields = kind.model_fields
    defaults = {name: field.get_default(call_default_factory=True) for name, field in fields.items() if not field.is_required()}
    return defaults, set(fields)


#: What to write instead, by pydantic's type of a mistake; in braces is what it knows of the limits.
_CORRECTIONS = {
    "bool_parsing": "write true or false",
    "bool_type": "write true or false",
    "date_from_datetime_inexact": "write a date, such as 2026-11-01",
    "date_from_datetime_parsing": "write a date, such as 2026-11-01",
    "date_type": "write a date, such as 2026-11-01",
    "dict_type": "write a table, such as {{ name = value }}",
    "extra_forbidden": "there is no such field",
    "finite_number": "write a finite number",
    "float_parsing": "write a number",
    "float_type": "write a number",
    "greater_than": "write a number above {gt}",
    "greater_than_equal": "write a number of at least {ge}",
    "int_from_float": "write a whole number",
    "int_parsing": "write a whole number",
    "int_parsing_size": "write a smaller number",
    "int_type": "write a whole number",
    "less_than": "write a number below {lt}",
    "less_than_equal": "write a number of at most {le}",
    "list_type": "write a list in square brackets",
    "literal_error": "write {expected}",
    "missing": "this field is missing",
    "model_type": "write a table, such as {{ name = value }}",
    "string_too_long": "write at most {max_length} characters",
    "string_too_short": "write a text",
    "string_type": "write a text",
    "too_short": "name at least {min_length}",
    "tuple_type": "write a list in square brackets",
}


def first_mistake(error: ValidationError) -> tuple[str, str]:
    """The field of the first mistake, with dots ("" for the whole value), and what to write there, without a full stop."""
    first = error.errors(include_url=False)[0]
    said = first["msg"].removeprefix("Value error, ")
    if correction := _CORRECTIONS.get(first["type"]):
        limits = {name: f"{limit:g}" if isinstance(limit, float) else limit for name, limit in first.get("ctx", {}).items()}
        said = correction.format(**limits)
    return ".".join(str(part) for part in first["loc"]), said


class Unscored(Value):
    """No result, with a reason on which a person can act. It is never 0, NaN or None."""

    reason: str
