"""A conversation of a model with its environment: think, take one action, read the tool's response; finally, answer.

Source: AlphaApollo §2.1, App. B. An unreadable turn is requested once more. If the second answer is also invalid, the model
gets an error response and the turn is used up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from apps.reasoning.domain.generation import Place
from apps.reasoning.domain.tools import ToolAnswer
from apps.reasoning.domain.values import Unscored
from apps.reasoning.prompts.fitting import Growing, Passage
from apps.reasoning.prompts.loader import load
from apps.reasoning.reading.turns.actions import TOOLS, Action, Kind, read_query
from apps.reasoning.reading.turns.code import repaired
from apps.reasoning.scaffolds.alpha_apollo.functions import functions_of, libraries_of
from apps.reasoning.scaffolds.alpha_apollo.hearing_turns import Taken, Talk, reading_of
from apps.reasoning.scaffolds.alpha_apollo.params import Params
from apps.reasoning.scaffolds.alpha_apollo.responses import blamed_library, code_response
from apps.reasoning.scaffolds.alpha_apollo.retrieving import Found, looked_up
from apps.reasoning.scaffolds.candidates.desk import EMPTY, Desk, Part
from apps.reasoning.scaffolds.running import check_tool
from apps.reasoning.scaffolds.running.hearing import Heard
from apps.reasoning.scaffolds.running.turns import MOST_SHOWN, Done, Exchange, cut, take_turns

#: Stop strings after an action, so that the model cannot invent the tool's response.
STOPS = ("</python_code>", "</local_rag>")
OFF = "code execution is off"
_LEMMAS = "alpha_apollo/forms/lemmas"


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


async def converse(desk: Desk, params: Params, seat: Seat) -> Talk:
    """Take turns until the final action, at most `params.turns`. Raises what `Context` raises."""
    return await take_turns(
        desk.ctx, seat, params.turns, partial(_heard, desk, params, seat), partial(_acted, desk, params, seat)
    )


async def _heard(desk: Desk, params: Params, seat: Seat, turn: int, call: str, before: Sequence[Exchange]) -> Heard[Taken]:
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
        reading=reading_of(seat.finishing, prompt, stops, is_last=is_last, tools=_tools(params)),
        tools=functions_of(params) if calls_functions and not is_last else (),
        stops=stops,
    )


def _forms(params: Params, *, calls_functions: bool) -> list[str]:
    """The prompt files that describe the tools."""
    names = ["alpha_apollo/forms/functions" if calls_functions else "alpha_apollo/forms/tools"]
    names += [_LEMMAS] if params.earlier_lemmas != "none" else []
    return [*names, check_tool.FORM] if params.check_tool else names


def _tools(params: Params) -> tuple[Kind, ...]:
    return (*TOOLS, "check_formulas") if params.check_tool else TOOLS


def _stops(params: Params) -> tuple[str, ...]:
    return (*STOPS, check_tool.STOP) if params.check_tool else STOPS


def _history(desk: Desk, shown: Sequence[Exchange]) -> Growing:
    """The repeated turns; the oldest are left out first if they do not all fit."""
    passages = tuple(Passage(f"turn {one.turn}", one.text, float(one.turn)) for one in shown)
    return Growing(passages, lambda kept: desk.content("\n\n".join(one.text for one in kept)) if kept else EMPTY)


async def _acted(
    desk: Desk,
    params: Params,
    seat: Seat,
    turn: int,
    call: str,
    action: Action | Unscored,
    talk: Talk,
) -> Done:
    if isinstance(action, Unscored):
        response = f"Nothing was done: {action.reason}. Take exactly one action in each turn."
        return Done(action="none", problem=action.reason, response=response, succeeded=False)
    if turn == params.turns:
        why = f"the last turn must end with <{seat.finishing}>"
        return Done(action=action.kind, problem=why, content=cut(action.content, MOST_SHOWN), succeeded=False)
    if action.kind == "local_rag":
        return await _searched(desk, params, seat, call, action)
    if action.kind == "check_formulas":
        place = Place(round=seat.round, subject=f"candidate {seat.about}", index=seat.index)
        left = params.check_tool - talk.checks
        return await check_tool.check_done(desk.ctx, desk.problem.statement, call, action, place, left=left)
    if talk.off:
        content = cut(action.content, MOST_SHOWN)
        return Done(action="python_code", problem=OFF, content=content, response=talk.off, succeeded=False)
    done = await _ran(desk, params, seat, call, action)
    talk.off = done.response if done.problem == OFF else ""
    return done


async def _ran(desk: Desk, params: Params, seat: Seat, call: str, action: Action) -> Done:
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
    return Done(
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


async def _searched(desk: Desk, params: Params, seat: Seat, call: str, action: Action) -> Done:
    asked = read_query(action.content, libraries_of(params))
    content = cut(action.content, MOST_SHOWN)
    if isinstance(asked, Unscored):
        response = f"Nothing was looked up: {asked.reason}."
        return Done(action="local_rag", problem=asked.reason, content=content, response=response, succeeded=False)
    place = Place(round=seat.round, subject=f"candidate {seat.about}", index=seat.index)
    found = await looked_up(desk, params, f"{call}/lookup", asked.library, asked.query, place)
    return Done(
        action="local_rag",
        problem=found.failure,
        content=content,
        tool=f"{call}/lookup/search",
        response=found.text,
        succeeded=not found.failure,
        lookup=found.lookup,
    )
