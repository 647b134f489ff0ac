"""Second answers as JSON, for engines that follow a schema: one action of a turn, or a list of texts.

Lists have a maximum length; strings have none, because an engine that follows a regular expression needs a state for each
character of a bounded string, and minutes for a list of them. An answer cut at its token limit is read as far as it goes.
"""

import re
from typing import Any, Literal, NamedTuple

from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.answers import answer_part, plain_word, read_json
from apps.reasoning.reading.closings import json_within
from apps.reasoning.reading.proofs import Way

Field = Literal["steps", "code", "judgement"]
_SUBSTANCE = re.compile(r"\w")
_JUDGEMENTS = {"correct": True, "incorrect": False}
#: At the end of a text: a piece six times or more and the beginning of the next.
_LOOP = re.compile(r"(.{3,160}?)\1{5,}.{0,160}\Z", re.DOTALL)
_LOOKED_AT = 2_000
_CLOSES = {"{": "}", "[": "]"}


def texts_schema(field: str, most: int, shortest: int = 1) -> dict[str, Any]:
    """An object whose one field is a list of one to `most` texts of at least `shortest` characters."""
    texts = {"type": "array", "items": {"type": "string", "minLength": shortest}, "minItems": 1, "maxItems": most}
    return _object({field: texts})


def turn_schema(finishing: Literal["answer", "report"], *, is_last: bool) -> dict[str, Any]:
    """The schema of a turn: what ends the conversation or, before the last turn, code line by line."""
    ending = texts_schema("steps", 16, 20) if finishing == "answer" else _object({"judgement": {"enum": [*_JUDGEMENTS]}})
    return ending if is_last else {"anyOf": [ending, texts_schema("code", 40)]}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


class Texts(NamedTuple):
    """A list of texts; `is_cut` if the token limit cut it off."""

    texts: tuple[str, ...]
    is_cut: bool


class TurnForm(NamedTuple):
    """The one thing that a turn does: `field` names it, `value` is its content."""

    field: Field
    value: dict[str, Any]
    is_cut: bool

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of its list, or its one text in lines."""
        return _listed(self.value.get(self.field))

    @property
    def code(self) -> str:
        """The lines as one text; of a list that was cut off the last line is left out where there are others."""
        lines = self.texts[:-1] if self.is_cut and len(self.texts) > 1 else self.texts
        return "\n".join(line.rstrip("\n") for line in lines)

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps of a solution that are not empty."""
        return tuple(text.strip() for text in self.texts if _SUBSTANCE.search(text))

    @property
    def way(self) -> Way:
        """How its solution was found."""
        return "cut" if self.is_cut else "tags"

    def repeats(self, prompt: str) -> bool:
        """Is all its content copied from `prompt`, the text that the model was asked with?"""
        said = [" ".join(text.split()).lower() for text in self.texts if _SUBSTANCE.search(text)]
        return self.field != "judgement" and all(text in " ".join(prompt.split()).lower() for text in said)

    @property
    def correct(self) -> bool | None:
        """The judgement; None if the turn is no judgement."""
        return _JUDGEMENTS.get(str(plain_word(self.value.get("judgement"))))


def read_texts(final: Final, field: str) -> Texts | None:
    """The texts of the answer's JSON object under `field`; None where it has none."""
    found = _value(final, field)
    said = (without_loop(text.strip()) for text in _listed(found.get(field)) if _SUBSTANCE.search(text)) if found else ()
    texts = tuple(dict.fromkeys(said))
    return Texts(texts, _is_cut(final)) if texts else None


def without_loop(text: str) -> str:
    """The text up to where it only repeats itself, as a model does that never stops; a repeated piece is kept once."""
    at = max(0, len(text) - _LOOKED_AT)
    found = _LOOP.search(text, at)
    if found is None:
        return text
    start, piece = found.start(), found[1]
    while start >= len(piece) and text.startswith(piece, start - len(piece)):
        start -= len(piece)
    return text[: start + len(piece)].rstrip()


def read_turn_form(final: Final) -> TurnForm | Unscored | None:
    """The action of a turn as one JSON object; None where the answer is none. Two actions at once are Unscored."""
    fields: tuple[Field, ...] = ("steps", "code", "judgement")
    found = _value(final, *fields)
    named = [field for field in fields if found and field in found]
    if found is None or not named:
        return None
    if len(named) > 1:
        return Unscored(reason=f"there are {len(named)} actions, and a turn has one")
    form = TurnForm(named[0], found, _is_cut(final))
    if form.field == "judgement":
        return form if form.correct is not None else Unscored(reason="the judgement is neither correct nor incorrect")
    if not any(_SUBSTANCE.search(text) for text in form.texts):
        return Unscored(reason=f'"{form.field}" is empty')
    return form


def completed(written: str) -> str:
    """Cut-off JSON with the missing closing signs; its last value ends at the cut."""
    open_, quoted, escaped = list[str](), False, False
    for sign in written:
        if quoted:
            quoted, escaped = (escaped or sign != '"'), sign == "\\" and not escaped
        elif sign == '"':
            quoted = True
        elif sign in _CLOSES:
            open_.append(_CLOSES[sign])
        elif open_ and sign == open_[-1]:
            open_.pop()
    text = (written[:-1] if escaped else written) + '"' if quoted else written.rstrip().removesuffix(",")
    return text + "".join(reversed(open_))


def _value(final: Final, *fields: str) -> dict[str, Any] | None:
    answer = answer_part(final.text)
    if isinstance(answer, Unscored):
        return None
    if _is_cut(final):
        return read_json(completed(answer))
    return json_within(answer, *fields)


def _listed(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(value.split("\n"))
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def _is_cut(final: Final) -> bool:
    return final.finish_reason != "stop"
