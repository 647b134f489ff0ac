"""Runs of a real scaffold of `apps.reasoning` in the trainer's process: their calls are answered in batches by one function.

All runs share an event loop. When every run waits for an answer, the waiting calls become one batch. Nothing is
random besides the seeds of the runs, so the same answers give the same runs.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.reasoning.domain.candidate_events import CandidateDrafted, CandidateJudged
from apps.reasoning.domain.events import ProofDrafted
from apps.reasoning.domain.generation import Final, GenerationRequest, Sampling, Usage
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.scaffolds.registry import UNGRADED
from apps.reasoning.scaffolds.running.context import RunContext
from apps.reasoning.scaffolds.running.controls import NoControls
from apps.reasoning.scaffolds.running.window import Window
from apps.reasoning.scaffolds.scaffold import Scaffold
from apps.reasoning.scaffolds.spec import RoleSpec, RunSpec

MODEL = "policy"
#: The end of the key of a second question, asked where an answer cannot be read. It gets no answer here.
AGAIN = "/again"
#: Turns of the event loop without a new call, after which all runs are waiting.
_QUIET = 50
_MANY = 1_000_000


@dataclass(frozen=True)
class Said:
    """An answer to a call. `data`: what the answering function keeps with it."""

    text: str
    finish_reason: str
    tokens: int
    data: Any = None


@dataclass(frozen=True)
class Asked:
    """A call of a run: its number, its key in the run, its role and its prompt as one text."""

    run: int
    key: str
    role: str
    prompt: str


Answers = Callable[[Sequence[Asked]], Sequence[Said]]


@dataclass
class Played:
    """A finished run: its calls in order, its candidates and verdicts by call, and the steps of the proof it hands in."""

    calls: list[tuple[Asked, Said]] = field(default_factory=list)
    drafts: dict[str, CandidateDrafted] = field(default_factory=dict)
    verdicts: dict[str, CandidateJudged] = field(default_factory=dict)
    steps: tuple[str, ...] = ()
    accepted: bool | None = None

    def candidate(self, name: str) -> CandidateDrafted:
        """The candidate of that name."""
        return next(one for one in self.drafts.values() if one.candidate == name)


def play(
    problems: Sequence[ProblemText], answers: Answers, *, scaffold: str, params: Mapping[str, Any], most: int, seed: int
) -> list[Played]:
    """Run the scaffold on each problem. `most`: tokens of an answer."""
    return asyncio.run(_play(problems, answers, UNGRADED[scaffold], params, most, seed))


async def _play(
    problems: Sequence[ProblemText], answers: Answers, program: Scaffold, params: Mapping[str, Any], most: int, seed: int
) -> list[Played]:
    desk = _Batches(answers)
    return list(
        await asyncio.gather(*(_run(number, one, desk, program, params, most, seed) for number, one in enumerate(problems)))
    )


async def _run(
    number: int, problem: ProblemText, batches: "_Batches", program: Scaffold, params: Mapping[str, Any], most: int, seed: int
) -> Played:
    read = program.read_params(dict(params))
    sampling = Sampling(max_new_tokens=most)
    spec = RunSpec(
        problem=problem,
        scaffold=program.name,
        params=read.model_dump(mode="json"),
        roles={role.name: RoleSpec(alias=MODEL, sampling=sampling) for role in program.roles},
        seed=(seed + number) % 2**31,
    )
    journal, played = InMemoryJournal(), Played()
    ctx = RunContext(spec, journal, _Line(number, batches, played), NoControls(), window=Window(_MANY))
    outcome = await program.solve(problem, ctx, read)
    played.accepted = outcome.accepted
    for _, _, event in journal.events:
        if isinstance(event, CandidateDrafted):
            played.drafts[event.call] = event
        elif isinstance(event, CandidateJudged):
            played.verdicts[event.call] = event
        elif isinstance(event, ProofDrafted):
            played.steps = event.steps
    return played


class _Line:
    """The dispatcher of one run."""

    def __init__(self, number: int, batches: "_Batches", played: Played) -> None:
        self._number, self._batches, self._played = number, batches, played

    async def dispatch(self, request: GenerationRequest) -> Final:
        """As `Dispatcher.dispatch`."""
        prompt = "\n\n".join(message.content for message in request.messages)
        asked = Asked(self._number, request.key, request.role, prompt)
        if request.key.endswith(AGAIN):
            return Final(text="", finish_reason="stop")
        said = await self._batches.answer(asked)
        self._played.calls.append((asked, said))
        reason = "stop" if said.finish_reason == "stop" else "length"
        return Final(text=said.text, finish_reason=reason, usage=Usage(completion=said.tokens))


class _Batches:
    """Calls that wait for an answer."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._waiting: list[tuple[Asked, asyncio.Future[Said]]] = []
        self._task: asyncio.Task[None] | None = None

    async def answer(self, asked: Asked) -> Said:
        """The answer to a call, once all runs wait."""
        future: asyncio.Future[Said] = asyncio.get_running_loop().create_future()
        self._waiting.append((asked, future))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._flush())
        return await future

    async def _flush(self) -> None:
        quiet, before = 0, 0
        while quiet < _QUIET:
            await asyncio.sleep(0)
            quiet = quiet + 1 if len(self._waiting) == before else 0
            before = len(self._waiting)
        batch, self._waiting, self._task = self._waiting, [], None
        try:
            found = self._answers([asked for asked, _ in batch])
        except BaseException as error:
            for _, future in batch:
                future.set_exception(error)
            return
        for (_, future), said in zip(batch, found, strict=True):
            future.set_result(said)
