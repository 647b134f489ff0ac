"""Reasoning Cache: turns that remember nothing but a compact state of the work.

To be learned from, groups of fresh attempts at a few of the states follow the turns: of `rc_rl` only these are trained.
Source: QED-Nano §4.2 and App. B (reasoning notes §2); its released code for how many states and attempts.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from apps.reasoning.domain.candidate_events import CandidateKind, StateWritten
from apps.reasoning.domain.generation import Final, Place
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.ports import Context
from apps.reasoning.prompts.loader import load
from apps.reasoning.reading.answers import answer_part, tag_pattern
from apps.reasoning.reading.closings import json_within
from apps.reasoning.reading.echoes import own_text
from apps.reasoning.scaffolds.candidates.concluding import NOTHING_READABLE, Selection, concluded
from apps.reasoning.scaffolds.candidates.costs import estimated
from apps.reasoning.scaffolds.candidates.desk import Desk, Part, Solution
from apps.reasoning.scaffolds.candidates.scoring import POINTS, scored
from apps.reasoning.scaffolds.concurrently import concurrently
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.hearing import Heard, Reading
from apps.reasoning.scaffolds.page import Page
from apps.reasoning.scaffolds.scaffold import Preset, Role, Scaffold, reader

CHARACTERS_A_WORD = 8
_STATE = tag_pattern("state")
#: Paragraphs, since a text of several is hard to write in one string of JSON.
STATE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"state": {"type": "array", "items": {"type": "string"}, "minItems": 1}},
    "required": ["state"],
    "additionalProperties": False,
}
_STATE_TAG = re.compile(r"</?state>", re.IGNORECASE)


class Params(Value):
    """Three turns are the paper's choice; five and seven are its other points (Table 6)."""

    turns: int = Field(default=3, ge=1, le=32, title="Turns", description="Solve, summarise, solve again from the summary.")
    state_words: int = Field(
        default=1_500,
        ge=100,
        le=20_000,
        title="Words of the state",
        description="What one turn may hand to the next. A longer state is cut at a paragraph.",
    )
    states: int = Field(
        default=0,
        ge=0,
        le=33,
        title="States tried again",
        description="To learn from: after the turns, so many of the states, the empty one among them, are attempted afresh.",
    )
    attempts: int = Field(
        default=16, ge=2, le=128, title="Attempts at a state", description="They are compared with each other."
    )
    marks: bool = Field(
        default=False,
        title="Marks for attempts",
        description="A grader gives every attempt at a state 0 to 7 points, as the rubric's reward.",
    )


async def solve(problem: ProblemText, ctx: Context, params: Params) -> Outcome:
    """The last turn's solution; no role judges it. Fresh attempts at states change nothing of it."""
    desk = Desk(problem, ctx)
    return await concluded(desk, _search(desk, params), lambda: _selection(desk, params))


async def _search(desk: Desk, params: Params) -> Selection:
    states = [""]
    for turn in range(1, params.turns + 1):
        if await desk.steer(f"turn/{turn}"):
            return _selection(desk, params)
        work = await _turn(desk, params, turn, states[-1])
        is_read_on = turn < params.turns or params.states > 0
        if is_read_on and work is not None and not await desk.steer(f"turn/{turn}/summarise"):
            states.append(await _summarised(desk, params, turn, states[-1], work))
        else:
            states.append(states[-1])
    if params.states and not await desk.steer("states"):
        await _tried_again(desk, params, states)
    return _selection(desk, params)


async def _tried_again(desk: Desk, params: Params, states: Sequence[str]) -> None:
    """Groups of attempts at states drawn from all that are different; each state before the turn that it is given to."""
    different = list({state: turn for turn, state in reversed(list(enumerate(states, 1)))}.items())
    picked = desk.draw("states").sample(different, min(params.states, len(different)))
    numbers = range(1, params.attempts + 1)
    await concurrently(
        _attempt(desk, params, turn, state, place * params.attempts + number, f"state/{turn}/{number}")
        for place, (state, turn) in enumerate(sorted(picked, key=lambda pair: pair[1]))
        for number in numbers
    )


async def _attempt(desk: Desk, params: Params, turn: int, state: str, number: int, call: str) -> None:
    name, round_ = f"c{params.turns + 1}.{number}", params.turns + 1
    place = Place(round=round_, subject=f"state of turn {turn}", index=number)
    written = await _written(desk, params, turn, state, call, place)
    if isinstance(written.value, Solution):
        proof = written.value.proof
        candidate = desk.keep(written.call, name, proof.steps, made_as="solution", round_=round_, way=proof.way)
        if params.marks:
            await scored(desk, POINTS, candidate, 1, 1, f"mark/{name}")


def _selection(desk: Desk, params: Params) -> Selection:
    of_turns = [one for one in desk.candidates.values() if one.round <= params.turns]
    newest = max(of_turns, key=lambda one: one.order, default=None)
    reason = (
        f"The solution of turn {newest.round}, the last that could be read. Nobody judged it." if newest else NOTHING_READABLE
    )
    return Selection(candidate=newest, reason=reason)


async def _turn(desk: Desk, params: Params, turn: int, state: str) -> Final | None:
    """One turn; what it wrote goes to the summariser whether it is a solution or not. None where the call failed."""
    call = f"turn/{turn}/solve"
    written = await _written(desk, params, turn, state, call, Place(round=turn, subject=f"turn {turn}"))
    if isinstance(written.value, Solution):
        proof, parents = written.value.proof, tuple(desk.candidates.values())[-1:]
        kind: CandidateKind = "improvement" if parents else "solution"
        desk.keep(written.call, f"c{turn}.1", proof.steps, made_as=kind, round_=turn, parents=parents, way=proof.way)
    return written.final


