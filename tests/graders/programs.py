"""Playing a program about a problem without an engine, and answers in the forms it asks for."""

from typing import TypeVar

from apps.reasoning.domain.event_base import Event
from apps.reasoning.domain.generation import Sampling
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.graders.problems import difficulty
from apps.reasoning.graders.problems.quality import Flag
from apps.reasoning.graders.registry import PREPARERS
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.ports import Controls
from apps.reasoning.scaffolds.running.context import RunContext
from apps.reasoning.scaffolds.running.controls import NoControls
from apps.reasoning.scaffolds.spec import Budget, RoleSpec, RunSpec
from tests.graders.grade import PROBLEM, Table
from tests.reasoning.play import TableDispatcher

SCHEME = """What should count: the neighbours.
<scheme>
    scale 7
    checkpoint A1, 2 points: Factors as $n(n+1)$.
      note: Any other form of the product counts.
    checkpoint A2, 5 points, needs A1: One of two neighbours is even.
    zero-credit Z1: Checks some values.
    deduction D1, 1 point: A slip of the pen.
</scheme>"""
E = TypeVar("E", bound=Event)
PROOF = "<proof><step>We have $n^2+n=n(n+1)$.</step><step>One of two neighbours is even.\n\nAnswer: even</step></proof>"


def quality(*raised: str, leave_out: str = "") -> str:
    """A decision on every flag."""
    return (
        "I looked.\n<quality>"
        + "".join(
            f'<flag name="{flag}" holds="{"yes" if flag in raised else "no"}">{"Seen." if flag in raised else ""}</flag>'
            for flag in Flag
            if flag != leave_out
        )
        + "</quality>"
    )


class Played:
    """A finished program with its requests and events."""

    def __init__(self, outcome: Outcome, journal: InMemoryJournal, dispatcher: TableDispatcher) -> None:
        self.outcome = outcome
        self.journal = journal
        self.dispatcher = dispatcher

    @property
    def kinds(self) -> list[tuple[str, str]]:
        return [(key, event.kind) for _, key, event in self.journal.events]

    def events(self, kind: type[E]) -> list[E]:
        """Its events of one kind, in order."""
        return [event for _, _, event in self.journal.events if isinstance(event, kind)]


async def play(
    name: str,
    table: Table,
    *,
    journal: InMemoryJournal | None = None,
    shuffle: int | None = None,
    budget: Budget | None = None,
    controls: Controls | None = None,
    **params: object,
) -> Played:
    """One run of a program about the problem of these tests."""
    program = PREPARERS[name]
    read = program.read_params(params)
    played = program.roles
    if isinstance(read, difficulty.Params):
        played = (*difficulty.attempting_by(read.scaffold), *difficulty.grading_by(read.workflow))
    roles = {role.name: RoleSpec(alias="scripted", revision="r1", sampling=Sampling()) for role in played}
    spec = RunSpec(problem=PROBLEM, scaffold=name, roles=roles, seed=7, budget=budget or Budget())
    dispatcher = TableDispatcher(table, shuffle)
    journal = journal or InMemoryJournal()
    context = RunContext(spec, journal, dispatcher, controls or NoControls(), backoff_s=0)
    return Played(await program.solve(PROBLEM, context, read), journal, dispatcher)
