"""A grader's desk: prompts filled in, answers asked for, read, and asked for once more where their form is broken."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from apps.reasoning.domain.generation import Final, Place
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.graders.material import Material
from apps.reasoning.prompts.loader import load
from apps.reasoning.reading.answers import whole_answer
from apps.reasoning.reading.foreign import clean
from apps.reasoning.scaffolds.candidates.desk import Desk
from apps.reasoning.texts.invisible import invisible_in

T = TypeVar("T")
RAW_LENGTH = 20_000
REPAIR = "grading/repair"
_FLAGS = {
    "control token": "tokens of a chat template stand in the text",
    "answer tag": "the text holds tags in which a grader answers",
    "addresses the reader": "the text addresses whoever grades it",
}


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

    @cached_property
    def script(self) -> str:
        """The numbered script inside its fence."""
        return self.desk.content(self.material.numbered)

    @cached_property
    def suspicious(self) -> tuple[str, ...]:
        """What in the script is not seen, or is not said to a reader of mathematics."""
        source = self.material.source
        flags = [_FLAGS[flag] for flag in clean(source).flags if flag in _FLAGS]
        return (*invisible_in(source), *flags)

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
    ) -> T | Unread:
        """An answer under exactly this key that could be read, after one repair at most.

        A text that was cut off, or a call that failed, is not repaired: there is no judgement in it to write down again.
        """
        place = place or Place(subject=key.split("/")[0])
        answer_form = self.form(form)
        asked = {"answer_form": answer_form, **values}
        final = await self.desk.ask(key, role=role, prompt=prompt, values=asked, place=place, schema=shape.model_json_schema())
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
        repaired = await self._repaired(f"{key}/repair", role, shown, place, shape)
        again = repaired if isinstance(repaired, Unscored) else read(repaired)
        if not isinstance(again, Unscored):
            return again
        if isinstance(repaired, Final):
            self.desk.unread(f"{key}/repair", role, again.reason)
        return Unread(reason=f"{found.reason}; asked again: {again.reason}", raw=final.text[:RAW_LENGTH])

    async def _repaired(
        self, key: str, role: str, shown: Mapping[str, str], place: Place, shape: type[Value]
    ) -> Final | Unscored:
        """The same judgement, asked for once more in its form."""
        return await self.desk.ask(key, role=role, prompt=REPAIR, values=shown, place=place, schema=shape.model_json_schema())
