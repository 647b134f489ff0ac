"""Play a matrix: each cell is one run of the real scaffold in memory, answered by simulated agents."""

import asyncio
import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from functools import partial
from itertools import product

from apps.reasoning.domain.errors import PlanError, ReasoningError
from apps.reasoning.domain.events import OutputUnread
from apps.reasoning.domain.generation import Sampling
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.inference.local import LocalDispatcher
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.planning import plan_params
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.rehearsal.agent import SimulatedAgent
from apps.reasoning.rehearsal.arguments import RIGHT
from apps.reasoning.rehearsal.matrix import Line, Matrix, PlayedCell, RehearsedProblem
from apps.reasoning.rehearsal.skills import Skills
from apps.reasoning.scaffolds.running.context import RunContext
from apps.reasoning.scaffolds.running.controls import NoControls
from apps.reasoning.scaffolds.spec import RoleSpec, RunSpec

MODEL = "simulated"
NICE = 10
#: Lines that are queued for each process.
AHEAD = 4


def rehearse(
    matrix: Matrix, skills: Skills, *, processes: int = 1, progress: Callable[[int], None] = lambda _: None
) -> list[PlayedCell]:
    """Play all cells, problem by problem and line by line; the result does not depend on `processes`.

    With 0 processes it plays in this one. `progress` gets the number of cells played so far. A cell that cannot run says why in
    `trouble`. Raises `SkillsWrong`.
    """
    play, cells = partial(_repeats, matrix, skills), list[PlayedCell]()
    places = list(product(range(len(matrix.problems)), range(len(matrix.lines))))
    for found in _in_processes(play, places, processes) if processes else map(play, places):
        cells += found
        progress(len(cells))
    return cells


def _in_processes(
    play: Callable[[tuple[int, int]], list[PlayedCell]], places: Sequence[tuple[int, int]], processes: int
) -> Iterator[list[PlayedCell]]:
    """Play in processes of low priority, so that runs are not slowed down. Few lines are queued, so that it ends quickly."""
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), os.nice, (NICE,)) as pool:
        queued = deque[Future[list[PlayedCell]]]()
        for place in places:
            queued.append(pool.submit(play, place))
            if len(queued) > AHEAD * processes:
                yield queued.popleft().result()
        while queued:
            yield queued.popleft().result()


def _repeats(matrix: Matrix, skills: Skills, place: tuple[int, int]) -> list[PlayedCell]:
    """All repeats of a line on a problem."""
    problem, line = matrix.problems[place[0]], matrix.lines[place[1]]

    async def played(repeat: int) -> PlayedCell:
        empty = PlayedCell(line=place[1], problem=place[0], repeat=repeat)
        try:
            return await _played(empty, line, problem, skills, f"{matrix.seed}/{problem.name}/{line.name}/{repeat}")
        except ReasoningError as error:
            return empty.model_copy(update={"trouble": str(error)})

    async def one_by_one() -> list[PlayedCell]:
        return [await played(repeat) for repeat in range(matrix.repeats)]

    return asyncio.run(one_by_one())


async def _played(empty: PlayedCell, line: Line, problem: RehearsedProblem, skills: Skills, seed: str) -> PlayedCell:
    spec, scaffold = spec_of(line, problem, empty.repeat), SCAFFOLDS[line.scaffold]
    params = scaffold.read_params(spec.params)
    if refused := scaffold.cannot_run(spec.problem, params):
        return empty.model_copy(update={"trouble": refused})
    agent, journal = SimulatedAgent(skills, line.scaffold, problem.name, seed), InMemoryJournal()
    models = {role.alias: agent for role in spec.roles.values()}
    context = RunContext(spec, journal, LocalDispatcher(models), NoControls(), backoff_s=0)
    outcome = await scaffold.solve(spec.problem, context, params)
    asked = [record for record in journal.records if record.was_asked]
    found = agent.memory.named_in(_text_of(journal, outcome.proof))
    return empty.model_copy(
        update={
            "right": found[0].is_right if found else None,
            "accepted": outcome.accepted,
            "calls": journal.spent.calls,
            "prompt_tokens": sum(record.usage.prompt for record in asked),
            "completion_tokens": sum(record.usage.completion for record in asked),
            "seconds": journal.spent.seconds,
            "unread": sum(isinstance(event, OutputUnread) for _, _, event in journal.events),
        }
    )


def spec_of(line: Line, problem: RehearsedProblem, seed: int) -> RunSpec:
    """The specification of a cell. Raises `PlanError` for an unknown scaffold, preset or parameter."""
    if line.scaffold not in SCAFFOLDS:
        raise PlanError("scaffold", f"Unknown scaffold {line.scaffold}. Choose one of {', '.join(SCAFFOLDS)}.")
    scaffold = SCAFFOLDS[line.scaffold]
    answer = RIGHT if problem.has_answer else ""
    text = ProblemText(id=problem.name, version=1, title=problem.name, statement=problem.statement, answer=answer)
    return RunSpec(
        problem=text,
        scaffold=line.scaffold,
        params=plan_params(scaffold, line.preset, line.params).model_dump(mode="json"),
        roles={
            role.name: RoleSpec(
                alias=line.models.get(role.name) or line.models.get("") or MODEL,
                sampling=Sampling(max_new_tokens=line.max_new_tokens or role.max_new_tokens),
            )
            for role in scaffold.roles
        },
        seed=seed,
        budget=line.budget,
        prices=line.prices,
    )


def _text_of(journal: InMemoryJournal, answer: str) -> str:
    """The text of the candidate or proof that was handed in; "" without one."""
    if not answer:
        return ""
    texts = (event for _, _, event in reversed(journal.events) if answer in (_id(event, "candidate"), _id(event, "proof")))
    return next((text for event in texts if (text := getattr(event, "text", ""))), "")


def _id(event: object, name: str) -> object:
    return getattr(event, name, None)
