"""Choice of a job's problems from a problem set, by how many earlier attempts of a model solved them.

Attempts are those of difficulty runs and of scored cells of experiments on solving. QED-Nano leaves out problems that are never
solved or in at least 0.7 of the attempts. LIMO takes the hardest ones that are solved at least once.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from django.db.models import Count, F, Q

from apps.experiments.models import CellScore
from apps.learning.rollouts.plan import title_of_alias
from apps.preparation.quality import aliases_attempting
from apps.problem_sets.models import ProblemSetVersion
from apps.problems.models import ProblemVersion
from apps.reasoning.domain.event_base import Kind
from apps.reasoning.domain.values import Value
from apps.runs.models import RunEvent, aliases_text

Order = Literal["listed", "easy", "mixed"]
ORDERS: tuple[tuple[Order, str], ...] = (
    ("listed", "as in the set"),
    ("easy", "easy to hard, in every visit"),
    ("mixed", "mixed, the same in every visit"),
)


class Selection(Value):
    """How problems are chosen. Empty limits choose all.

    `attempts_by`: the model whose attempts count; a problem needs `least_attempts`. `lowest` and `highest`: share of solved
    attempts, from the first up to but without the second. `hardest`: the most that are kept, of those solved at least once.
    """

    attempts_by: str = ""
    least_attempts: int = 4
    lowest: float | None = None
    highest: float | None = None
    hardest: int | None = None
    order: Order = "listed"

    @property
    def needs_attempts(self) -> bool:
        """Whether it chooses or orders by attempts."""
        return self.order == "easy" or any(one is not None for one in (self.lowest, self.highest, self.hardest))


@dataclass(frozen=True)
class Attempts:
    """Attempts at a problem, and how many got full points."""

    solved: int = 0
    count: int = 0

    @property
    def rate(self) -> float:
        """Share of solved attempts."""
        return self.solved / self.count if self.count else 0.0


@dataclass(frozen=True)
class Choice:
    """Chosen problems (slugs) in their order, and how many were left out by reason."""

    problems: tuple[str, ...]
    left: Mapping[str, int]


def choose(versions: Sequence[ProblemVersion], selection: Selection, seed: int) -> Choice:
    """Choose from these problems and order them."""
    attempts = attempts_of(versions, selection.attempts_by) if selection.attempts_by else {}
    left: Counter[str] = Counter()
    kept: list[tuple[float, str]] = []
    for version in versions:
        known = attempts.get(version.pk, Attempts())
        if reason := _reason(known, selection):
            left[reason] += 1
        else:
            kept.append((known.rate, version.problem.slug))
    if selection.hardest is not None and len(kept) > selection.hardest:
        left[f"easier than the hardest {selection.hardest:,}"] = len(kept) - selection.hardest
        hardest = set(sorted(kept)[: selection.hardest])
        kept = [one for one in kept if one in hardest]
    if selection.order == "easy":
        kept.sort(key=lambda one: -one[0])
    elif selection.order == "mixed":
        random.Random(seed).shuffle(kept)  # noqa: S311 - an order, not a secret
    return Choice(tuple(slug for _, slug in kept), dict(left))


def _reason(known: Attempts, selection: Selection) -> str:
    """Why a problem is left out; "" if it is not."""
    if not selection.needs_attempts:
        return ""
    if known.count < selection.least_attempts:
        return f"fewer than {selection.least_attempts:,} attempts by {selection.attempts_by}"
    if not known.solved and (selection.lowest or selection.hardest is not None):
        return "never solved"
    if selection.lowest is not None and known.rate < selection.lowest:
        return f"solved in less than {selection.lowest:g} of the attempts"
    if selection.highest is not None and known.rate >= selection.highest:
        return f"solved in {selection.highest:g} of the attempts or more"
    return ""


def attempts_of(versions: Sequence[ProblemVersion], alias: str) -> dict[int, Attempts]:
    """Attempts of a model at these versions, by primary key."""
    keys = [version.pk for version in versions]
    found: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    full = Q(points=F("scale"))
    scored = CellScore.objects.filter(state=CellScore.State.SCORED, cell__item__problem__in=keys)
    scores = scored.filter(cell__run__aliases=aliases_text([alias]))
    by_problem = scores.order_by().values_list("cell__item__problem")
    counts = {"attempts": Count("cell", distinct=True), "solved": Count("cell", distinct=True, filter=full)}
    for pk, count, solved in by_problem.annotate(**counts):
        found[pk][0] += solved
        found[pk][1] += count
    events = RunEvent.objects.filter(kind=Kind.GRADING_DIFFICULTY, run__problem_version__in=keys)
    for pk, spec, body in events.values_list("run__problem_version", "run__spec", "body"):
        if aliases_attempting(spec) == {alias}:
            given = [Decimal(str(points)) for points in body["points"] if points is not None]
            found[pk][0] += sum(points >= Decimal(str(body["scale"])) for points in given)
            found[pk][1] += len(given)
    return {pk: Attempts(*counts) for pk, counts in found.items()}


def _set_title(name: str) -> str:
    """Title of a version of a problem set, such as `all-problems@1`; its name where it is gone."""
    slug, _, number = name.rpartition("@")
    found = ProblemSetVersion.objects.select_related("problem_set").filter(problem_set__slug=slug, number=number).first()
    return f"“{found.problem_set.title}”, version {found.number}," if found else name


def words_of(chosen: Mapping[str, Any]) -> list[str]:
    """What was chosen and why, for the job's page. `chosen`: as `RolloutPlan.chosen`."""
    if not chosen:
        return []
    selection = Selection.model_validate(chosen["selection"])
    kept, left = int(chosen["kept"]), {str(reason): int(count) for reason, count in chosen["left"].items()}
    total = kept + sum(left.values())
    found = [f"{kept:,} of the {total:,} problems of {_set_title(chosen['set'])} are played, {dict(ORDERS)[selection.order]}."]
    if selection.needs_attempts:
        found.append(f"Their difficulty is the share of attempts by {title_of_alias(selection.attempts_by)} with full points.")
    if left:
        ordered = sorted(left.items(), key=lambda one: -one[1])
        found.append("Left out: " + "; ".join(f"{count:,} {reason}" for reason, count in ordered) + ".")
    return found
