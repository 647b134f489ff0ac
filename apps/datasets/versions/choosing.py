"""Choice of the runs for a dataset, and the exclusion of runs that must not be trained on, above all benchmarks."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from apps.accounts.models import User
from apps.datasets.recorded.trajectories import LeftOut
from apps.preparation.contamination import ORIGINS
from apps.preparation.models import BenchmarkText
from apps.problems.models import Problem, ProblemVersion
from apps.reasoning.texts.likeness import tokens_of
from apps.recipes.recipe import Training
from apps.runs.access import run_visible_to
from apps.runs.models import GRADINGS, Run, RunStatus

MOST_RUNS = 20_000


class NothingToMake(Exception):
    """No dataset can be made of the chosen runs; the message says why and what to do."""


@dataclass
class Chosen:
    """Chosen runs, in order; `left`: runs left out before any call was read."""

    runs: list[Run]
    left: LeftOut = field(default_factory=LeftOut)

    @property
    def by_problem(self) -> dict[int, list[Run]]:
        found: dict[int, list[Run]] = {}
        for run in self.runs:
            found.setdefault(run.problem_version_id, []).append(run)
        return found


def runs_to_choose(user: User | None) -> "list[Run]":
    """Finished explorations visible to `user` (None: all), newest first."""
    runs = Run.objects.all() if user is None else run_visible_to(user)
    finished = runs.filter(status=RunStatus.FINISHED, is_authored=False).exclude(preset__in=GRADINGS)
    found = finished.select_related("problem_version__problem").order_by("-finished_at", "-pk")[:MOST_RUNS]
    return [run for run in found if run.is_attempt]


def runs_chosen(runs: Sequence[Run], recipe: Training) -> Chosen:
    """Usable runs of `runs`. Raises `NothingToMake` where recordings are missing or incompatible."""
    chosen, benchmark = Chosen([]), benchmark_hashes()
    for run in runs:
        if reason := exclusion(run, benchmark):
            chosen.left.add(reason, f"{run.title} ({run.public_id})")
        else:
            chosen.runs.append(run)
    if not chosen.runs:
        why = "; ".join(f"{row['count']} × {row['reason']}" for row in chosen.left.rows) or "no run was chosen"
        raise NothingToMake(f"None of the runs can be used: {why}. Choose other runs.")
    _tokens_require(chosen.runs, recipe)
    return chosen


def content_hash(statement: str) -> str:
    """Hash of a statement's words, numbers and signs, independent of its typesetting."""
    return hashlib.sha256(" ".join(tokens_of(statement)).encode()).hexdigest()


def benchmark_hashes() -> frozenset[str]:
    """Content hashes of all benchmark texts and of all problems imported from a benchmark's file."""
    texts: Iterable[str] = BenchmarkText.objects.values_list("text", flat=True).iterator()
    problems = Problem.objects.filter(origin__in=ORIGINS)
    statements = ProblemVersion.objects.filter(problem__in=problems).values_list("statement", flat=True).iterator()
    return frozenset(content_hash(text) for one in (texts, statements) for text in one)


def exclusion(run: Run, benchmark: frozenset[str], *, under_way: bool = False) -> str:
    """Reason for excluding a run; empty for a usable run. `under_way`: accept unfinished runs."""
    if run.status != RunStatus.FINISHED and not under_way:
        return "a run that has not finished"
    if not run.is_attempt:
        return "a run whose calls are not attempts at the problem"
    if run.is_authored:
        return "texts not written by a model"
    if content_hash(run.problem_version.statement) in benchmark:
        return "a benchmark problem, reserved for measuring"
    return ""


def _tokens_require(runs: Sequence[Run], recipe: Training) -> None:
    """Check that reinforcement learning has log-probabilities of every run, and any recipe a single tokenizer.

    Raises `NothingToMake`.
    """
    without = [run for run in runs if not _has_tokens(run)]
    if not recipe.is_supervised and without:
        named = ", ".join(str(run.public_id) for run in without[:5])
        raise NothingToMake(
            f"{recipe.title} needs the log-probabilities of every token, but {len(without)} of {len(runs)} runs were not "
            f"recorded for learning ({named}). Leave these out, choose a supervised recipe, or start runs with “Record for "
            "learning”."
        )
    if without and len(without) < len(runs):
        raise NothingToMake(
            f"{len(without)} of {len(runs)} runs have no recorded tokens. A version cannot mix tokens and texts. Make one "
            "dataset of each kind."
        )
    tokenizers: dict[str, list[Run]] = {}
    for run in runs:
        for tokenizer in run.token_shards.values_list("tokenizer", flat=True).distinct().order_by():
            tokenizers.setdefault(tokenizer, []).append(run)
    if len(tokenizers) > 1:
        parts = "; ".join(f"{one[:12]}…: {len(found)} runs, e.g. {found[0].public_id}" for one, found in tokenizers.items())
        raise NothingToMake(
            f"The runs have tokens of {len(tokenizers)} different tokenizers ({parts}). Choose the runs of one tokenizer."
        )


def _has_tokens(run: Run) -> bool:
    return run.token_shards.exists() or (run.forked_from is not None and _has_tokens(run.forked_from))
