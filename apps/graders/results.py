"""Content of a grading's page, folded from its events: findings at the script's steps, and prepared and reused pieces."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import count

from apps.graders.planning.shown import shown_of
from apps.graders.planning.spending import spending_of_run
from apps.lemmas.formula_checks import CheckedFormula, formula_shown
from apps.reasoning.domain.grading_events import GradingMatched, GradingPrepared
from apps.reasoning.domain.spending import Spending
from apps.reasoning.graders.grader import FINAL
from apps.reasoning.graders.grading import Grading, Located, Part
from apps.reasoning.graders.material import Material
from apps.reasoning.graders.pieces.pieces import Clusters, Rubric
from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.marking.suggestion import ItemGiven
from apps.reasoning.story.gradings import Gradings
from apps.runs.models import Run
from apps.runs.selectors import run_story

_MANNERS = {"scored": "by approachability", "steps": "by main steps", "milestones": "by milestones"}


@dataclass(frozen=True)
class StepShown:
    """A step of the script with its findings.

    `judged`: the neutral rewriting that was judged, if any. `marked`: the formulas that the grader read as proved or refuted.
    """

    number: int
    text: str
    findings: tuple[Located, ...]
    judged: str = ""
    marked: tuple[CheckedFormula, ...] = ()


@dataclass(frozen=True)
class ReferenceShown:
    """The reference that the script was compared with: its number, the number of references, main steps of its group."""

    number: int
    count: int
    steps: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class PieceShown:
    """The label of a piece, with its event."""

    words: str
    event: GradingPrepared


@dataclass(frozen=True)
class ItemShown:
    """An item; for a rubric with the requirement for full points and the deductions."""

    given: ItemGiven
    full: str = ""
    deductions: tuple[str, ...] = ()


@dataclass
class Result:
    """The result of a grading. `grading` is None while the run is live. `nowhere`: findings without a step."""

    steps: tuple[StepShown, ...]
    spent: Spending = field(default_factory=Spending)
    grading: Grading | None = None
    prepared: list[PieceShown] = field(default_factory=list)
    reference: ReferenceShown | None = None
    items: tuple[ItemShown, ...] = ()
    nowhere: tuple[Located, ...] = ()
    shown: str = ""

    @property
    def shares(self) -> list[tuple[Decimal, int]]:
        """Points with their percentage, if there are several."""
        shares = self.grading.shares if self.grading else {}
        return [(points, round(100 * share)) for points, share in shares.items()] if len(shares) > 1 else []

    @property
    def outline(self) -> list[tuple[Part | None, list[Part]]]:
        """The main steps of the argument according to the grader, each with its sub-steps and claims."""
        found: list[tuple[Part | None, list[Part]]] = []
        for part in self.grading.parts if self.grading else ():
            if part.is_main:
                found.append((part, []))
            elif found:
                found[-1][1].append(part)
            else:
                found.append((None, [part]))
        return found

    @property
    def chains(self) -> list[str]:
        """Descriptions of the error chains."""
        return [chain.words for chain in self.grading.chains] if self.grading else []


def result_of(run: Run) -> Result:
    """The result of a grader's run, as far as available."""
    material = GRADERS[run.scaffold].read_params(run.spec["params"])
    if not isinstance(material, Material):
        raise TypeError(f"{run.scaffold} is not a grader")
    result = Result(steps=(), spent=spending_of_run(run.pk), shown=_shown(run, material))
    gradings = run_story(run, Gradings.RESULTS).gradings
    pieces, match, final = list(gradings.prepared.values()), gradings.matched, gradings.reached.get(FINAL)
    result.prepared = [PieceShown(_piece_words(piece), piece) for piece in pieces]
    result.grading = Grading.model_validate(final.grading) if final else None
    result.reference = _reference(material, match, pieces) if match else None
    result.items = _items(result.grading, pieces) if result.grading else ()
    found = result.grading.findings if result.grading else ()
    source = material.source
    judged = dict(enumerate(result.grading.rewriting, 1)) if result.grading else {}
    marked = [formula_shown(one) for one in result.grading.marked] if result.grading else []
    result.steps = tuple(
        StepShown(
            number,
            source[step.start : step.end],
            tuple(one for one in found if one.step == number),
            judged.get(number, ""),
            tuple(one for one in marked if one.where == f"step {number}"),
        )
        for number, step in enumerate(material.steps, 1)
    )
    result.nowhere = tuple(one for one in found if not one.step)
    return result


def _shown(run: Run, material: Material) -> str:
    """The view of the grader, and a note if the problem has no guidelines to show."""
    shown = shown_of(run.scaffold, run.spec["params"])
    if shown.view.guidelines and not material.guidelines.strip():
        return f"{shown.words}; the problem has no guidelines"
    return shown.words


def _reference(material: Material, match: GradingMatched, pieces: Sequence[GradingPrepared]) -> ReferenceShown | None:
    given = sum(bool(one.strip()) for one in material.references)
    grouped = next((one for one in pieces if one.what == "clusters"), None)
    if grouped is None:
        return ReferenceShown(1, given, (), match.reason)
    cluster = Clusters.model_validate(grouped.value).named.get(match.cluster)
    return ReferenceShown(cluster.representative, given, cluster.steps, match.reason) if cluster else None


def _items(grading: Grading, pieces: Sequence[GradingPrepared]) -> tuple[ItemShown, ...]:
    rubrics = [Rubric.model_validate(one.value) for one in pieces if one.what == "rubric"]
    # A grader that shows items of a rubric has prepared exactly one; an ensemble shows none.
    required = dict(zip((f"M{number}" for number in count(1)), rubrics[0].items, strict=False)) if len(rubrics) == 1 else {}
    shown = []
    for one in grading.items:
        item = required.get(one.code)
        shown.append(ItemShown(one, item.full, item.deductions) if item else ItemShown(one))
    return tuple(shown)


def _piece_words(prepared: GradingPrepared) -> str:
    """The label of a piece, such as `analysis, by approachability`; the slot's name ends with the manner."""
    manner = prepared.slot.split("/")[2:]
    how = [_MANNERS[one] for one in manner if one in _MANNERS]
    return ", ".join([{"clusters": "groups of the references"}.get(prepared.what, prepared.what), *how])
