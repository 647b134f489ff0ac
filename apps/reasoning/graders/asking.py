"""A grader's desk: prompts filled in, answers asked for, read, and asked for once more where their form is broken."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Generic, TypeVar

from apps.reasoning.domain.generation import Final, Place
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.graders.material import Material
from apps.reasoning.graders.suspicion import answers_inert, suspicious_in
from apps.reasoning.prompts.loader import load
from apps.reasoning.reading.answers import whole_answer
from apps.reasoning.scaffolds.candidates.desk import Desk
from apps.reasoning.scaffolds.hearing import SHORT, Reading, choice_schema

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


class _Broken:
    """In place of an answer whose form is broken: it is not asked for in the same conversation."""


class Unread(Value):
    """No answer that can be read: why, and what was written instead."""

    reason: str
    raw: str = ""


@dataclass(frozen=True)
class TotalAsked(Generic[T]):
    """The question for the total of an answer. `lacks`: whether nothing but the total is missing in an answer; `filled`: that
    answer with the total of the answer to the question. `allowed` are the totals that are possible.
    """

    allowed: tuple[float, ...]
    lacks: Callable[[Final], bool]
    filled: Callable[[Final, str], T | Unscored]

    @property
    def schema(self) -> dict[str, Any]:
        """What holds an engine to one of them."""
        return choice_schema("score", *self.allowed)


@dataclass
class _Listener(Generic[T]):
    """How one answer is read. `unread`: the first answer and why it could not be read, where it could not."""

    read: Callable[[Final], T | Unscored]
    total: TotalAsked[T] | None
    unread: tuple[Final, str] | None = None

    @property
    def reading(self) -> Reading[T | _Broken]:
        """As a conversation is heard."""
        schema = self.total.schema if self.total else None
        return Reading[T | _Broken](self.first, "score", self.again, schema=schema, tokens=SHORT)

    def first(self, final: Final) -> T | _Broken | Unscored:
        """Unscored where the total alone is missing."""
        found = self.read(final)
        if not isinstance(found, Unscored):
            return found
        self.unread = (final, found.reason)
        return found if self.total is not None and self.total.lacks(final) else _Broken()

    def again(self, second: Final, _: str) -> T | Unscored:
        """The first answer with the total of the second one."""
        answer = whole_answer(second)
        if isinstance(answer, Unscored):
            return answer
        if self.total is None or self.unread is None:
            raise ValueError("a total is asked for again after an answer that lacks it")
        return self.total.filled(self.unread[0], answer)

    def ended(self, found: T | _Broken | Unscored) -> T | Unread:
        """What was read, or why nothing was and the first answer."""
        if isinstance(found, _Broken):
            raise ValueError("an answer whose form is broken is repaired")
        if not isinstance(found, Unscored):
            return found
        if self.unread is None:
            return Unread(reason=found.reason)
        final, reason = self.unread
        return Unread(reason=f"{reason}; asked again: {found.reason}", raw=final.text[:RAW_LENGTH])


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

    @cached_property
    def shown(self) -> str:
        """The texts that a judge of the script is shown: their words, repeated, are no judgement."""
        given = self.material
        texts = (given.source, *self.rewriting, given.guidelines_shown, *given.references)
        return "\n".join(answers_inert(text) for text in texts)

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
        total: TotalAsked[T] | None = None,
        place: Place | None = None,
        repair: str = REPAIR,
    ) -> T | Unread:
        """An answer that could be read, after one more question at most.

        Where nothing but the `total` is missing it is asked for in the same conversation, under `<key>/again`. Where the form
        is broken the same judgement is asked for with the prompt `repair`, under `<key>/repair`. A text that was cut off, or a
        call that failed, is not repaired: there is no judgement in it to write down again.
        """
        place = place or Place(subject=key.split("/")[0])
        answer_form = self.form(form)
        heard_by = _Listener[T](read, total)
        heard = await self.desk.hear(
            key,
            role=role,
            prompt=prompt,
            values={"answer_form": answer_form, **values},
            place=place,
            reading=heard_by.reading,
            schema=schema_of(shape),
        )
        found, unread = heard.value, heard_by.unread
        if isinstance(found, _Broken) and unread:
            return await self._repaired(
                key, unread, read, role=role, prompt=repair, answer_form=answer_form, place=place, shape=shape
            )
        return heard_by.ended(found)

    async def _repaired(
        self,
        key: str,
        unread: tuple[Final, str],
        read: Callable[[Final], T | Unscored],
        *,
        role: str,
        prompt: str,
        answer_form: str,
        place: Place,
        shape: type[Value],
    ) -> T | Unread:
        """The same judgement, asked for once more in its form; `unread` is the first answer with why it could not be read."""
        final, reason = unread
        self.desk.unread(key, role, reason)
        raw = final.text[:RAW_LENGTH]
        whole = whole_answer(final)
        if isinstance(whole, Unscored):
            return Unread(reason=reason, raw=raw)
        values = {
            "answer": self.desk.content(whole),
            "objection": self.desk.content(reason),
            "answer_form": answer_form,
        }
        repaired = await self.desk.ask(
            f"{key}/repair", role=role, prompt=prompt, values=values, place=place, schema=schema_of(shape)
        )
        again = repaired if isinstance(repaired, Unscored) else read(repaired)
        if not isinstance(again, Unscored):
            return again
        if isinstance(repaired, Final):
            self.desk.unread(f"{key}/repair", role, again.reason)
        return Unread(reason=f"{reason}; asked again: {again.reason}", raw=raw)
