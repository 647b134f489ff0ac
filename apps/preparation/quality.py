"""Suitability of a problem for training: quality flags, similarity to benchmarks, measured difficulty."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from apps.accounts.models import User
from apps.graders.planning.plans import PlanWrong
from apps.graders.planning.shown import shown_before
from apps.preparation.contamination import Match, benchmark_of, matches_of
from apps.preparation.runs import problem_spec, runs_about
from apps.problems.models import Problem
from apps.reasoning.domain.event_base import Event
from apps.reasoning.domain.grading_events import DifficultyFound, GradingUnprepared, QualityFound
from apps.reasoning.domain.values import Unscored
from apps.reasoning.graders.problems.attempting import ATTEMPTING
from apps.reasoning.graders.problems.difficulty import NAME as DIFFICULTY
from apps.reasoning.graders.problems.difficulty import attempting_by, grading_by
from apps.reasoning.graders.problems.quality import MEANINGS, Flag, flags_standing
from apps.reasoning.graders.problems.quality import NAME as QUALITY
from apps.reasoning.graders.registry import GRADERS, PREPARERS
from apps.reasoning.graders.view import View
from apps.reasoning.graders.with_references import BY_REFERENCE
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.scaffolds.spec import RunSpec
from apps.reasoning.story.vocabulary import event_from
from apps.runs.models import Run

E = TypeVar("E", bound=Event)
#: Flags that are shown but do not exclude a problem, as the paper found them too noisy.
INFORMATIONAL = frozenset({Flag.COMPUTATIONAL})


@dataclass(frozen=True)
class FlagShown:
    """A flag with the number of samples that raise it, of readable samples, and their reasons."""

    name: str
    meaning: str
    yes: int
    readable: int
    is_raised: bool
    reasons: tuple[str, ...]


@dataclass
class QualityShown:
    """The flags from the last runs. `is_old`: the statement or the references have changed since."""

    runs: list[Run]
    run: Run | None = None
    flags: list[FlagShown] = field(default_factory=list)
    unknown: str = ""
    lost: GradingUnprepared | None = None
    is_old: bool = False

    @property
    def raised(self) -> list[str]:
        """The names of the raised flags."""
        return [one.name for one in self.flags if one.is_raised]


@dataclass
class DifficultyShown:
    """The difficulty from the last finished run. `bars`: points, number of attempts, and bar length in percent."""

    runs: list[Run]
    run: Run | None = None
    found: DifficultyFound | None = None
    bars: list[tuple[float, int, int]] = field(default_factory=list)
    unscored: int = 0
    by: str = ""
    is_old: bool = False


@dataclass(frozen=True)
class Verdict:
    """Whether a problem would be kept in a collection, and the reasons why not. `benchmark`: the one it was imported from."""

    quality: QualityShown
    matches: list[Match]
    difficulty: DifficultyShown
    benchmark: str = ""

    @property
    def reasons(self) -> list[str]:
        """The reasons to exclude it."""
        found = [name for name in self.quality.raised if name not in INFORMATIONAL]
        found += [f"from {self.benchmark} itself"] if self.benchmark else []
        return found + [f"same as {one.collection} {one.name}" for one in self.matches if one.is_same]

    @property
    def keeps(self) -> bool | None:
        """Whether to keep it; None if the flags are unknown and there is no other reason to exclude it."""
        if self.reasons:
            return False
        return None if self.quality.unknown or not self.quality.flags else True


def verdict_of(problem: Problem, user: User | None = None) -> Verdict:
    """The verdict on a problem from all known results."""
    return Verdict(quality_of(problem), matches_of(problem, user), difficulty_of(problem), benchmark_of(problem))


def quality_of(problem: Problem) -> QualityShown:
    """The flags of the newest run with flags."""
    shown = QualityShown(runs_about(problem, QUALITY))
    for run in shown.runs:
        found = _last(run, QualityFound)
        if found is None:
            continue
        majority = flags_standing(found)
        raised = () if isinstance(majority, Unscored) else majority
        shown.run, shown.lost = run, _last(run, GradingUnprepared)
        shown.unknown = majority.reason if isinstance(majority, Unscored) else ""
        shown.flags = [
            FlagShown(flag, MEANINGS[flag], found.yes.get(flag, 0), found.readable, flag in raised, found.reasons.get(flag, ()))
            for flag in Flag
        ]
        shown.is_old = _is_old(run, problem)
        break
    return shown


def difficulty_of(problem: Problem) -> DifficultyShown:
    """The difficulty of the newest run with a result."""
    shown = DifficultyShown(runs_about(problem, DIFFICULTY))
    for run in shown.runs:
        if (found := _last(run, DifficultyFound)) is None:
            continue
        given = [points for points in found.points if points is not None]
        most = max((given.count(points) for points in set(given)), default=1)
        shown.run, shown.found, shown.unscored = run, found, len(found.points) - len(given)
        shown.by = attempted_by(run.spec)
        shown.bars = [(points, given.count(points), round(100 * given.count(points) / most)) for points in sorted(set(given))]
        shown.is_old = run.problem_version_id != problem.current.pk
        break
    return shown


def quality_spec(problem: Problem, alias: Alias, samples: int) -> RunSpec:
    """The spec of a run that determines the flags. Raises `PlanWrong`."""
    return problem_spec(PREPARERS[QUALITY], problem.current, {"": alias}, {"samples": samples, "prepared": {}})


def attempts_offered() -> list[tuple[str, str]]:
    """Methods of attempting a problem, by name: a single call ("") or a scaffold with one of its presets."""
    found = [("", "A single call")]
    for name, scaffold in ATTEMPTING.items():
        found += [(f"{name}:{preset}", f"{scaffold.title}: {one.title}") for preset, one in scaffold.presets.items()]
    return found


def difficulty_spec(problem: Problem, aliases: Mapping[str, Alias], attempts: int, workflow: str, by: str = "") -> RunSpec:
    """The spec of a run that measures the difficulty. `aliases`: of "solver" and "grader"; `by`: one of `attempts_offered`.

    Raises `PlanWrong`.
    """
    scaffold, _, preset = by.partition(":")
    if by not in dict(attempts_offered()):
        raise PlanWrong(f"No method {by} for attempts. Choose one of: {', '.join(name for name, _ in attempts_offered()[1:])}.")
    attempting, grading = attempting_by(scaffold, preset), grading_by(workflow)
    overrides: dict[str, Any] = {"attempts": attempts, "workflow": workflow}
    if workflow not in BY_REFERENCE:
        overrides |= {"references": (), "prepared": {}}
    if workflow in GRADERS:
        overrides["view"] = GRADERS[workflow].view
    if scaffold:
        overrides |= {"scaffold": scaffold, "attempt": ATTEMPTING[scaffold].presets[preset].params.model_dump(mode="json")}
    program = replace(PREPARERS[DIFFICULTY], roles=(*attempting, *grading))
    played = {role.name: aliases["solver"] for role in attempting} | {role.name: aliases["grader"] for role in grading}
    return problem_spec(program, problem.current, played, overrides)


def attempted_by(spec: Mapping[str, Any]) -> str:
    """Models and method of the attempts of a run, for display."""
    scaffold = spec["params"].get("scaffold", "")
    method = f" ({ATTEMPTING[scaffold].title})" if scaffold in ATTEMPTING else ""
    return f"{', '.join(sorted(aliases_attempting(spec)))}{method}"


def aliases_attempting(spec: Mapping[str, Any]) -> set[str]:
    """Models of the attempts of a run."""
    scaffold = spec["params"].get("scaffold", "")
    names = [role.name for role in attempting_by(scaffold if scaffold in ATTEMPTING else "")]
    return {spec["roles"][name]["alias"] for name in names if name in spec["roles"]}


def question_id(problem: Problem, spec: RunSpec, again: int = 0) -> uuid.UUID:
    """The `start_id` of a run from the terminal, so that the same question to the same models is started only once."""
    asked = spec.model_dump_json(
        exclude={
            "code_version": True,
            "budget": True,
            "priority": True,
            "params": {"view"},
            "roles": {
                name: {"context_tokens"} | ({"prompts"} if role.prompts == "full" else set())
                for name, role in spec.roles.items()
            },
        }
    )
    params = spec.params
    if (view := params.get("view")) and View(**view) != shown_before(params["workflow"], params):
        asked += f":{View(**view).parts}"
    return uuid.uuid5(problem.public_id, f"{again}:{asked}")


def _is_old(run: Run, problem: Problem) -> bool:
    asked = [one.strip() for one in run.spec["params"].get("references", [])]
    first = next(iter(problem.reference_solutions.all()), None)
    return run.problem_version_id != problem.current.pk or (first is not None and asked[:1] != [first.text.strip()])


def _last(run: Run, kind: type[E]) -> E | None:
    row = run.events.filter(kind=kind.kind).order_by("-seq").first()
    event = event_from(row.kind, row.body) if row else None
    return event if isinstance(event, kind) else None
