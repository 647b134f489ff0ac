"""The base of every value in the core, and `Unscored`, the only way to say "no result"."""

import functools
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen, strictly shaped value: unknown fields are an error, not an extra."""

    model_config = ConfigDict(frozen=True, extra="forbid")


V = TypeVar("V", bound=Value)


_set_names, _set_extra, _set_private = (
    getattr(BaseModel, slot).__set__ for slot in ("__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
)


def unchecked(kind: type[V], /, **fields: Any) -> V:
    """A value whose fields need no check, because a checked value was stored or because they were just computed. All its
    fields count as set.

    Checking took a tenth of the replay of a large run; pydantic's own `model_construct` takes longer than checking.
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
    """The defaults of a kind and the names of its fields. Values are frozen, so both may be shared."""
    fields = kind.model_fields
    defaults = {name: field.get_default(call_default_factory=True) for name, field in fields.items() if not field.is_required()}
    return defaults, set(fields)


class Unscored(Value):
    """No result, with the reason in words a person can act on. It is never 0, NaN or None."""

    reason: str
