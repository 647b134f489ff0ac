"""A conversation of a model with tools: turns with one action each, until the final action.

Source of the loop: AlphaApollo §2.1, App. B. Scaffolds say how a turn is asked and what an action does.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, Protocol, TypeVar

from apps.reasoning.domain.agent_events import ActionKind, Lookup, TurnTaken
from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.ports import Context
from apps.reasoning.reading.answers import answer_part
from apps.reasoning.reading.turns.actions import Action, Finishing
from apps.reasoning.scaffolds.running.hearing import Heard

T = TypeVar("T")
MOST_SAID = 6_000
#: Longest response, in characters.
MOST_SHOWN = 4_000
_TOOLS = ("python_code", "local_rag", "check_formulas")


class Speaker(Protocol):
    """Who holds a conversation, and where: the final action, the prefix of its calls, and the place in the run."""

    @property
    def role(self) -> str: ...

    @property
    def finishing(self) -> Finishing: ...

    @property
    def prefix(self) -> str: ...

    @property
    def about(self) -> str: ...

    @property
    def round(self) -> int: ...

    @property
    def index(self) -> int: ...


class Turn(NamedTuple, Generic[T]):
    """A turn as read: its action, and what it submits if it is the final one."""

    action: Action
    handed_in: T | None = None


class Exchange(Value):
    """One turn as later turns see it."""

    turn: int
    said: str
    response: str

    @property
    def text(self) -> str:
        """What was said and answered."""
        response = f"\n\nTool response:\n{self.response}" if self.response else ""
        return f"Turn {self.turn}\n{self.said}{response}"


class Done(Value):
    """The result of a turn. `ends`: the conversation ends without a submission."""

    action: ActionKind
    problem: str = ""
    content: str = ""
    repairs: tuple[str, ...] = ()
    tool: str = ""
    response: str = ""
    succeeded: bool | None = None
    lookup: Lookup | None = None
    ends: bool = False


@dataclass
class Conversation(Generic[T]):
    """The result of a conversation. `ending` is what the final action submitted, None without one; `call` is the last call.

    `checks` counts formula checks; `off` is the response of a tool that is off.
    """

    ending: T | None = None
    call: str = ""
    exchanges: list[Exchange] = field(default_factory=list)
    why_not: str = ""
    checks: int = 0
    off: str = ""

    @property
    def text(self) -> str:
        return "\n\n".join(exchange.text for exchange in self.exchanges)


Hear = Callable[[int, str, Sequence[Exchange]], Awaitable[Heard[Turn[T]]]]
"""Asks for turn n under a call key, after the given turns."""
Act = Callable[[int, str, Action | Unscored, Conversation[T]], Awaitable[Done]]
"""Does what a turn wants, or says why it cannot be done."""


async def take_turns(
    ctx: Context, seat: Speaker, most: int, hear: Hear[T], act: Act[T], *, most_said: int = MOST_SAID
) -> Conversation[T]:
    """Take turns until the final action, at most `most`. Raises what `Context` raises.

    `most_said`: most characters of a turn's text in later prompts.
    """
    talk = Conversation[T]()
    for turn in range(1, most + 1):
        read, said_in, final = await hear(turn, f"{seat.prefix}/turn/{turn}", talk.exchanges)
        talk.call = said_in
        if final is None:
            talk.why_not = read.reason if isinstance(read, Unscored) else ""
            break
        action = read if isinstance(read, Unscored) else read.action
        if not isinstance(read, Unscored) and read.handed_in is not None:
            talk.ending = read.handed_in
            talk.exchanges.append(Exchange(turn=turn, said=_said(final, action, most_said), response=""))
            _emit(ctx, seat, turn, most, said_in, Done(action=read.action.kind))
            return talk
        done = await act(turn, said_in, action, talk)
        talk.checks += done.action == "check_formulas"
        unread = f": {read.reason}" if isinstance(read, Unscored) else ""
        talk.why_not = f"after {turn} turn{'s' * (turn > 1)} there was no <{seat.finishing}>{unread}"
        talk.exchanges.append(Exchange(turn=turn, said=_said(final, action, most_said), response=done.response))
        _emit(ctx, seat, turn, most, said_in, done)
        if done.ends:
            break
    return talk


def _emit(ctx: Context, seat: Speaker, turn: int, most: int, call: str, done: Done) -> None:
    event = TurnTaken(
        conversation=seat.prefix,
        role=seat.role,
        about=seat.about,
        round=seat.round,
        index=seat.index,
        turn=turn,
        of=most,
        call=call,
        **done.model_dump(exclude={"ends"}),
    )
    ctx.emit(f"{call}/taken", event)


def _said(final: Final, action: Action | Unscored, most: int) -> str:
    """A turn's text for later prompts: the part after the thinking, shortened. A native call is written in plain words, because
    the special tokens of an engine mean nothing, or something else, in a prompt."""
    if isinstance(action, Action) and action.called:
        named = f"Called {action.kind} with:\n" if action.kind in _TOOLS else ""
        return cut(f"{action.before}\n\n{named}{action.content}".strip(), most)
    answer = answer_part(final.text)
    return cut(final.text if isinstance(answer, Unscored) else answer, most)


def cut(text: str, limit: int) -> str:
    """Shorten to `limit` characters and a mark: keep the beginning and the end, because tracebacks end with the error."""
    if len(text) <= limit:
        return text
    head, tail = limit // 2, limit - limit // 2
    return f"{text[:head]}\n… ({len(text) - limit:,} characters left out) …\n{text[-tail:]}"
