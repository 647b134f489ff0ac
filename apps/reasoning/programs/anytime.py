"""Anytime answers: what a recorded run would have handed in, had its budget ended earlier. One run gives a whole curve.

A scaffold's rule is `Scaffold.hands_in`; docs/anytime.md has the rules. Usage is counted as the budget of a run counts it.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from apps.reasoning.domain.errors import ReasoningError
from apps.reasoning.domain.event_base import Event
from apps.reasoning.domain.events import CallBegan, CallEnded, CallFailed
from apps.reasoning.domain.generation import Usage
from apps.reasoning.domain.import_events import ImportSource
from apps.reasoning.programs.registry import PROGRAMS, SCAFFOLDS
from apps.reasoning.scaffolds.scaffold import Scaffold
from apps.reasoning.story.parts import Numbered
from apps.reasoning.story.run_story import RunStory

Unit = Literal["calls", "completion_tokens", "tokens", "seconds"]


class NoAnytimeAnswer(ReasoningError):
    """The run has no anytime answers; the message gives the reason."""


class Handed(NamedTuple):
    """From event `seq` on, the run hands in `answer`, the id of a candidate or a proof; "" for none.

    The others are the use of the run by then. `tokens` are prompt and completion tokens. `seconds` is the time of its calls,
    one after the other; concurrent calls take less time. `by_alias`: calls, prompt tokens and completion tokens of each model.
    """

    seq: int
    calls: int
    completion_tokens: int
    tokens: int
    seconds: float
    by_alias: Mapping[str, tuple[int, int, int]]
    answer: str


def answers_over(scaffold: str, params: Mapping[str, Any], events: Iterable[Numbered[Event]]) -> list[Handed]:
    """The answers of a run, one entry each time the answer changes. `events` ascend by number and may end anywhere.

    A call counts once when it ends, with the tokens of its last attempt; a failed call has none. Calls that a fork took over
    and calls of tools do not count. Raises `NoAnytimeAnswer` for runs without a rule, `ParamsError` for unknown parameters.
    """
    method, hands_in = _rule(scaffold, events := list(events))
    typed, story = method.read_params(params), RunStory()
    used, aliases = Handed(0, 0, 0, 0, 0.0, {}, ""), dict[str, str]()
    found: list[Handed] = []
    for seq, event in events:
        story.add(seq, event)
        if isinstance(event, CallBegan):
            aliases[event.call] = event.alias
        if isinstance(event, CallEnded | CallFailed) and event.attempt:
            used = _after(used, event, aliases.get(event.call, ""))
        if event.kind in method.hands_in_after and (answer := hands_in(story, typed)) != used.answer:
            used = used._replace(seq=seq, answer=answer)
            found.append(used)
    return found


def answer_at(answers: Sequence[Handed], budget: float, unit: Unit) -> str:
    """The answer after a use of at most `budget`; "" for none yet."""
    place = bisect_right(answers, budget, key=attrgetter(unit))
    return answers[place - 1].answer if place else ""


def _rule(name: str, events: Iterable[Numbered[Event]]) -> tuple[Scaffold, Callable[[RunStory, Any], str]]:
    if source := next((event for _, event in events if isinstance(event, ImportSource)), None):
        raise NoAnytimeAnswer(
            f"The run was imported from {source.file} ({source.format}). The file does not say which solution its program "
            "would have selected earlier, so only the end of the run can be scored."
        )
    if name not in PROGRAMS:
        raise NoAnytimeAnswer(f"There is no scaffold {name}, so its rule is unknown. The scaffolds are {', '.join(SCAFFOLDS)}.")
    method = PROGRAMS[name]
    if method.hands_in is None:
        raise NoAnytimeAnswer(f"{method.title} writes no solution, so there is nothing to hand in.")
    return method, method.hands_in


def _after(used: Handed, ended: CallEnded | CallFailed, alias: str) -> Handed:
    usage = ended.usage if isinstance(ended, CallEnded) else Usage()
    calls, prompt, completion = used.by_alias.get(alias, (0, 0, 0))
    return used._replace(
        calls=used.calls + 1,
        completion_tokens=used.completion_tokens + usage.completion,
        tokens=used.tokens + usage.prompt + usage.completion,
        seconds=used.seconds + (ended.duration_s if isinstance(ended, CallEnded) else 0.0),
        by_alias={**used.by_alias, alias: (calls + 1, prompt + usage.prompt, completion + usage.completion)},
    )
