"""Asking until an answer can be read: the call and, where nothing can be read in it, one more turn of the same conversation.

The second turn is short and asks for the closing alone: a decision, a score, a choice, under a JSON Schema where the role's
engine can hold to one; or for the whole solution once more. It is a journaled call of its own, under `<key>/again`, so that it
counts in budgets and is never made twice. The engine has the conversation up to there in its prefix cache.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from apps.reasoning.scaffolds.asking import asked, room_for

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
#: The second call of a conversation, whose first answer could not be read.
AGAIN = "again"
#: The same without a schema, where the call with one failed.
IN_WORDS = "in_words"
#: Characters of the first answer that the second turn sees; the middle of a longer one is left out.
LONGEST_BEFORE = 16_000
#: Tokens of a closing: a JSON object of one field, with a little prose for engines that keep to no schema.
SHORT = 200
_NOTHING = "(no answer)"
_ECHO = "(I only repeated what was asked.)"
_LEFT_OUT = "(My answer is left out here: it is too long.)"
#: Files of shared/again that come before the question, by the reason why it is asked.
_BEFORE = {UNCHANGED: "shared/again/unchanged"}
COPIED = "it copies the example of what was asked"


@dataclass(frozen=True)
class Reading(Generic[T_co]):
    """How an answer is read, and asked for once more where `read` gives nothing.

    `asks` is a file of `shared/again`; `read_again(second, first)` reads the answer to it, and `first` is the text of the first
    answer, whose reasons still count. `schema` holds the second answer to its form where the engine can, and `asks_json` is the
    question then, where it is another one; `tokens` are enough. `values` fill what the questions have a place for; why the
    first answer could not be read fills `objection`. `instead` gives another reading by what the first answer holds. `ending`
    is the tag that the first answer shall end with, where it holds one of a few values: some engines can keep to that.
    `examined` reads a verdict after a first answer that only repeats its prompt: `read_again` with the examination that comes
    with the second answer. It needs a `schema`.
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

    def after_an_echo(self, prompt: RenderedPrompt) -> "Reading[T_co]":
        """The reading of a verdict that is asked for together with an examination."""
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

    def question(self, name: str, objection: str) -> str:
        """The question `name` with what it has a place for, after what is said first for this objection."""
        prompt, given = load(f"shared/again/{name}"), {**self.values, "objection": clean_text(objection).rstrip(".")}
        before = f"{load(_BEFORE[objection]).system}\n\n" if objection in _BEFORE else ""
        return before + render(prompt, {place: given[place] for place in prompt.placeholders}).text


def asked_before(key: str) -> str:
    """The first call of a conversation, by the key of its second one; "" for any other call."""
    first = key.removesuffix(f"/{IN_WORDS}").removesuffix(f"/{AGAIN}")
    return first if first != key else ""


class Heard(NamedTuple, Generic[T]):
    """What was read, and in which call; `call` is the last one made where nothing was, `final` what it ended with."""

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
    """The value of an answer, asked for again once. What stays unread is told with its reason, call by call.

    Both answers end at one of `stops` where they come to it.
    """
    held: dict[str, Any] = {"schema": schema, "tools": tools, "stops": stops, "ending": reading.ending}
    first = await asked(ctx, key, role=role, prompt=prompt, place=place, **held)
    if isinstance(first, Unscored):
        return Heard(first, key)
    found = _own(reading.read(first), first, prompt)
    if not isinstance(found, Unscored):
        return Heard(found, key, first)
    return await _heard_again(ctx, key, role, prompt, place, reading, first, found.reason, stops)


async def _heard_again(
    ctx: Context,
    key: str,
    role: str,
    prompt: RenderedPrompt,
    place: Place,
    reading: Reading[T],
    first: Final,
    objection: str,
    stops: tuple[str, ...],
) -> Heard[T]:
    """The value of the second answer; `objection` says why the first one has none."""
    reading = reading.instead(first) if reading.instead else reading
    second, text = f"{key}/{AGAIN}", _ECHO if objection in (UNCHANGED, COPIED) else _text_of(first, prompt.text)
    if text in (_ECHO, _NOTHING):
        reading = reading.after_an_echo(prompt)
    ctx.emit(f"{key}/unread", OutputUnread(call=key, role=role, reason=objection, again=second))
    form = reading.schema if ctx.keeps_to_schemas(role) else None
    asks = reading.asks_json if form is not None and reading.asks_json else reading.asks
    longer = _longer(ctx, role, prompt, text, reading, reading.question(asks, objection))
    said = await asked(ctx, second, role=role, prompt=longer, place=place, schema=form, tokens=reading.tokens, stops=stops)
    if isinstance(said, Unscored) and form is not None:  # Some servers refuse a schema; words are still heard.
        second = f"{second}/{IN_WORDS}"
        longer = _longer(ctx, role, prompt, text, reading, reading.question(reading.asks, objection))
        said = await asked(ctx, second, role=role, prompt=longer, place=place, tokens=reading.tokens, stops=stops)
    if isinstance(said, Unscored):
        return Heard(said, second, first)
    value = _own(reading.read_again(said, text), said, prompt)
    if isinstance(value, Unscored):
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
    """A reading of one of a few choices: the first answer ends with the tag `name`, the second one is an object.

    `examines`: the choice is about a text that the role is shown, and not about its own.
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


def _own(found: T | Unscored, final: Final, prompt: RenderedPrompt) -> T | Unscored:
    """What was read, unless the answer has the example of its prompt, or nothing but its prompt's own words."""
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
    """A tag that holds one of the choices, whole numbers without a point."""
    return Ending(tag=tag, values=tuple(one if isinstance(one, str) else f"{one:g}" for one in choices))


def _longer(
    ctx: Context, role: str, prompt: RenderedPrompt, answer: str, reading: Reading[Any], question: str
) -> RenderedPrompt:
    """The conversation with the answer and one more question; the answer is shortened, or left out, where it is too long."""

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
    """The answer without its thinking, as the second turn sees it. An echo is left out: a model that sees one repeats it."""
    answer = answer_part(final.text)
    text = answer if isinstance(answer, str) else ""
    if is_echo(text, prompt):
        return _ECHO
    return middle_out(text, LONGEST_BEFORE) or _NOTHING
