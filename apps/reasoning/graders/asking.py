"""A grader's desk: prompts filled in, answers asked for, read, and asked for once more where their form is broken."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, TypeVar

from apps.reasoning.domain.generation import Final, Place
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.graders.material import Material
from apps.reasoning.graders.suspicion import answers_inert, suspicious_in
from apps.reasoning.prompts.loader import load
from apps.reasoning.reading.answers import whole_answer
from apps.reasoning.scaffolds.candidates.desk import Desk

T = TypeVar("T")
RAW_LENGTH = 20_000
REPAIR = "grading/repair"


#: What engines unroll into their grammars, for minutes; whoever reads an answer looks at its lengths.
_LENGTHS = frozenset({"maxLength", "maxItems"})


@cache
def schema_of(shape: type[Value]) -> dict[str, Any]:
    """The JSON Schema of a form without its lengths, made once: making it costs a tenth of a grading without its model."""
    schema: dict[str, Any] = _without_lengths(shape.model_json_schema())
    return schema


def _without_lengths(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_lengths(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: _without_lengths(one) for name, one in schema.items() if name not in _LENGTHS}


class Unread(Value):
    """No answer that can be read: why, and what was written instead."""

    reason: str
    raw: str = ""


@dataclass
class GraderDesk:
    """What all graders of one script share."""

    desk: Desk
    material: Material
    #: Pieces made in this run, by name: graders that are combined make each once.
    made: dict[str, dict[str, Any]] = field(default_factory=dict)
    #: The steps in neutral words, where the script is judged in these (rewriting.py).
    rewriting: tuple[str, ...] = ()

    @property
    def script(self) -> str:
        """The numbered script, or its neutral rewriting, inside its fence. Answers that stand in it are made inert."""
        steps = "\n\n".join(f"Step {number}. {text}" for number, text in enumerate(self.rewriting, 1))
        return self.foreign(steps or self.material.numbered)

    def foreign(self, text: str) -> str:
        """A text of strangers inside its fence; answers that stand in it are made inert."""
        return self.desk.content(answers_inert(text))

    def foreign_listed(self, pieces: Iterable[tuple[str, str]]) -> str:
        """Several of them under headings of ours, each in a fence of its own."""
        return self.desk.listed((heading, answers_inert(text)) for heading, text in pieces)

    @cached_property
    def suspicious(self) -> tuple[str, ...]:
        """What in the script is not seen, or is not said to a reader of mathematics."""
        return suspicious_in(self.material.source, self.material.steps)

    def form(self, name: str) -> str:
        """How to answer: `grading/forms/<name>_tags`, or `_json` where a schema is asked for."""
        return load(f"grading/forms/{name}_{'json' if self.desk.structured else 'tags'}").system

    async def ask(
        self,
        key: str,
        *,
        role: str,
        prompt: str,
        values: Mapping[str, str],
        form: str,
        shape: type[Value],
        read: Callable[[Final], T | Unscored],
        place: Place | None = None,
        repair: str = REPAIR,
    ) -> T | Unread:
        """An answer under exactly this key that could be read, after one repair at most, with the prompt `repair`.

        A text that was cut off, or a call that failed, is not repaired: there is no judgement in it to write down again.
        """
        place = place or Place(subject=key.split("/")[0])
        answer_form = self.form(form)
        asked = {"answer_form": answer_form, **values}
        final = await self.desk.ask(key, role=role, prompt=prompt, values=asked, place=place, schema=schema_of(shape))
        if isinstance(final, Unscored):
            return Unread(reason=final.reason)
        found = read(final)
        if not isinstance(found, Unscored):
            return found
        whole = whole_answer(final)
        self.desk.unread(key, role, found.reason)
        if isinstance(whole, Unscored):
            return Unread(reason=found.reason, raw=final.text[:RAW_LENGTH])
        shown = {"answer": self.desk.content(whole), "objection": self.desk.content(found.reason), "answer_form": answer_form}
        repaired = await self._repaired(f"{key}/repair", role, repair, shown, place, shape)
        again = repaired if isinstance(repaired, Unscored) else read(repaired)
        if not isinstance(again, Unscored):
            return again
        if isinstance(repaired, Final):
            self.desk.unread(f"{key}/repair", role, again.reason)
        return Unread(reason=f"{found.reason}; asked again: {again.reason}", raw=final.text[:RAW_LENGTH])

    async def _repaired(
        self, key: str, role: str, prompt: str, shown: Mapping[str, str], place: Place, shape: type[Value]
    ) -> Final | Unscored:
        """The same judgement, asked for once more in its form."""
        return await self.desk.ask(key, role=role, prompt=prompt, values=shown, place=place, schema=schema_of(shape))
