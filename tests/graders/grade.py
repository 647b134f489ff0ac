"""Playing a grader without an engine, and answers in the forms asked for."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from apps.reasoning.domain.generation import Closing, GenerationRequest, Sampling
from apps.reasoning.domain.grading_events import GradingReached
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.graders.grading import Grading
from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.scaffolds.running.context import RunContext
from apps.reasoning.scaffolds.running.controls import NoControls
from apps.reasoning.scaffolds.spec import Budget, RoleSpec, RunSpec
from tests.reasoning.checked import CheckingDispatcher, Reply, verifier
from tests.reasoning.play import Answer

PROBLEM = ProblemText(
    id="p1",
    version=1,
    title="Squares",
    statement="Prove that $n^2+n$ is even for every integer $n$.",
    answer="the secret answer",
)
SCRIPT = """We have $n^2+n=n(n+1)$, a product of two neighbours.

For $n=1,2,3$ it is even, so it is even for all $n$.

Hence $n^2 + n$ is divisible by $4$."""
REFERENCES = (
    "$n^2+n=n(n+1)$, and of two neighbours one is even.",
    "By cases: $n=2k$ gives $2(2k^2+k)$; $n=2k+1$ gives $2(2k+1)(k+1)$.",
    "Can anybody help me with this one?",
)
Table = Mapping[str, Answer | Callable[[GenerationRequest], Answer]]


def finding(number: int = 1, step: int = 2, quote: str = "so it is even for all $n$", **attributes: str) -> str:
    named = {"type": "proof-by-example", "severity": "critical"} | attributes
    rest = " ".join(f'{name}="{value}"' for name, value in named.items())
    return f'<finding id="E{number}" step="{step}" {rest}><quote>{quote}</quote>Three instances prove nothing.</finding>'


def grading(points: float | str, *entries: str) -> str:
    return (
        "I read it.\n<grading>\n"
        + "\n".join(entries)
        + f"\n<feedback>Look again.</feedback><points>{points}</points></grading>"
    )


class Graded:
    """A finished grading with its requests and events."""

    def __init__(self, outcome: Outcome, journal: InMemoryJournal, dispatcher: CheckingDispatcher) -> None:
        self.outcome = outcome
        self.journal = journal
        self.dispatcher = dispatcher

    @property
    def kinds(self) -> list[tuple[str, str]]:
        return [(key, event.kind) for _, key, event in self.journal.events]

    @property
    def grading(self) -> Grading:
        return self.named("final")

    def named(self, name: str) -> Grading:
        event = next(event for _, key, event in self.journal.events if key == f"grading/{name}")
        assert isinstance(event, GradingReached)
        return Grading.model_validate(event.grading)

    @property
    def points(self) -> Decimal | None:
        return self.grading.points

    @property
    def pieces(self) -> dict[str, dict[str, Any]]:
        """What was prepared in this run, by piece."""
        bodies = [event.model_dump() for _, _, event in self.journal.events if event.kind == "grading.prepared"]
        return {body["piece"]: body["value"] for body in bodies}


async def grade(
    workflow: str,
    table: Table,
    *,
    journal: InMemoryJournal | None = None,
    shuffle: int | None = None,
    budget: Budget | None = None,
    closing: Closing = "text",
    reply: Reply = verifier,
    **params: object,
) -> Graded:
    """One run of a grader on `SCRIPT`, or on the script given."""
    grader = GRADERS[workflow]
    read = grader.read_params({"script": SCRIPT} | params)
    roles = {
        role.name: RoleSpec(alias="scripted", revision="r1", sampling=Sampling(), closing=closing) for role in grader.roles
    }
    spec = RunSpec(problem=PROBLEM, scaffold=workflow, roles=roles, seed=7, budget=budget or Budget())
    dispatcher = CheckingDispatcher(table, reply, shuffle=shuffle)
    journal = journal or InMemoryJournal()
    context = RunContext(spec, journal, dispatcher, NoControls(), backoff_s=0)
    return Graded(await grader.solve(PROBLEM, context, read), journal, dispatcher)
