"""Which runs a dataset may be made from, and which of them it must leave out: benchmarks above all."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from apps.accounts.models import User
from apps.datasets.recipes import Recipe
from apps.datasets.trajectories import Left
from apps.grading.contamination import ORIGINS
from apps.grading.preparing_models import BenchmarkText
from apps.problems.models import Problem, ProblemVersion
from apps.reasoning.texts.likeness import tokens_of
from apps.runs.access import run_visible_to
from apps.runs.models import BATCHED, Run, RunStatus

MOST_RUNS = 20_000


class NothingToMake(Exception):
    """No dataset can be made of what was chosen; the text says why and what to do."""


@dataclass
class Chosen:
    """The runs by problem version, in order; `left` is what was left out before any call was read."""

    runs: list[Run]
    left: Left = field(default_factory=Left)

    @property
    def by_problem(self) -> dict[int, list[Run]]:
        found: dict[int, list[Run]] = {}
        for run in self.runs:
            found.setdefault(run.problem_version_id, []).append(run)
        return found


def runs_to_choose(user: User | None) -> "list[Run]":
    """The finished explorations that `user` sees (None: all), newest first."""
    runs = Run.objects.all() if user is None else run_visible_to(user)
    finished = runs.filter(status=RunStatus.FINISHED, is_authored=False).exclude(preset=BATCHED)
    found = finished.select_related("problem_version__problem").order_by("-finished_at", "-pk")[:MOST_RUNS]
    return [run for run in found if run.is_attempt]


def runs_chosen(runs: Sequence[Run], recipe: Recipe) -> Chosen:
    """What of `runs` can be learned from. Raises `NothingToMake` where recordings are missing or do not fit together."""
    chosen, benchmark = Chosen([]), benchmark_hashes()
    for run in runs:
        if reason := unfit(run, benchmark):
            chosen.left.out(reason, f"{run.title} ({run.public_id})")
        else:
            chosen.runs.append(run)
    if not chosen.runs:
        why = "; ".join(f"{row['count']} × {row['reason']}" for row in chosen.left.rows) or "none was chosen"
        raise NothingToMake(f"No run is left to make a dataset from: {why}.")
    _tokens_require(chosen.runs, recipe)
    return chosen


def content_hash(statement: str) -> str:
    """The hash of a statement's words, numbers and signs, whatever its typesetting."""
    return hashlib.sha256(" ".join(tokens_of(statement)).encode()).hexdigest()


def benchmark_hashes() -> frozenset[str]:
    """Of every text of a benchmark set and of every problem that came in a benchmark's file."""
    texts: Iterable[str] = BenchmarkText.objects.values_list("text", flat=True).iterator()
    problems = Problem.objects.filter(origin__in=ORIGINS)
    statements = ProblemVersion.objects.filter(problem__in=problems).values_list("statement", flat=True).iterator()
    return frozenset(content_hash(text) for one in (texts, statements) for text in one)


def unfit(run: Run, benchmark: frozenset[str], *, under_way: bool = False) -> str:
    """Why nothing may be learned from a run; empty where it may. `under_way`: it need not have finished."""
    if run.status != RunStatus.FINISHED and not under_way:
        return "a run that has not finished"
    if not run.is_attempt:
        return "a run whose calls are no attempts at the problem"
    if run.is_authored:
        return "authored texts, which no model wrote"
    if content_hash(run.problem_version.statement) in benchmark:
        return "a problem of a benchmark, which is kept for measuring"
    return ""


def _tokens_require(runs: Sequence[Run], recipe: Recipe) -> None:
    """Reinforcement needs log-probabilities of every run, any recipe one tokenizer."""
    without = [run for run in runs if not _has_tokens(run)]
    if not recipe.is_supervised and without:
        named = ", ".join(str(run.public_id) for run in without[:5])
        raise NothingToMake(
            f"{recipe.title} needs the log-probabilities of every token, and {len(without)} of {len(runs)} runs were not "
            f"recorded for learning ({named}). They can serve supervised recipes only; leave them out, or start runs "
            "with “Record for learning”."
        )
    if without and len(without) < len(runs):
        raise NothingToMake(
            f"{len(without)} of {len(runs)} runs have no recorded tokens. Tokens and mere texts do not mix in one version: "
            "make one dataset of each."
        )
    tokenizers: dict[str, list[Run]] = {}
    for run in runs:
        for tokenizer in run.token_shards.values_list("tokenizer", flat=True).distinct().order_by():
            tokenizers.setdefault(tokenizer, []).append(run)
    if len(tokenizers) > 1:
        parts = "; ".join(f"{one[:12]}…: {len(found)} runs, such as {found[0].public_id}" for one, found in tokenizers.items())
        raise NothingToMake(
            f"The runs were written with {len(tokenizers)} different tokenizers ({parts}). Choose those of one."
        )


def _has_tokens(run: Run) -> bool:
    return run.token_shards.exists() or (run.forked_from is not None and _has_tokens(run.forked_from))
