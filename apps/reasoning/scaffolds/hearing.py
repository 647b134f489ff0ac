"""Asking until an answer can be read: the call and, where nothing can be read in it, one more turn of the same conversation.

The second turn is short and asks for the closing alone: a decision, a score, a choice, under a JSON Schema where the role's
engine can hold to one; or for the whole solution once more. It is a journaled call of its own, under `<key>/again`, so that it
counts in budgets and is never made twice. The engine has the conversation up to there in its prefix cache.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from apps.reasoning.domain.errors import CallFailed
from apps.reasoning.domain.events import OutputUnread
from apps.reasoning.domain.generation import Final, Message, OfferedTool, Place
from apps.reasoning.domain.values import Unscored
from apps.reasoning.ports import Context
from apps.reasoning.prompts.loader import RenderedPrompt, load
from apps.reasoning.reading.answers import answer_part

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


@dataclass(frozen=True)
class Reading(Generic[T_co]):
    """How an answer is read, and asked for once more where `read` gives nothing.

    `asks` is a file of `shared/again`; `read_again(second, first)` reads the answer to it, and `first` is the text of the first
    answer, whose reasons still count. `schema` holds the second answer to its form where the engine can; `tokens` are enough.
    """

    read: Callable[[Final], T_co | Unscored]
    asks: str
    read_again: Callable[[Final, str], T_co | Unscored]
    schema: dict[str, Any] | None = None
    tokens: int | None = None


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
) -> Heard[T]:
    """The value of an answer, asked for again once. What stays unread is told with its reason, call by call."""
    first = await asked(ctx, key, role=role, prompt=prompt, place=place, schema=schema, tools=tools)
    if isinstance(first, Unscored):
        return Heard(first, key)
    found = reading.read(first)
    if not isinstance(found, Unscored):
        return Heard(found, key, first)
    second, text = f"{key}/{AGAIN}", _text_of(first)
    ctx.emit(f"{key}/unread", OutputUnread(call=key, role=role, reason=found.reason, again=second))
    longer = _longer(prompt, text, load(f"shared/again/{reading.asks}").system)
    form = reading.schema if ctx.keeps_to_schemas(role) else None
    said = await asked(ctx, second, role=role, prompt=longer, place=place, schema=form, tokens=reading.tokens)
    if isinstance(said, Unscored) and form is not None:  # Some servers refuse a schema; words are still heard.
        second = f"{second}/{IN_WORDS}"
        said = await asked(ctx, second, role=role, prompt=longer, place=place, tokens=reading.tokens)
    if isinstance(said, Unscored):
        return Heard(said, second, first)
    value = reading.read_again(said, text)
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
) -> Final | Unscored:
    """One call; Unscored where it failed for good (the failure is recorded). `tokens` caps what the role may write."""
    sampling = None
    if tokens is not None:
        own = ctx.sampling(role)
        sampling = own.model_copy(update={"max_new_tokens": min(tokens, own.max_new_tokens)})
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
        )
    except CallFailed as failure:
        return Unscored(reason=f"the call failed: {failure.reason}")


def choice_schema(field: str, *choices: str | float) -> dict[str, Any]:
    """The JSON Schema of an object whose one field is one of the choices."""
    return {
        "type": "object",
        "properties": {field: {"enum": list(choices)}},
        "required": [field],
        "additionalProperties": False,
    }


def _longer(prompt: RenderedPrompt, answer: str, question: str) -> RenderedPrompt:
    """The conversation with the answer and one more question."""
    turns = (Message(role="assistant", content=answer), Message(role="user", content=question))
    return RenderedPrompt(messages=(*prompt.messages, *turns), parts=(*prompt.parts, answer, question))


def _text_of(final: Final) -> str:
    """The answer without its thinking, as the second turn sees it."""
    answer = answer_part(final.text)
    text = answer if isinstance(answer, str) else ""
    if len(text) > LONGEST_BEFORE:
        half = LONGEST_BEFORE // 2
        text = f"{text[:half]}\n[…]\n{text[-half:]}"
    return text or _NOTHING
