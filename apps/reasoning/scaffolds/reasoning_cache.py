"""Reasoning Cache: turns that carry only a compact state of the work forward.

For training, groups of fresh attempts at a few of the states follow the turns; `rc_rl` trains on these alone.
Source: QED-Nano §4.2 and App. B (reasoning notes §2); its released code for the numbers of states and attempts.
"""

import re
from collections.abc import Container, Mapping, Sequence
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
from apps.reasoning.scaffolds.candidates.judged_formulas import JudgedFormulas
from apps.reasoning.scaffolds.candidates.scoring import POINTS, scored
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.page import Page
from apps.reasoning.scaffolds.running.checking_first import marks_option
from apps.reasoning.scaffolds.running.concurrently import concurrently
from apps.reasoning.scaffolds.running.hearing import Heard, Reading
from apps.reasoning.scaffolds.scaffold import Preset, Role, Scaffold
from apps.reasoning.story.run_story import RunStory

CHARACTERS_A_WORD = 8
_STATE = tag_pattern("state")
#: A list of paragraphs: models struggle to write several paragraphs in one JSON string.
STATE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"state": {"type": "array", "items": {"type": "string"}, "minItems": 1}},
    "required": ["state"],
    "additionalProperties": False,
}
_STATE_TAG = re.compile(r"</?state>", re.IGNORECASE)


class Params(Value):
    """Defaults of the paper: three turns. It also measures five and seven (Table 6)."""

    turns: int = Field(
        default=3,
        ge=1,
        le=32,
        title="Turns",
        description="Number of solutions; each turn starts from a summary of the turn before.",
    )
    state_words: int = Field(
        default=1_500,
        ge=100,
        le=20_000,
        title="Words of the state",
        description="Longest state that one turn hands to the next; a longer one is cut at a paragraph.",
    )
    states: int = Field(
        default=0,
        ge=0,
        le=33,
        title="States tried again",
        description="For training: number of states, possibly the empty one, with fresh attempts after the turns.",
    )
    attempts: int = Field(
        default=16,
        ge=2,
        le=128,
        title="Attempts per state",
        description="Attempts at the same state, compared with each other.",
    )
    marks: bool = Field(
        default=False,
        title="Marks for attempts",
        description="Let a grader give every attempt at a state 0 to 7 points, as the rubric's reward.",
    )
    verifier_marks: bool = marks_option()


async def solve(problem: ProblemText, ctx: Context, params: Params) -> Outcome:
    """Return the last turn's solution, unjudged. Fresh attempts at states do not affect it."""
    desk = Desk(problem, ctx, formulas=JudgedFormulas(params.verifier_marks))
    return await concluded(desk, _search(desk, params), lambda: _selection(desk, params))


async def _search(desk: Desk, params: Params) -> Selection:
    states = [""]
    for turn in range(1, params.turns + 1):
        if await desk.steer(f"turn/{turn}"):
            return _selection(desk, params)
        work = await _turn(desk, params, turn, states[-1])
        is_read_on = turn < params.turns or params.states > 0
        if is_read_on and work is not None and not await desk.steer(f"turn/{turn}/summarise", reads_hints=False):
            states.append(await _summarised(desk, params, turn, states[-1], work))
        else:
            states.append(states[-1])
    if params.states and not await desk.steer("states"):
        await _tried_again(desk, params, states)
    return _selection(desk, params)


async def _tried_again(desk: Desk, params: Params, states: Sequence[str]) -> None:
    """Write groups of attempts at states drawn from the distinct ones. A state is numbered by the turn that receives it."""
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


def hands_in(story: RunStory, params: Params) -> str:
    """The solution of the newest turn that has one."""
    return _newest(story.candidates.by_id, params)


def _newest(candidates: Container[str], params: Params) -> str:
    return next((name for turn in range(params.turns, 0, -1) if (name := f"c{turn}.1") in candidates), "")


def _selection(desk: Desk, params: Params) -> Selection:
    newest = desk.candidates.get(_newest(desk.candidates, params))
    reason = f"The solution of turn {newest.round}, the last readable one. It was not judged." if newest else NOTHING_READABLE
    return Selection(candidate=newest, reason=reason)


