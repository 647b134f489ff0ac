"""Calls with a second request: if an answer is unreadable, one more turn of the same conversation follows.

The second turn is short and asks only for the closing (a decision, a score, a choice), under a JSON Schema if the role's engine
enforces one; or it asks for the whole solution again. It is a separate journaled call under `<key>/again`, so that it counts in
budgets and is never repeated. The engine has the conversation so far in its prefix cache.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from apps.reasoning.domain.events import OutputUnread
from apps.reasoning.domain.generation import Ending, Final, Message, OfferedTool, Place
from apps.reasoning.domain.values import Unscored
from apps.reasoning.ports import Context
from apps.reasoning.prompts.fitting import Chosen, Growing, Passage, fits, fitted, middle_out
from apps.reasoning.prompts.loader import Fit, RenderedPrompt, load, render
from apps.reasoning.reading.answers import answer_part
from apps.reasoning.reading.echoes import SHORTEST_WHOLE, has_example, is_echo, is_of_instructions
from apps.reasoning.reading.examinations import EXAMINATION_TOKENS, examined, shape_shown, with_examination
from apps.reasoning.reading.foreign import clean_text
from apps.reasoning.reading.layouts import UNCHANGED
from apps.reasoning.reading.schemas import choice_schema
from apps.reasoning.scaffolds.running.asking import asked, room_for

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
#: Key suffix of the second call, after an unreadable first answer.
AGAIN = "again"
#: Key suffix of a second call without schema, after the call with one failed.
IN_WORDS = "in_words"
#: Most characters of the first answer in the second turn; the middle of a longer one is left out.
LONGEST_BEFORE = 16_000
#: Tokens of a closing: a JSON object with one field, and a little prose for engines without schemas.
SHORT = 200
_NOTHING = "(no answer)"
_ECHO = "(I only repeated what was asked.)"
_LEFT_OUT = "(My answer is left out here: it is too long.)"
#: Files of shared/again that precede the question, by its reason.
_BEFORE = {UNCHANGED: "shared/again/unchanged"}
COPIED = "it copies the example of what was asked"


@dataclass(frozen=True)
class Reading(Generic[T_co]):
    """How to read an answer, and how to request it again if `read` finds nothing.

    `asks`: question in `shared/again`, or the path of one. `read_again(second, first)`: reader of its answer; `first` is the
    text of the first answer, whose reasons still count. `schema`: form of the second answer on engines that enforce schemas,
    with the question `asks_json` if it differs. `tokens`: limit of the second answer. `values`: placeholders of the
    questions; `objection` is the reason why the first answer is unreadable. `instead`: another reading, chosen by the first
    answer. `ending`: final tag of the first answer if it holds one of a few values; some engines enforce it. `examined`: like
    `read_again`, after a first answer that only repeats its prompt; the examination then comes with the second answer. It
    needs a `schema`. `is_kept`: the first answer was read and stays; the second only adds to it, so neither counts as unread.
    """

    read: Callable[[Final], T_co | Unscored]
    asks: str
    read_again: Callable[[Final, str], T_co | Unscored]
    schema: dict[str, Any] | None = None
    tokens: int | None = None
    asks_json: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    ending: Ending | None = None
    instead: "Callable[[Final], Reading[T_co]] | None" = None
    examined: Callable[[Final, str], T_co | Unscored] | None = None
    is_kept: bool = False

    def after_an_echo(self, prompt: RenderedPrompt) -> "Reading[T_co]":
        """Return a reading that requests the verdict together with an examination."""
        read, schema = self.examined, self.schema
        if read is None or schema is None:
            return self

        def read_again(second: Final, first: str) -> T_co | Unscored:
            found = examined(second, prompt.text)
            return found if isinstance(found, Unscored) else read(*found)

        longer = with_examination(schema)
        return replace(
            self,
            read_again=read_again,
            schema=longer,
            asks="examined",
            asks_json="examined",
            tokens=(self.tokens or SHORT) + EXAMINATION_TOKENS,
            values={**self.values, "shape": shape_shown(longer)},
        )

    def questions(self, key: str, objection: str, *, with_schema: bool) -> Iterator[tuple[str, str, dict[str, Any] | None]]:
        """Key, question and schema of the second call. Some servers reject schemas: a call that fails is made once in words."""
        if with_schema and self.schema is not None:
            yield key, self.question(self.asks_json or self.asks, objection), self.schema
            key = f"{key}/{IN_WORDS}"
        yield key, self.question(self.asks, objection), None

    def question(self, name: str, objection: str) -> str:
        """The question `name` with its placeholders filled, after the preface for this objection."""
        prompt = load(name if "/" in name else f"shared/again/{name}")
        given = {**self.values, "objection": clean_text(objection).rstrip(".")}
        before = f"{load(_BEFORE[objection]).system}\n\n" if objection in _BEFORE else ""
        return before + render(prompt, {place: given[place] for place in prompt.placeholders}).text


def asked_before(key: str) -> str:
    """The key of the first call of a conversation, from the key of its second one; "" for other calls."""
    first = key.removesuffix(f"/{IN_WORDS}").removesuffix(f"/{AGAIN}")
    return first if first != key else ""


class Heard(NamedTuple, Generic[T]):
    """The value read and the call it came from; if unreadable, `call` is the last call. `final` is the call's answer."""

    value: T | Unscored
    call: str
    final: Final | None = None


