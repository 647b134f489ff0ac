"""The base of every value in the core, and `Unscored`, the only way to say "no result"."""

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen, strictly shaped value: unknown fields are an error, not an extra."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Unscored(Value):
    """No result, with the reason in words a person can act on. It is never 0, NaN or None."""

    reason: str
