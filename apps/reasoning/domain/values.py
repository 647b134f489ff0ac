"""The base of every value in the core, and `Unscored`, the only way to say "no result"."""

import functools
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen, strictly shaped value: unknown fields are an error, not an extra."""

    model_config = ConfigDict(frozen=True, extra="forbid")


V = TypeVar("V", bound=Value)


def unchecked(kind: type[V], /, **fields: Any) -> V:
    """A value whose fields need no check, because a checked value was stored or because they were just computed.

    Checking took a tenth of the replay of a large run; pydantic's own `model_construct` takes longer than checking.
    """
    made = kind.__new__(kind)
    object.__setattr__(made, "__dict__", {**_defaults(kind), **fields})
    object.__setattr__(made, "__pydantic_fields_set__", set(fields))
    object.__setattr__(made, "__pydantic_extra__", None)
    object.__setattr__(made, "__pydantic_private__", None)
    return made


@functools.cache
def _defaults(kind: type[Value]) -> Mapping[str, Any]:
    """Values are frozen, so a default may be shared."""
    return {
        name: field.get_default(call_default_factory=True)
        for name, field in kind.model_fields.items()
        if not field.is_required()
    }


class Unscored(Value):
    """No result, with the reason in words a person can act on. It is never 0, NaN or None."""

    reason: str