async def _turn(desk: Desk, params: Params, turn: int, state: str) -> Final | None:
    """Run one turn and return its text, a solution or not, for the summariser; None if the call failed."""
    call = f"turn/{turn}/solve"
    written = await _written(desk, params, turn, state, call, Place(round=turn, subject=f"turn {turn}"))
    if isinstance(written.value, Solution):
        proof, parents = written.value.proof, tuple(desk.candidates.values())[-1:]
        kind: CandidateKind = "improvement" if parents else "solution"
        desk.keep(written.call, f"c{turn}.1", proof.steps, made_as=kind, round_=turn, parents=parents, way=proof.way)
    return written.final


async def _written(desk: Desk, params: Params, turn: int, state: str, call: str, place: Place) -> Heard[Solution]:
    """Ask the solver to continue from a state; all attempts share the turn's prompt."""
    values: dict[str, Part] = {
        "state": desk.growing("the state", state, worth=1.0),
        "turn": str(turn),
        "turns": str(max(turn, params.turns)),
    }
    return await desk.solution(call, role="solver", prompt="reasoning_cache/solver", values=values, place=place)


async def _summarised(desk: Desk, params: Params, turn: int, state: str, work: Final) -> str:
    """The new state; the old one if the new one is unreadable."""
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
    """The content of the last `<state>`, else a complete answer that is more than an echo of the `prompt`."""
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
    """The paragraphs of a structured state, unless they repeat the question's example."""
    kept = [written for part in parts if (written := str(part).strip())]
    if kept and all(f'"{one}"' in load("shared/again/state_json").system for one in kept):
        return Unscored(reason="the state repeats the form that was shown")
    return "\n\n".join(kept) or Unscored(reason="the state is empty")


def shortened(text: str, limit: int) -> str:
    """Cut the text to `limit` characters, at a paragraph in the second half if possible, and mark the cut."""
    if len(text) <= limit:
        return text
    cut = max((match.start() for match in re.finditer(r"\n\s*\n", text[:limit])), default=limit)
    return text[: cut if cut > limit // 2 else limit].rstrip() + "\n\n(The rest of the state was too long and is cut off.)"


def estimate(params: Params, max_new_tokens: Mapping[str, int] | None = None) -> Estimate:
    """All turns run. Fewest: every summary fails, so that all states are equal."""
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
        assumptions="All turns run, with calls as long as those of a large reasoning model.",
    )


def _title(number: int, params: Mapping[str, Any]) -> str:
    return "States tried again" if number > params.get("turns", number) else f"Turn {number}"


SCAFFOLD = Scaffold(
    name="reasoning_cache",
    title="Reasoning Cache",
    description=(
        "The model works in turns. Only a compact state of the work is kept between turns, so it can think for much longer "
        "than its context allows. The result is the last turn's solution."
    ),
    source="QED-Nano §4.2, App. B",
    params=Params,
    presets={
        "paper": Preset("Paper", "Three turns.", Params()),
        "five": Preset("Five turns", "Five turns, the paper's second setting.", Params(turns=5)),
        "seven": Preset("Seven turns", "Seven turns, the paper's third setting.", Params(turns=7)),
        "learning": Preset(
            "Learning",
            "Three turns, then sixteen attempts at two of the four states, each with 0 to 7 points.",
            Params(states=2, marks=True),
        ),
    },
    roles=(
        Role("solver", "Solver", "Works on the problem from the previous turn's state.", 65_536, 0.8),
        Role("summarizer", "Summarizer", "Writes the state that the next turn starts from.", 8_192, 0.3),
        Role("grader", "Grader", "Marks attempts at states, if marks are requested.", 16_384, 0.3),
    ),
    solve=solve,
    estimate=estimate,
    hands_in=hands_in,
    measured_with={"turns": 32},
    page=Page(continues=True, round_word="Turn", round_title=_title),
    cost_hint=(
        "With QED-Nano 4B on IMO-ProofBench: 44.0 % at 2.53 times the tokens of a single answer, "
        "which scores 40.0 % (QED-Nano, Table 2)."
    ),
)
