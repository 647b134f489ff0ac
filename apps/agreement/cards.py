"""Grader cards: cost and consistency of one workflow with the same models, prompts and settings.

A card says nothing about accuracy, which needs people's points (see the agreement pages). Its gradings are runs that the reader
may see, and suggestions on settled scripts of contests that the reader may know (`experiment_access`).
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from statistics import fmean
from typing import Any

from apps.accounts.models import User
from apps.agreement.sources.sources import NO_POINTS
from apps.experiments.access import cases_shown
from apps.graders.planning.naming import players_read
from apps.graders.planning.plans import PlanWrong
from apps.graders.planning.settings import MATERIAL, digest_of, settings_words
from apps.graders.planning.shown import shown_of, shown_suggested
from apps.graders.planning.spending import spendings_of
from apps.marks.models import Suggestion, SuggestionState
from apps.reasoning.agreement.consistency import Consistency, consistency, without_replays
from apps.reasoning.domain.grading_events import GradingReached
from apps.reasoning.domain.spending import Amount, Spending
from apps.reasoning.domain.values import Unscored
from apps.reasoning.graders.grader import FINAL
from apps.reasoning.graders.grading import failure_in
from apps.reasoning.graders.pieces.slots import is_approved
from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.marking.suggestion import Cost
from apps.runs.access import run_visible_to
from apps.runs.models import Run, RunEvent, RunStatus

#: Cards use this many of the newest gradings that the reader may see.
GRADINGS_AT_MOST = 2_000
_KEY = 12
#: Consistency over scripts with different scales is given in points of this scale.
SCALE = Decimal(7)
#: Prefix of the names of model graders of suggestions.
FAMILY = "workflow:"
NOT_KEPT = "settings not kept"


Key = tuple[str, str, str, str, str]
"""Workflow, models, digest of the prompts, settings label, view label."""


@dataclass(frozen=True)
class Graded:
    """One grading: its run, points out of `scale` or the reason without points, and its cost.

    `is_view_kept`: its view was recorded. `is_apart`: preparation was counted separately; in older suggestions `spent.online`
    includes it. `script` is a digest of the script with all material; the same digest and `seed` make a replay. A suggestion
    has no run, but the primary key of its `case`.
    """

    run: str
    title: str
    script: str
    points: Decimal | Unscored
    scale: Decimal
    spent: Spending
    seconds: float
    at: datetime
    case: int | None = None
    is_apart: bool = True
    is_view_kept: bool = True
    seed: int | None = None


@dataclass(frozen=True)
class Card:
    """All gradings with one workflow, models, prompts, settings and view.

    `prompts` is the digest of the prompts' hashes; `settings` is a label that ends in a digest.
    """

    key: str
    workflow: str
    models: str
    prompts: str
    settings: str
    shown: str
    gradings: Sequence[Graded]

    @property
    def title(self) -> str:
        return GRADERS[self.workflow].title

    @property
    def before_views(self) -> int:
        """Number of gradings recorded before views were."""
        return sum(not one.is_view_kept for one in self.gradings)

    @property
    def scripts(self) -> int:
        return len({one.script for one in self.gradings})

    @property
    def unscored(self) -> int:
        return sum(isinstance(one.points, Unscored) for one in self.gradings)

    @property
    def mixed(self) -> int:
        """Number of gradings that do not count preparation separately."""
        return sum(not one.is_apart for one in self.gradings)

    @property
    def counted(self) -> Sequence[Graded]:
        """The gradings in the mean cost: those that count preparation separately, else all."""
        return [one for one in self.gradings if one.is_apart] or self.gradings

    @property
    def calls(self) -> float:
        """Mean number of calls for the script alone."""
        return fmean(one.spent.online.calls for one in self.counted)

    @property
    def tokens(self) -> float:
        """Mean number of tokens for the script alone, prompts and answers."""
        return fmean(one.spent.online.tokens for one in self.counted)

    @property
    def prepared(self) -> Amount:
        """Total cost of preparing problems for all their scripts."""
        return sum((one.spent.prepared for one in self.gradings), Amount())

    @property
    def preparing(self) -> int:
        """Number of gradings that prepared something."""
        return sum(bool(one.spent.prepared.calls) for one in self.gradings)

    @property
    def seconds(self) -> float:
        """Mean active time of a run in seconds."""
        return fmean(one.seconds for one in self.gradings)

    @property
    def consistency(self) -> Consistency | Unscored:
        """Consistency over scripts graded with several seeds and the same material, in points out of 7; not accuracy."""
        return consistency([points for points, _ in self._by_script()])

    @property
    def replays(self) -> int:
        """Number of gradings with the seed of another one on the same script; consistency excludes them."""
        return sum(replays for _, replays in self._by_script())

    def _by_script(self) -> list[tuple[list[float | Unscored], int]]:
        by_script: dict[str, list[tuple[int | None, float | Unscored]]] = defaultdict(list)
        for one in self.gradings:
            points = one.points if isinstance(one.points, Unscored) else float(one.points * SCALE / one.scale)
            by_script[one.script].append((one.seed, points))
        return [without_replays(runs) for runs in by_script.values()]


def cards_for(user: User) -> list[Card]:
    """The cards over the gradings that a user may see, those with most gradings first."""
    rows = run_visible_to(user).filter(scaffold__in=GRADERS, status=RunStatus.FINISHED).order_by("-pk")
    results = _results(list(rows.values_list("pk", flat=True)[:GRADINGS_AT_MOST]))
    found: dict[Key, list[Graded]] = defaultdict(list)
    runs = Run.objects.filter(pk__in=results).order_by("-pk").values(
        "pk", "public_id", "title", "scaffold", "active_seconds", "finished_at", "created_at", "spec__roles",
        "spec__prompt_hashes", "spec__params", "spec__problem", "spec__seed",
    )  # fmt: skip
    spent = spendings_of(list(results))
    for run in runs.iterator(chunk_size=100):
        shown = shown_of(run["scaffold"], run["spec__params"])
        key = (
            run["scaffold"],
            _models(run["spec__roles"]),
            digest_of(run["spec__prompt_hashes"]),
            settings_words(run["scaffold"], run["spec__params"], run["spec__roles"]),
            shown.view.words,
        )
        graded = _graded(run, *results[run["pk"]], spent.get(run["pk"], Spending()))
        found[key].append(replace(graded, is_view_kept=shown.is_recorded))
    for key, suggested in _suggested(user):
        found[key].append(suggested)
    cards = [
        Card(digest_of(key)[:_KEY], workflow, models, prompts[:_KEY], settings, shown, gradings)
        for key, gradings in found.items()
        for workflow, models, prompts, settings, shown in (key,)
    ]
    return sorted(cards, key=lambda card: (-len(card.gradings), card.workflow, card.models, card.settings))


def _results(runs: Sequence[int]) -> dict[int, tuple[Decimal | Unscored, Decimal]]:
    """By run: points of its final grading and their scale. Gradings without an answer are excluded."""
    rows = RunEvent.objects.filter(run__in=runs, kind=GradingReached.kind, body__name=FINAL).order_by("seq")
    found: dict[int, tuple[Decimal | Unscored, Decimal]] = {}
    reached = rows.values_list("run", "body__points", "body__unscored", "body__grading__scale", "body__grading__passes")
    for run, points, unscored, scale, passes in reached:
        if _is_unanswered(unscored, passes):
            continue
        given = Unscored(reason=unscored or NO_POINTS) if points is None else Decimal(str(points))
        found[run] = given, Decimal(str(scale)) if scale else SCALE
    return found


def _suggested(user: User) -> Iterator[tuple[Key, Graded]]:
    """Suggestions by model graders on settled scripts that the user may know; one per script and grader, so no repeats."""
    rows = Suggestion.objects.filter(
        version__case__in=cases_shown(user).values("pk"), state=SuggestionState.DONE, grader__startswith=FAMILY
    )
    answers = rows.order_by("-pk").values_list(
        "grader", "key", "done_at", "version__case", "version__submission__paper__number",
        "version__submission__problem__label", "body__cost", "body__proposed", "body__unscored", "body__scale",
        "body__prompts", "body__settings", "body__passes", "body__view",
    )  # fmt: skip
    for row in answers[:GRADINGS_AT_MOST]:
        grader, key, at, case, number, label, kept, points, unscored, scale, prompts, settings, passes, view = row
        workflow, models = _named(grader.removeprefix(FAMILY))
        shown = shown_suggested(grader.removeprefix(FAMILY), view or ())
        if not kept or at is None or shown is None or _is_unanswered(unscored, passes):
            continue
        cost = Cost.model_validate(kept)
        yield (
            (workflow, models, prompts or "", settings or NOT_KEPT, shown.view.words),
            Graded(
                run="",
                title=f"{number} · problem {label}",
                script=key,
                points=Unscored(reason=unscored or NO_POINTS) if points is None else Decimal(str(points)),
                scale=Decimal(str(scale)) if scale else SCALE,
                spent=Spending(online=cost.online, prepared=cost.prepared or Amount()),
                seconds=cost.seconds,
                at=at,
                case=case,
                is_apart=cost.prepared is not None,
                is_view_kept=shown.is_recorded,
            ),
        )


def _is_unanswered(unscored: str | None, passes: Sequence[Mapping[str, Any]] | None) -> bool:
    return bool(failure_in(unscored or "", [one.get("unscored") or "" for one in passes or ()]))


def _named(name: str) -> tuple[str, str]:
    """Workflow and models in a grader's name, formatted as by `_models`."""
    variant, _, players = name.partition("@")
    workflow = variant.split("+")[0]
    try:
        by_role = players_read(players, GRADERS[workflow])
    except (KeyError, PlanWrong):
        return workflow, players
    return workflow, _models({role: {"alias": alias} for role, alias in by_role.items()})


def _graded(run: Mapping[str, Any], points: Decimal | Unscored, scale: Decimal, spent: Spending) -> Graded:
    params = run["spec__params"]
    approved = {name: value for name, value in params.get("prepared", {}).items() if is_approved(name)}
    return Graded(
        run=str(run["public_id"]),
        title=run["title"],
        script=digest_of([run["spec__problem"], *(params.get(name) or None for name in MATERIAL), approved]),
        points=points,
        scale=scale,
        spent=spent,
        seconds=run["active_seconds"],
        at=run["finished_at"] or run["created_at"],
        seed=run["spec__seed"],
    )


def _models(roles: Mapping[str, Mapping[str, Any]]) -> str:
    """The aliases of the roles; a single name if one model plays all roles."""
    aliases = {name: str(role["alias"]) for name, role in sorted(roles.items())}
    if len(set(aliases.values())) == 1:
        return next(iter(aliases.values()))
    return ", ".join(f"{name}: {alias}" for name, alias in aliases.items())
