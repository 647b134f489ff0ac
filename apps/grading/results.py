"""What a grading's page shows: the result at the script's steps, what was prepared, what was reused. A fold of events."""

from dataclasses import dataclass, field
from decimal import Decimal

from apps.reasoning.domain.events import event_from
from apps.reasoning.domain.grading_events import GradingMatched, GradingPrepared, GradingReached
from apps.reasoning.graders.grader import FINAL
from apps.reasoning.graders.grading import Grading, Located
from apps.reasoning.graders.material import Material
from apps.reasoning.graders.propagation import Propagation
from apps.reasoning.graders.registry import GRADERS
from apps.runs.models import Run

KINDS = tuple(cls.kind for cls in (GradingPrepared, GradingMatched, GradingReached))


@dataclass(frozen=True)
class StepShown:
    """A step of the script with what was found in it."""

    number: int
    text: str
    findings: tuple[Located, ...]


@dataclass
class Result:
    """`grading` is None while the run goes on. `nowhere` are findings without a step."""

    steps: tuple[StepShown, ...]
    grading: Grading | None = None
    prepared: list[GradingPrepared] = field(default_factory=list)
    match: GradingMatched | None = None
    nowhere: tuple[Located, ...] = ()

    @property
    def shares(self) -> list[tuple[Decimal, int]]:
        """Points with their per cent, where there is more than one."""
        shares = self.grading.shares if self.grading else {}
        return [(points, round(100 * share)) for points, share in shares.items()] if len(shares) > 1 else []

    @property
    def chains(self) -> list[str]:
        """How errors run on, in words."""
        return [_chain(chain) for chain in self.grading.chains] if self.grading else []


def result_of(run: Run) -> Result:
    """The result of a run of a grader as far as it is there."""
    material = GRADERS[run.scaffold].read_params(run.spec["params"])
    if not isinstance(material, Material):
        raise TypeError(f"{run.scaffold} is no grader")
    result = Result(steps=())
    for row in run.events.filter(kind__in=KINDS).order_by("seq"):
        event = event_from(row.kind, row.body)
        if isinstance(event, GradingPrepared):
            result.prepared.append(event)
        elif isinstance(event, GradingMatched):
            result.match = event
        elif isinstance(event, GradingReached) and event.name == FINAL:
            result.grading = Grading.model_validate(event.grading)
    found = result.grading.findings if result.grading else ()
    source = material.source
    result.steps = tuple(
        StepShown(number, source[step.start : step.end], tuple(one for one in found if one.step == number))
        for number, step in enumerate(material.steps, 1)
    )
    result.nowhere = tuple(one for one in found if not one.step)
    return result


def _chain(chain: Propagation) -> str:
    ends = {"FINAL_INVALID": "the conclusion falls", "PARTIAL_VALID": "a part stands", "CHAIN_BROKEN": "it stops there"}
    links = [f"{link.name} (step {link.step})" if link.step else link.name for link in chain.links]
    return " → ".join([*links, ends[chain.end.value]])
