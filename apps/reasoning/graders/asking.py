"""A grader's desk: prompts filled in, answers asked for, read, and asked for once more."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Generic, TypeVar

from apps.reasoning.domain.generation import Final, Place
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.graders.asked_again import AskedAgain
from apps.reasoning.graders.material import Material
from apps.reasoning.graders.suspicion import answers_inert, suspicious_in
from apps.reasoning.prompts.loader import load
from apps.reasoning.scaffolds.candidates.desk import Desk
from apps.reasoning.scaffolds.hearing import COPIED, Reading

T = TypeVar("T")
RAW_LENGTH = 20_000


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
class _Listener(Generic[T]):
    """How one answer is read. `unread`: the first answer, and why it cannot be read where it is asked for again."""

    read: Callable[[Final], T | Unscored]
    again: AskedAgain[T]
    unread: tuple[Final, str] | None = None

    def reading(self, forms: Mapping[str, str]) -> Reading[T]:
        """As a conversation is heard; `forms` fill its questions."""
        again = self.again
        return Reading[T](
            self._first,
            again.asks,
            self._second,
            schema=again.schema,
            tokens=again.tokens,
            asks_json=again.asks_json,
            ending=again.ending,
            values={**forms, **again.values},
            examined=self._examined if again.examines else None,
        )

    def _first(self, final: Final) -> T | Unscored:
        found = self.read(final)
        self.unread = (final, found.reason if isinstance(found, Unscored) else COPIED)
        return found

    def _second(self, second: Final, _: str) -> T | Unscored:
        if self.unread is None:
            raise ValueError("an answer is asked for again after one that could not be read")
        return self.again.read(second, self.unread[0])

    def _examined(self, second: Final, examination: str) -> T | Unscored:
        return self.again.read(second, Final(text=examination, finish_reason="stop", usage=second.usage))

    def ended(self, found: T | Unscored) -> T | Unread:
        """What was read, or why nothing was and the first answer."""
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
        again: AskedAgain[T] | None = None,
        place: Place | None = None,
    ) -> T | Unread:
        """An answer that could be read, after one more question in the same conversation at most, under `<key>/again`.

        `again` is that question; without it the whole form is asked for once more.
        """
        answer_form = self.form(form)
        whole = AskedAgain[T](lambda second, _: read(second), asks_json="form_json", schema=schema_of(shape))
        listener = _Listener[T](read, again or whole)
        forms = {"answer_form": answer_form, "answer_form_json": load(f"grading/forms/{form}_json").system}
        heard = await self.desk.hear(
            key,
            role=role,
            prompt=prompt,
            values={"answer_form": answer_form, **values},
            place=place or Place(subject=key.split("/")[0]),
            reading=listener.reading(forms),
            schema=schema_of(shape),
        )
        return listener.ended(heard.value)
