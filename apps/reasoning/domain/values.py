"""The base of every value in the core, and `Unscored`, the only way to say "no result"."""

import functools
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict


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


class Unscored(Value):
    """No result, with a reason on which a person can act. It is never 0, NaN or None."""

    reason: str
