"""Second requests of graders after an unreadable answer: a short JSON form, or the whole form again.

A short form requests only the decisions, in required fields; everything else in the first answer is kept. It is short enough
for a weak model to finish. For engines that enforce no schema, answers in words are read as well.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from apps.reasoning.domain.generation import Ending, Final
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.reading.answers import whole_answer
from apps.reasoning.reading.closings import json_within
from apps.reasoning.reading.schemas import TEXT
from apps.reasoning.scaffolds.running.hearing import SHORT

T = TypeVar("T")
V = TypeVar("V", bound=Value)
#: Tokens of a short form that holds texts.
TEXTS = 600


@dataclass(frozen=True)
class AskedAgain(Generic[T]):
    """A second question. `asks` is a file of `shared/again`, `asks_json` the variant for JSON under `schema`.

    `read(second, first)` reads the answer to it; the first answer may have been cut off. `values` fill the questions. `ending`
    is the tag that the first answer ends with, where some engines can keep to its values. `examines`: it is a verdict on the
    script, which needs an examination where the first answer only repeats its prompt.
    """

    read: Callable[[Final, Final], T | Unscored]
    asks: str = "form"
    asks_json: str = ""
    schema: dict[str, Any] | None = None
    tokens: int | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    ending: Ending | None = None
    examines: bool = False


def texts(fewest: int, most: int) -> dict[str, Any]:
    """The schema of a list of short texts."""
    return {"type": "array", "items": TEXT, "minItems": fewest, "maxItems": most}


def tokens_for(decided: int) -> int:
    """Enough tokens for the given number of decisions."""
    return SHORT + 16 * decided


def short_read(final: Final, shape: type[V]) -> V | Unscored:
    """An answer in a short form."""
    answer = whole_answer(final)
    if isinstance(answer, Unscored):
        return answer
    value = json_within(answer, *shape.model_fields)
    if value is None:
        return Unscored(reason="there is no object of JSON")
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        where = " ".join(str(part) for part in first["loc"])
        return Unscored(reason=f"{where}: {first['msg'].removeprefix('Value error, ')[:160]}")
