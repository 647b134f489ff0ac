"""A grader's desk: prompts, calls, and the reading of answers with at most one second request."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Generic, TypeVar

from apps.reasoning.domain.generation import Final, Place
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.graders.judging.asked_again import AskedAgain
from apps.reasoning.graders.judging.suspicion import answers_inert, suspicious_in
from apps.reasoning.graders.material import Material
from apps.reasoning.prompts.loader import load
from apps.reasoning.scaffolds.candidates.desk import Desk
from apps.reasoning.scaffolds.running.hearing import COPIED, Reading

T = TypeVar("T")
RAW_LENGTH = 20_000


#: Keywords that engines unroll into their grammars, for minutes; readers of answers check lengths instead.
_LENGTHS = frozenset({"maxLength", "maxItems"})


@cache
def schema_of(shape: type[Value]) -> dict[str, Any]:
    """The JSON Schema of a form, without lengths. Cached: making it takes a tenth of a grading's own time."""
    schema: dict[str, Any] = _without_lengths(shape.model_json_schema())
    return schema


def _without_lengths(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_lengths(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: _without_lengths(one) for name, one in schema.items() if name not in _LENGTHS}


class Unread(Value):
    """An unreadable answer: the reason and the raw text."""

    reason: str
    raw: str = ""


@dataclass
class _Listener(Generic[T]):
    """The reading of one answer. `unread`: the first answer, with the reason if it is unreadable."""

    read: Callable[[Final], T | Unscored]
    again: AskedAgain[T]
    unread: tuple[Final, str] | None = None

    def reading(self, forms: Mapping[str, str]) -> Reading[T]:
        """The `Reading` of a conversation; `forms` fill its questions."""
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
            raise ValueError("a second answer needs an unreadable first one")
        return self.again.read(second, self.unread[0])

    def _examined(self, second: Final, examination: str) -> T | Unscored:
        return self.again.read(second, Final(text=examination, finish_reason="stop", usage=second.usage))

    def ended(self, found: T | Unscored) -> T | Unread:
        """The value read, or the reason with the first answer."""
        if not isinstance(found, Unscored):
            return found
        if self.unread is None:
            return Unread(reason=found.reason)
        final, reason = self.unread
        return Unread(reason=f"{reason}; asked again: {found.reason}", raw=final.text[:RAW_LENGTH])


@dataclass
class GraderDesk:
    """The shared state of all graders of one script."""

    desk: Desk
    material: Material
    #: Pieces made in this run, by name, so that combined graders make each once.
    made: dict[str, dict[str, Any]] = field(default_factory=dict)
    #: The steps in neutral words, if the rewriting is judged (rewriting.py).
    rewriting: tuple[str, ...] = ()
    #: The end of every prompt that judges the script (formula_marks.py).
    marks: str = ""

    @property
    def script(self) -> str:
        """The fenced script with numbered steps, or its neutral rewriting. Answers inside it are made inert."""
        steps = "\n\n".join(f"Step {number}. {text}" for number, text in enumerate(self.rewriting, 1))
        return self.foreign(steps or self.material.numbered)

    def foreign(self, text: str) -> str:
        """Fence a foreign text; answers inside it are made inert."""
        return self.desk.content(answers_inert(text))

    def foreign_listed(self, pieces: Iterable[tuple[str, str]]) -> str:
        """Fence several foreign texts separately, under our own headings."""
        return self.desk.listed((heading, answers_inert(text)) for heading, text in pieces)

    @cached_property
    def suspicious(self) -> tuple[str, ...]:
        """Invisible or suspicious passages of the script, in words."""
        return suspicious_in(self.material.source, self.material.steps)

    def form(self, name: str) -> str:
        """The form of the answer: `grading/forms/<name>_tags`, or `_json` with structured output."""
        return load(f"grading/forms/{name}_{'json' if self.desk.structured else 'tags'}").system

    @cached_property
    def shown(self) -> str:
        """All texts shown to a judge of the script; repeating their words is no judgement."""
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
        ending: str = "",
    ) -> T | Unread:
        """Ask and read the answer, with at most one more question in the same conversation, under `<key>/again`.

        `again` is that question; by default it requests the whole form again. The `ending` comes after the prompt.
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
            ending=ending,
        )
        return listener.ended(heard.value)
