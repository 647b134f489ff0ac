"""Grader cards: what the gradings of one workflow by the same models with the same prompts and settings cost, and how steady
they are.

A card says nothing of accuracy: that takes people's points, and stands on the agreement pages. Gradings are runs that the
reader may see, and suggestions in contests whose scripts are settled, for who may know them (`experiment_access`).
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from statistics import fmean
from typing import Any

from apps.accounts.models import User
from apps.grading.asked_with import MATERIAL, digest_of, settings_words
from apps.grading.experiment_access import cases_shown
from apps.grading.naming import players_read
from apps.grading.plans import PlanWrong
from apps.grading.shown import shown_of, shown_suggested
from apps.grading.spending import spendings_of
from apps.marks.models import Suggestion, SuggestionState
from apps.reasoning.agreement.consistency import Consistency, consistency, without_replays
from apps.reasoning.domain.grading_events import GradingReached
from apps.reasoning.domain.spending import Amount, Spending
from apps.reasoning.domain.values import Unscored
from apps.reasoning.graders.grader import FINAL
from apps.reasoning.graders.grading import failure_in
from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.graders.slots import is_approved
from apps.reasoning.marking.suggestion import Cost
from apps.runs.access import run_visible_to
from apps.runs.models import Run, RunEvent, RunStatus

#: Of all gradings that somebody may see, cards are made of so many, the newest.
GRADINGS_AT_MOST = 2_000
_KEY = 12
#: Steadiness over scripts of different scales is told in points of this one.
SCALE = Decimal(7)
#: Before the names of model graders of suggestions.
FAMILY = "workflow:"
NOT_KEPT = "settings not kept"


Key = tuple[str, str, str, str, str]
"""Workflow, models, digest of the prompts, settings in words, what is shown in words."""


@dataclass(frozen=True)
class Graded:
    """One grading: its run, points out of `scale` or why there are none, what it cost.

    `is_view_kept`: what it was shown was recorded. `is_apart`: what it prepared was counted apart; of suggestions made before
    that was so, all stands under `spent.online`. `script` is a digest of the script with all that was told of it: the same one
    is the same question, and with the same `seed` a replay of it. A suggestion has no run, and the key of the `case` that it
    is about.
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
    """All gradings by one workflow, models, prompts and settings that were shown the same.

    `prompts` is the digest of the prompts' hashes; `settings` say in words what they are, with a digest of all.
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
        """How many of its gradings were recorded before views were."""
        return sum(not one.is_view_kept for one in self.gradings)

    @property
    def scripts(self) -> int:
        return len({one.script for one in self.gradings})

    @property
    def unscored(self) -> int:
        return sum(isinstance(one.points, Unscored) for one in self.gradings)

    @property
    def unscored_share(self) -> float:
        return self.unscored / len(self.gradings)

    @property
    def mixed(self) -> int:
        """How many of its gradings do not tell apart what they prepared."""
        return sum(not one.is_apart for one in self.gradings)

    @property
    def counted(self) -> Sequence[Graded]:
        """The gradings whose cost is told: those that tell it apart, else all."""
        return [one for one in self.gradings if one.is_apart] or self.gradings

    @property
    def calls(self) -> float:
        """Mean of the calls for the script alone."""
        return fmean(one.spent.online.calls for one in self.counted)

    @property
    def tokens(self) -> float:
        """Mean of the tokens for the script alone, prompts and answers."""
        return fmean(one.spent.online.tokens for one in self.counted)

    @property
    def prepared(self) -> Amount:
        """All that its gradings spent to prepare problems for their other scripts."""
        return sum((one.spent.prepared for one in self.gradings), Amount())

    @property
    def preparing(self) -> int:
        """How many gradings prepared something."""
        return sum(bool(one.spent.prepared.calls) for one in self.gradings)

    @property
    def seconds(self) -> float:
        """Mean over gradings of the time in which the run was driven."""
        return fmean(one.seconds for one in self.gradings)

    @property
    def consistency(self) -> Consistency | Unscored:
        """Over the scripts that it was let at with several seeds and the same material, in points of 7. It is no accuracy."""
        return consistency([points for points, _ in self._by_script()])

    @property
    def replays(self) -> int:
        """How many gradings had the seed of another one of the same script; the consistency leaves them out."""
        return sum(replays for _, replays in self._by_script())

    def _by_script(self) -> list[tuple[list[float | Unscored], int]]:
        by_script: dict[str, list[tuple[int | None, float | Unscored]]] = defaultdict(list)
        for one in self.gradings:
            points = one.points if isinstance(one.points, Unscored) else float(one.points * SCALE / one.scale)
            by_script[one.script].append((one.seed, points))
        return [without_replays(runs) for runs in by_script.values()]


def cards_for(user: User) -> list[Card]:
    """The cards over the gradings that somebody may see, those with most gradings first."""
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
    """By run: what its final grading came to, and out of how many points. One for which no answer came is none."""
    rows = RunEvent.objects.filter(run__in=runs, kind=GradingReached.kind, body__name=FINAL).order_by("seq")
    found: dict[int, tuple[Decimal | Unscored, Decimal]] = {}
    told = rows.values_list("run", "body__points", "body__unscored", "body__grading__scale", "body__grading__passes")
    for run, points, unscored, scale, passes in told:
        if _is_unanswered(unscored, passes):
            continue
        given = Unscored(reason=unscored or "it has no points") if points is None else Decimal(str(points))
        found[run] = given, Decimal(str(scale)) if scale else SCALE
    return found


def _suggested(user: User) -> Iterator[tuple[Key, Graded]]:
    """Suggestions by model graders on settled scripts that this person may know. Each question is asked once: none repeats."""
    rows = Suggestion.objects.filter(
        version__case__in=cases_shown(user).values("pk"), state=SuggestionState.DONE, grader__startswith=FAMILY
    )
    told = rows.order_by("-pk").values_list(
        "grader", "key", "done_at", "version__case", "version__submission__paper__number",
        "version__submission__problem__label", "body__cost", "body__proposed", "body__unscored", "body__scale",
        "body__prompts", "body__settings", "body__passes", "body__view",
    )  # fmt: skip
    for row in told[:GRADINGS_AT_MOST]:
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
                points=Unscored(reason=unscored or "it has no points") if points is None else Decimal(str(points)),
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
    """Workflow and models of a grader's name, as `_models` has them."""
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
    """The aliases of the roles; one name where one model plays them all."""
    aliases = {name: str(role["alias"]) for name, role in sorted(roles.items())}
    if len(set(aliases.values())) == 1:
        return next(iter(aliases.values()))
    return ", ".join(f"{name}: {alias}" for name, alias in aliases.items())
