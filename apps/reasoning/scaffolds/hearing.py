"""Asking until an answer can be read: the call and, where nothing can be read in it, one more turn of the same conversation.

The second turn is short and asks for the closing alone: a decision, a score, a choice, under a JSON Schema where the role's
engine can hold to one; or for the whole solution once more. It is a journaled call of its own, under `<key>/again`, so that it
counts in budgets and is never made twice. The engine has the conversation up to there in its prefix cache.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

from apps.reasoning.domain.errors import CallFailed
from apps.reasoning.domain.events import OutputUnread
from apps.reasoning.domain.generation import Ending, Final, Message, OfferedTool, Place, Sampling
from apps.reasoning.domain.prompt_events import PromptFitted, PromptRefused
from apps.reasoning.domain.values import Unscored
from apps.reasoning.ports import Context
from apps.reasoning.prompts.fitting import Chosen, Growing, Passage, fits, fitted, likely_tokens, middle_out, prompt_tokens
from apps.reasoning.prompts.loader import Fit, RenderedPrompt, load, render
from apps.reasoning.reading.answers import answer_part
from apps.reasoning.reading.echoes import SHORTEST_WHOLE, has_example, is_echo, is_of_instructions
from apps.reasoning.reading.foreign import clean_text
from apps.reasoning.reading.layouts import UNCHANGED

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
#: The second call of a conversation, whose first answer could not be read.
AGAIN = "again"
#: The same without a schema, where the call with one failed.
IN_WORDS = "in_words"
#: Characters of the first answer that the second turn sees; the middle of a longer one is left out.
LONGEST_BEFORE = 16_000
#: The fewest tokens that an answer is given where a prompt that cannot be shortened takes nearly all of the context.
LEAST_ANSWER = 256
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
    reading = reading.instead(first) if reading.instead else reading
    second, text = f"{key}/{AGAIN}", _ECHO if found.reason in (UNCHANGED, COPIED) else _text_of(first, prompt.text)
    ctx.emit(f"{key}/unread", OutputUnread(call=key, role=role, reason=found.reason, again=second))
    form = reading.schema if ctx.keeps_to_schemas(role) else None
    asks = reading.asks_json if form is not None and reading.asks_json else reading.asks
    longer = _longer(ctx, role, prompt, text, reading, reading.question(asks, found.reason))
    said = await asked(ctx, second, role=role, prompt=longer, place=place, schema=form, tokens=reading.tokens, stops=stops)
    if isinstance(said, Unscored) and form is not None:  # Some servers refuse a schema; words are still heard.
        second = f"{second}/{IN_WORDS}"
        longer = _longer(ctx, role, prompt, text, reading, reading.question(reading.asks, found.reason))
        said = await asked(ctx, second, role=role, prompt=longer, place=place, tokens=reading.tokens, stops=stops)
    if isinstance(said, Unscored):
        return Heard(said, second, first)
    value = _own(reading.read_again(said, text), said, prompt)
    if isinstance(value, Unscored):
        ctx.emit(f"{second}/unread", OutputUnread(call=second, role=role, reason=value.reason))
    return Heard(value, second, said)


async def asked(
    ctx: Context,
    key: str,
    *,
    role: str,
    prompt: RenderedPrompt,
    place: Place,
    schema: dict[str, Any] | None = None,
    tokens: int | None = None,
    tools: Sequence[OfferedTool] = (),
    stops: tuple[str, ...] = (),
    ending: Ending | None = None,
) -> Final | Unscored:
    """One call; Unscored where it failed for good (the failure is recorded), or where its prompt is too long to be sent.

    `tokens` caps what the role may write, `stops` end it. What a prompt lacks so that it fits its model's context is told.
    """
    if prompt.fit is not None:
        event = PromptFitted(call=key, role=role, left_out=prompt.fit.left_out, shortened=prompt.fit.shortened)
        ctx.emit(f"{key}/fitted", event)
    sampling = _sampling(ctx, role, prompt, tokens)
    if isinstance(sampling, Unscored):
        ctx.emit(f"{key}/refused", PromptRefused(call=key, role=role, reason=sampling.reason))
        return sampling
    if stops:
        sampling = sampling.model_copy(update={"stop": (*sampling.stop, *stops)})
    try:
        return await ctx.generate(
            key,
            role=role,
            messages=prompt.messages,
            place=place,
            sampling=sampling,
            json_schema=schema,
            parts=prompt.parts,
            tools=tools,
            ending=ending if schema is None and not tools and ctx.ends_by_grammar(role) else None,
        )
    except CallFailed as failure:
        return Unscored(reason=f"the call failed: {failure.reason}")


def room_for(ctx: Context, role: str, tokens: int | None = None) -> int | None:
    """Tokens that a prompt of `role` may take, so that the answer (at most `tokens`) has its room; None: any number."""
    context = ctx.context_tokens(role)
    if context is None:
        return None
    most = ctx.sampling(role).max_new_tokens
    return context - (most if tokens is None else min(tokens, most))


def _sampling(ctx: Context, role: str, prompt: RenderedPrompt, tokens: int | None) -> Sampling | Unscored:
    """How the role samples after this prompt, with less room where it cannot be shorter; Unscored where there is none."""
    own, room = ctx.sampling(role), room_for(ctx, role, tokens)
    most = own.max_new_tokens if tokens is None else min(tokens, own.max_new_tokens)
    if room is not None and not fits(prompt, room):
        bound, context = prompt_tokens(prompt), room + most
        needed = likely_tokens(bound)
        # What is asked for alone needs a third of its tokens; the others are for engines that write words around it.
        least = min(LEAST_ANSWER, most if tokens is None else tokens // 3)
        if context - needed < least:
            return Unscored(
                reason=f"the prompt takes about {needed:,} of the {context:,} tokens that its model can hold, and may not be "
                "shortened further: choose a model with a longer context for this role, or a smaller preset"
            )
        # Beyond the bound it probably fits; where it does not, the engine says so and the call fails.
        most = max(context - bound, least)
    return own if most == own.max_new_tokens else own.model_copy(update={"max_new_tokens": most})


def object_schema(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON Schema of an object with exactly these fields."""
    return {"type": "object", "properties": dict(fields), "required": list(fields), "additionalProperties": False}


def choice_schema(name: str, *choices: str | float | None) -> dict[str, Any]:
    """The JSON Schema of an object whose one field is one of the choices."""
    return decisions({name: choices})


def decisions(choices: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """The JSON Schema of an object with one of its choices for every name."""
    return object_schema({name: {"enum": list(allowed)} for name, allowed in choices.items()})


def choosing(
    asks: str,
    name: str,
    choices: Sequence[str | float],
    read: Callable[[Final], T | Unscored],
    read_again: Callable[[Final, str], T | Unscored],
) -> Reading[T]:
    """A reading of one of a few choices: the first answer ends with the tag `name`, the second one is an object."""
    return Reading(read, asks, read_again, choice_schema(name, *choices), tokens=SHORT, ending=ending(name, *choices))


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