async def heard(
    ctx: Context,
    key: str,
    *,
    role: str,
    prompt: RenderedPrompt,
    place: Place,
    reading: Reading[T],
    schema: dict[str, Any] | None = None,
    tools: Sequence[OfferedTool] = (),
    stops: tuple[str, ...] = (),
) -> Heard[T]:
    """Make a call and read its value, with at most one second request. Each unreadable answer is recorded with its reason.

    Both answers end at the first of `stops`.
    """
    ask = partial(asked, ctx, role=role, place=place, stops=stops)
    first = await ask(key, prompt=prompt, schema=schema, tools=tools, ending=reading.ending)
    if isinstance(first, Unscored):
        return Heard(first, key)
    found = own(reading.read(first), first, prompt)
    if not isinstance(found, Unscored):
        return Heard(found, key, first)
    reading = reading.instead(first) if reading.instead else reading
    text = _ECHO if found.reason in (UNCHANGED, COPIED) else _text_of(first, prompt.text)
    if text in (_ECHO, _NOTHING):
        reading = reading.after_an_echo(prompt)
    if not reading.is_kept:
        ctx.emit(f"{key}/unread", OutputUnread(call=key, role=role, reason=found.reason, again=f"{key}/{AGAIN}"))
    said: Final | Unscored = found
    for second, question, form in reading.questions(f"{key}/{AGAIN}", found.reason, with_schema=ctx.keeps_to_schemas(role)):
        longer = _longer(ctx, role, prompt, text, reading, question)
        said = await ask(second, prompt=longer, schema=form, tokens=reading.tokens)
        if isinstance(said, Final):
            break
    if isinstance(said, Unscored):
        return Heard(said, second, first)
    if isinstance(value := own(reading.read_again(said, text), said, prompt), Unscored) and not reading.is_kept:
        ctx.emit(f"{second}/unread", OutputUnread(call=second, role=role, reason=value.reason))
    return Heard(value, second, said)


def choosing(
    asks: str,
    name: str,
    choices: Sequence[str | float],
    read: Callable[[Final], T | Unscored],
    read_again: Callable[[Final, str], T | Unscored],
    *,
    examines: bool = True,
) -> Reading[T]:
    """A reading of one of a few choices: the first answer ends with the tag `name`, the second one is a JSON object.

    `examines`: the choice is a verdict on a given text, not on the role's own.
    """
    return Reading(
        read,
        asks,
        read_again,
        choice_schema(name, *choices),
        tokens=SHORT,
        ending=ending(name, *choices),
        examined=read_again if examines else None,
    )


def own(found: T | Unscored, final: Final, prompt: RenderedPrompt) -> T | Unscored:
    """The value read, unless the answer copies its prompt's example or only repeats the prompt's words."""
    answer = answer_part(final.text)
    if isinstance(answer, Unscored):
        return found
    read = getattr(found, "text", None)
    if has_example(read if isinstance(read, str) else answer, prompt.text) or (
        len(answer) >= SHORTEST_WHOLE and is_of_instructions(answer, prompt.text)
    ):
        return Unscored(reason=COPIED)
    return found


def ending(tag: str, *choices: str | float) -> Ending:
    """An ending with the given tag and choices; whole numbers are written without a decimal point."""
    return Ending(tag=tag, values=tuple(one if isinstance(one, str) else f"{one:g}" for one in choices))


def _longer(
    ctx: Context, role: str, prompt: RenderedPrompt, answer: str, reading: Reading[Any], question: str
) -> RenderedPrompt:
    """The conversation with the answer and one more question; an answer that is too long is shortened or left out."""

    def make(chosen: Chosen) -> RenderedPrompt:
        (first,) = chosen["answer"]
        turns = (Message(role="assistant", content=first.text), Message(role="user", content=question))
        return RenderedPrompt(messages=(*prompt.messages, *turns), parts=(*prompt.parts, first.text, question))

    room = room_for(ctx, role, reading.tokens)
    part = Growing((Passage("the first answer", answer),), show=lambda passages: passages[0].text, least=1)
    longer = fitted(make, {"answer": part}, room)
    if room is None or fits(longer, room):
        return longer
    return make({"answer": (Passage("the first answer", _LEFT_OUT),)}).model_copy(
        update={"fit": Fit(left_out=("the first answer",))}
    )


def _text_of(final: Final, prompt: str) -> str:
    """The answer without thinking, for the second turn. An echo is left out, because a model that sees one repeats it."""
    answer = answer_part(final.text)
    text = answer if isinstance(answer, str) else ""
    if is_echo(text, prompt):
        return _ECHO
    return middle_out(text, LONGEST_BEFORE) or _NOTHING
