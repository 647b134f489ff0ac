"""A conversation of a model with its environment: think, take one action, read the tool's response; finally, answer.

Source: AlphaApollo §2.1, App. B. An unreadable turn is requested once more. If the second answer is also invalid, the model
gets an error response and the turn is used up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from apps.reasoning.domain.agent_events import ActionKind, Lookup, TurnTaken
from apps.reasoning.domain.generation import Final, Place
from apps.reasoning.domain.tools import ToolAnswer
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.prompts.fitting import Growing, Passage
from apps.reasoning.prompts.loader import load
from apps.reasoning.reading.answers import answer_part
from apps.reasoning.reading.proofs import ReadProof
from apps.reasoning.reading.turns.actions import Action, Report, read_query
from apps.reasoning.reading.turns.code import repaired
from apps.reasoning.scaffolds.alpha_apollo.checking import tested
from apps.reasoning.scaffolds.alpha_apollo.functions import functions_of, libraries_of
from apps.reasoning.scaffolds.alpha_apollo.hearing_turns import Turn, reading_of
from apps.reasoning.scaffolds.alpha_apollo.params import Params
from apps.reasoning.scaffolds.alpha_apollo.responses import MOST_SHOWN, blamed_library, code_response, cut
from apps.reasoning.scaffolds.alpha_apollo.retrieving import Found, looked_up
from apps.reasoning.scaffolds.candidates.desk import EMPTY, Desk, Part
from apps.reasoning.scaffolds.running.hearing import Heard

MOST_SAID = 6_000
#: Stop strings after an action, so that the model cannot invent the tool's response.
STOPS = ("</python_code>", "</local_rag>")
OFF = "code execution is off"
_LEMMAS = "alpha_apollo/forms/lemmas"
_CHECK = "checks/forms/tool"


@dataclass(frozen=True)
class Seat:
    """The speaker of a conversation: role, prompt file, name of the final action, and position in the run.

    `about` is the candidate that is written or examined.
    """

    role: str
    prompt: str
    finishing: Literal["answer", "report"]
    prefix: str
    about: str
    round: int
    index: int
    values: Mapping[str, Part]
    #: The end of every prompt of the conversation.
    ending: str = ""


class Exchange(Value):
    """One turn as later turns and the abstractor see it."""

    turn: int
    said: str
    response: str


@dataclass
class Conversation:
    """The result of a conversation. `ending` is what the final action submitted, None without one; `call` is the last call."""

    ending: ReadProof | Report | None = None
    call: str = ""
    exchanges: list[Exchange] = field(default_factory=list)
    why_not: str = ""
    #: Formula checks so far.
    checks: int = 0

    @property
    def text(self) -> str:
        return "\n\n".join(_shown(exchange) for exchange in self.exchanges)


class _Done(Value):
    """The result of a turn."""

    action: ActionKind
    problem: str = ""
    content: str = ""
    repairs: tuple[str, ...] = ()
    tool: str = ""
    response: str = ""
    succeeded: bool | None = None
    lookup: Lookup | None = None


async def converse(desk: Desk, params: Params, seat: Seat) -> Conversation:
    """Take turns until the final action, at most `params.turns`. Raises what `Context` raises."""
    talk = Conversation()
    off = ""
    for turn in range(1, params.turns + 1):
        call = f"{seat.prefix}/turn/{turn}"
        read, said_in, final = await _heard(desk, params, seat, turn, call, talk.exchanges)
        talk.call = said_in
        if final is None:
            talk.why_not = read.reason if isinstance(read, Unscored) else ""
            break
        action = read if isinstance(read, Unscored) else read.action
        if isinstance(read, Turn) and read.handed_in is not None:
            talk.ending = read.handed_in
            talk.exchanges.append(Exchange(turn=turn, said=_said(final, action), response=""))
            _emit_turn(desk, params, seat, turn, said_in, _Done(action=read.action.kind))
            return talk
        done = await _acted(desk, params, seat, turn, said_in, action, off, talk.checks)
        talk.checks += done.action == "check_formulas"
        off = off or (done.response if done.problem == OFF else "")
        unread = f": {read.reason}" if isinstance(read, Unscored) else ""
        talk.why_not = f"after {turn} turn{'s' * (turn > 1)} there was no <{seat.finishing}>{unread}"
        talk.exchanges.append(Exchange(turn=turn, said=_said(final, action), response=done.response))
        _emit_turn(desk, params, seat, turn, said_in, done)
    return talk


async def _heard(desk: Desk, params: Params, seat: Seat, turn: int, call: str, before: Sequence[Exchange]) -> Heard[Turn]:
    """Request one turn, and once more if it has no readable action."""
    is_last, calls_functions = turn == params.turns, desk.ctx.calls_functions(seat.role)
    shown = before[-params.history :]
    values: dict[str, Part] = {
        "tools": "\n\n".join(load(name).system for name in _forms(params, calls_functions=calls_functions)),
        "history": _history(desk, shown),
        "turn": str(turn),
        "turns": str(params.turns),
        "last": f"This is the last turn: only <{seat.finishing}> is possible now." if is_last else "Later turns will follow.",
    }
    values |= seat.values
    writes = seat.finishing == "answer"
    prompt = desk.filled(seat.role, seat.prompt, values, writes_solution=writes, ending=seat.ending)
    stops = _stops(params) if params.stop_at_tools and not is_last else ()
    return await desk.hear(
        call,
        role=seat.role,
        prompt=prompt,
        place=Place(round=seat.round, subject=f"candidate {seat.about}", index=seat.index),
        reading=reading_of(seat.finishing, prompt, stops, is_last=is_last, checks=bool(params.check_tool)),
        tools=functions_of(params) if calls_functions and not is_last else (),
        stops=stops,
    )


def _forms(params: Params, *, calls_functions: bool) -> list[str]:
    """The prompt files that describe the tools."""
    names = ["alpha_apollo/forms/functions" if calls_functions else "alpha_apollo/forms/tools"]
    names += [_LEMMAS] if params.earlier_lemmas != "none" else []
    return [*names, _CHECK] if params.check_tool else names


def _stops(params: Params) -> tuple[str, ...]:
    return (*STOPS, "</check_formulas>") if params.check_tool else STOPS


def _history(desk: Desk, shown: Sequence[Exchange]) -> Growing:
    """The repeated turns; the oldest are left out first if they do not all fit."""
    passages = tuple(Passage(f"turn {one.turn}", _shown(one), float(one.turn)) for one in shown)
    return Growing(passages, lambda kept: desk.content("\n\n".join(one.text for one in kept)) if kept else EMPTY)


async def _acted(
    desk: Desk, params: Params, seat: Seat, turn: int, call: str, action: Action | Unscored, off: str, checks: int
) -> _Done:
    if isinstance(action, Unscored):
        response = f"Nothing was done: {action.reason}. Take exactly one action in each turn."
        return _Done(action="none", problem=action.reason, response=response, succeeded=False)
    if turn == params.turns:
        why = f"the last turn must end with <{seat.finishing}>"
        return _Done(action=action.kind, problem=why, content=cut(action.content, MOST_SHOWN), succeeded=False)
    if action.kind == "local_rag":
        return await _searched(desk, params, seat, call, action)
    if action.kind == "check_formulas":
        place = Place(round=seat.round, subject=f"candidate {seat.about}", index=seat.index)
        found = await tested(desk, f"{call}/check", action.content, place, left=params.check_tool - checks)
        content, worked = cut(action.content, MOST_SHOWN), not found.problem
        return _Done(action="check_formulas", content=content, succeeded=worked, **found.model_dump())
    if off:
        return _Done(action="python_code", problem=OFF, content=cut(action.content, MOST_SHOWN), response=off, succeeded=False)
    return await _ran(desk, params, seat, call, action)


async def _ran(desk: Desk, params: Params, seat: Seat, call: str, action: Action) -> _Done:
    code = repaired(action.content)
    key = f"{call}/python"
    place = Place(round=seat.round, subject=f"candidate {seat.about}", index=seat.index)
    answer = await desk.ctx.tool(key, job="python", content=code.code, place=place)
    response = code_response(answer, code.repairs)
    found: Found | None = None
    if blamed := _may_look_up(answer, code.code):
        library, line = blamed
        found = await looked_up(desk, params, f"{call}/lookup", library, line, place)
        response = f"{response}\n\nFrom the documentation:\n{found.text}" if found.lookup.sources else response
    return _Done(
        action="python_code",
        problem=OFF if answer.is_off else answer.failure,
        content=cut(code.code, MOST_SHOWN),
        repairs=code.repairs,
        tool=key,
        response=response,
        succeeded=answer.succeeded,
        lookup=found.lookup if found else None,
    )


def _may_look_up(answer: ToolAnswer, code: str) -> tuple[str, str] | None:
    return blamed_library(answer.execution.stderr, code) if answer.execution and answer.execution.error == "exception" else None


async def _searched(desk: Desk, params: Params, seat: Seat, call: str, action: Action) -> _Done:
    asked = read_query(action.content, libraries_of(params))
    content = cut(action.content, MOST_SHOWN)
    if isinstance(asked, Unscored):
        response = f"Nothing was looked up: {asked.reason}."
        return _Done(action="local_rag", problem=asked.reason, content=content, response=response, succeeded=False)
    place = Place(round=seat.round, subject=f"candidate {seat.about}", index=seat.index)
    found = await looked_up(desk, params, f"{call}/lookup", asked.library, asked.query, place)
    return _Done(
        action="local_rag",
        problem=found.failure,
        content=content,
        tool=f"{call}/lookup/search",
        response=found.text,
        succeeded=not found.failure,
        lookup=found.lookup,
    )


def _emit_turn(desk: Desk, params: Params, seat: Seat, turn: int, call: str, done: _Done) -> None:
    event = TurnTaken(
        conversation=seat.prefix,
        role=seat.role,
        about=seat.about,
        round=seat.round,
        index=seat.index,
        turn=turn,
        of=params.turns,
        call=call,
        **done.model_dump(),
    )
    desk.ctx.emit(f"{call}/taken", event)


def _said(final: Final, action: Action | Unscored) -> str:
    """A turn's text for later prompts: the part after the thinking, shortened. A native call is written in plain words, because
    the special tokens of an engine mean nothing, or something else, in a prompt."""
    if isinstance(action, Action) and action.called:
        named = f"Called {action.kind} with:\n" if action.kind in ("python_code", "local_rag", "check_formulas") else ""
        return cut(f"{action.before}\n\n{named}{action.content}".strip(), MOST_SAID)
    answer = answer_part(final.text)
    return cut(final.text if isinstance(answer, Unscored) else answer, MOST_SAID)


def _shown(exchange: Exchange) -> str:
    response = f"\n\nTool response:\n{exchange.response}" if exchange.response else ""
    return f"Turn {exchange.turn}\n{exchange.said}{response}"