async def _written(desk: Desk, params: Params, turn: int, state: str, call: str, place: Place) -> Heard[Solution]:
    """What the solver writes at a state; its prompt is that of the turn, whichever attempt it is."""
    values: dict[str, Part] = {
        "state": desk.growing("the state", state, worth=1.0),
        "turn": str(turn),
        "turns": str(max(turn, params.turns)),
    }
    return await desk.solution(call, role="solver", prompt="reasoning_cache/solver", values=values, place=place)


async def _summarised(desk: Desk, params: Params, turn: int, state: str, work: Final) -> str:
    """The new state; the old one where none can be read."""
    call = f"turn/{turn}/summarise"
    values: dict[str, Part] = {
        "state": desk.growing("the state", state, worth=1.0),
        "thinking": desk.growing("the thinking", work.reasoning),
        "work": desk.growing("the work", work.text),
        "words": str(params.state_words),
    }
    place = Place(round=turn, subject=f"turn {turn}")
    prompt = desk.filled("summarizer", "reasoning_cache/summarizer", values)

    def read(final: Final, first: str = "") -> str | Unscored:
        return read_state(final, prompt.text)

    reading = Reading[str](read, "state", read, STATE_SCHEMA, asks_json="state_json")
    found, said_in, _ = await desk.hear(call, role="summarizer", prompt=prompt, place=place, reading=reading)
    if isinstance(found, Unscored):
        return state
    written = shortened(found, params.state_words * CHARACTERS_A_WORD)
    desk.ctx.emit(f"state/{turn}", StateWritten(turn=turn, text=written, call=said_in))
    return written


def read_state(final: Final, prompt: str = "") -> str | Unscored:
    """What the last `<state>` holds, or all of an answer that came to its end and says more than the `prompt` does."""
    answer = answer_part(final.text)
    if isinstance(answer, Unscored):
        return answer
    if found := list(_STATE.finditer(answer)):
        return found[-1].group(1).strip() or Unscored(reason="the state is empty")
    if (value := json_within(answer, "state")) is not None and isinstance(parts := value.get("state"), list | str):
        return _joined([parts] if isinstance(parts, str) else parts)
    if final.finish_reason != "stop":
        return Unscored(reason="the text was cut off before the state was finished")
    own = own_text(_STATE_TAG.sub("", answer), prompt)
    return own if isinstance(own, str) else Unscored(reason=f"there is no <state>, and {own.reason}")


def _joined(parts: Sequence[Any]) -> str | Unscored:
    """The paragraphs of a structured state, unless they are the words with which the question shows its form."""
    kept = [written for part in parts if (written := str(part).strip())]
    if kept and all(f'"{one}"' in load("shared/again/state_json").system for one in kept):
        return Unscored(reason="the state repeats the form that was shown")
    return "\n\n".join(kept) or Unscored(reason="the state is empty")


def shortened(text: str, limit: int) -> str:
    """At most `limit` characters, cut between two paragraphs where there is one late enough, and marked as cut."""
    if len(text) <= limit:
        return text
    cut = max((match.start() for match in re.finditer(r"\n\s*\n", text[:limit])), default=limit)
    return text[: cut if cut > limit // 2 else limit].rstrip() + "\n\n(The rest of the state was too long and is cut off.)"


def estimate(params: Params, max_new_tokens: Mapping[str, int] | None = None) -> Estimate:
    """Every turn is made; only a call that fails for good leaves its summary out, and without summaries all states are one."""
    attempts = min(params.states, params.turns + 1) * params.attempts
    calls = {
        "solver": params.turns + attempts,
        "summarizer": params.turns if params.states else params.turns - 1,
        "grader": attempts if params.marks else 0,
    }
    return estimated(
        fewest={"solver": params.turns + min(attempts, params.attempts), "summarizer": 0, "grader": 0},
        likely=calls,
        most=calls,
        typical={"solver": (3_000, 60_000), "summarizer": (20_000, 3_000), "grader": (8_000, 5_000)},
        limits=max_new_tokens,
        assumptions="All turns are made, with calls as long as those of a large reasoning model.",
    )


def _title(number: int, params: Mapping[str, Any]) -> str:
    return "States tried again" if number > params.get("turns", number) else f"Turn {number}"


SCAFFOLD = Scaffold(
    name="reasoning_cache",
    title="Reasoning Cache",
    description=(
        "The model works in turns. Between two turns only a compact state of the work is kept, so it can think for much longer "
        "than its context. The last turn's solution is the result."
    ),
    source="QED-Nano §4.2, App. B",
    params=Params,
    read_params=reader(Params),
    presets={
        "paper": Preset("Paper", "Three turns.", Params()),
        "five": Preset("Five turns", "The paper's second point.", Params(turns=5)),
        "seven": Preset("Seven turns", "The paper's third point.", Params(turns=7)),
        "learning": Preset(
            "Learning",
            "Three turns, then sixteen attempts at two of the four states, each with 0 to 7 points.",
            Params(states=2, marks=True),
        ),
    },
    roles=(
        Role("solver", "Solver", "Works on the problem from the state of the turn before.", 65_536, 0.8),
        Role("summarizer", "Summarizer", "Writes the state that the next turn starts from.", 8_192, 0.3),
        Role("grader", "Grader", "Marks attempts at states, where they are to be marked.", 16_384, 0.3),
    ),
    solve=solve,
    estimate=estimate,
    measured_with={"turns": 32},
    page=Page(continues=True, round_word="Turn", round_title=_title),
    cost_hint=(
        "With QED-Nano 4B on IMO-ProofBench: 44.0 % at 2.53 times the tokens of a single answer, "
        "which scores 40.0 % (QED-Nano, Table 2)."
    ),
)
