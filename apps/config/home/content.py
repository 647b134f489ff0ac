"""Content of the home page by role: running and recent runs, problems to start with."""

from dataclasses import dataclass

from django.db.models import Case, Count, F, When

from apps.accounts.models import User
from apps.explorations.selectors import list_state
from apps.explorations.words import scaffold_word
from apps.lemmas.models import Lemma, LemmaState
from apps.problems.access import library_of
from apps.problems.models import Problem
from apps.runs.access import run_visible_to
from apps.runs.models import IMPORTED, LIVE, Run
from apps.runs.selectors import phase_summary, run_list

LIVE_SHOWN = 6
RECENT_SHOWN = 8
PROBLEMS_SHOWN = 6
SPARK_WIDTH = 96
SPARK_HEIGHT = 20


@dataclass(frozen=True)
class Bar:
    """One bar of a sparkline, in the units of its drawing."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class HomeRun:
    """A run with its number of lemmas (merged ones count once) and its tokens per round as bars."""

    run: Run
    lemmas: int
    bars: list[Bar]
    rounds: int

    @property
    def state(self) -> tuple[str, str]:
        """Glyph and words as in the list of runs; for an ended run, its outcome."""
        return list_state(self.run)

    @property
    def scaffold(self) -> str:
        """The scaffold's title, or the kind of import."""
        return scaffold_word(self.run.scaffold)

    @property
    def budget_share(self) -> float | None:
        """The used share of the token budget, 0 to 1; None without a budget."""
        limit = self.run.budget.get("tokens")
        return min(1.0, self.run.tokens / limit) if limit else None


def spark_bars(values: list[int]) -> list[Bar]:
    """Bars of a sparkline over its whole width and height. Every non-zero value has at least height 1."""
    if not values:
        return []
    top = max(*values, 1)
    slot = SPARK_WIDTH / max(len(values), 8)
    bars = []
    for index, value in enumerate(values):
        height = max(1.0, SPARK_HEIGHT * value / top) if value else 0.0
        bars.append(Bar(round(index * slot, 2), round(SPARK_HEIGHT - height, 2), round(slot * 0.75, 2), round(height, 2)))
    return bars


def tokens_per_round(run: Run) -> list[int]:
    """Completion tokens of each round so far, from round 1. Work outside the rounds (round 0) is left out."""
    rounds: dict[int, int] = {}
    for row in phase_summary(run):
        rounds[row["round"]] = rounds.get(row["round"], 0) + (row["completion"] or 0)
    return [rounds.get(number, 0) for number in range(1, max(rounds, default=0) + 1)]


def home_runs(user: User) -> tuple[list[HomeRun], list[HomeRun]]:
    """The live runs that `user` may see, newest first, and the latest ended ones."""
    visible = run_list(run_visible_to(user))
    live = list(visible.filter(status__in=LIVE)[:LIVE_SHOWN])
    # An import ended elsewhere, maybe years ago; here it is as recent as its import.
    came = Case(When(preset=IMPORTED, then=F("created_at")), default=F("finished_at"))
    recent = list(visible.exclude(status__in=LIVE).order_by(came.desc(nulls_last=True), "-pk")[:RECENT_SHOWN])
    lemmas = Lemma.objects.filter(run__in=[*live, *recent]).exclude(status=LemmaState.MERGED)
    counts = dict(lemmas.values_list("run").annotate(count=Count("pk")))

    def row(run: Run, tokens: list[int]) -> HomeRun:
        return HomeRun(run, counts.get(run.pk, 0), spark_bars(tokens), len(tokens))

    return [row(run, tokens_per_round(run)) for run in live], [row(run, []) for run in recent]


def home_problems(user: User) -> list[Problem]:
    """The newest problems that `user` may read."""
    return list(library_of(user).order_by("-created_at", "-pk")[:PROBLEMS_SHOWN])
