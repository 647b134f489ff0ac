"""Before a start: what a manifest would cost and what conflicts, and what of it can never run."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from django.core.exceptions import ValidationError

from apps.experiments.models import Experiment
from apps.experiments.refusals import ExperimentRefused, instead_of
from apps.experiments.solving.estimate import Forecast, Standing, forecast_of
from apps.experiments.solving.grading import grader_refusal
from apps.experiments.solving.manifest import Manifest, Team
from apps.experiments.solving.matrix import Place
from apps.experiments.solving.planning import Planner, plan_of, words_of
from apps.experiments.solving.services import is_free, items_chosen, manifest_stored, solving_extended
from apps.explorations.starting.plans import plan_params
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.programs.registry import SCAFFOLDS


def forecast_added(experiment: Experiment, manifest: Manifest, aliases: Mapping[str, Alias]) -> Forecast:
    """What a larger manifest adds. Raises `ExperimentRefused` if it is no extension."""
    if is_free(experiment):
        return forecast_of(manifest, items_chosen(manifest), Planner(manifest, aliases, experiment.owner))
    old = manifest_stored(experiment)
    cells = experiment.solving_cells.exclude(method__in=old.external)
    rows = Counter[tuple[str, str, int]](cells.values_list("method", "team", "budget"))
    standing = Standing(rows, frozenset(one.name for one in old.scorers if one.kind == "grader"), "the owner")
    larger, items = solving_extended(experiment, manifest)
    return forecast_of(larger, items, Planner(larger, aliases, experiment.owner), standing)


def require_runnable(manifest: Manifest, aliases: Mapping[str, Alias], known: Experiment | None = None) -> None:
    """Raise `ExperimentRefused` for a method, team or scorer that can never run. What has begun in `known` is not looked at.

    A started experiment could not be corrected, since an extension keeps all that it has.
    """
    old = None if known is None or is_free(known) else manifest_stored(known)
    if wrong := list(_never_run(manifest, old, aliases)):
        raise ExperimentRefused(f"Nothing was {'added' if old else 'started'}. {' '.join(wrong)}")


def _never_run(manifest: Manifest, old: Manifest | None, aliases: Mapping[str, Alias]) -> Iterator[str]:
    roles = {role.name for one in manifest.played if one.scaffold in SCAFFOLDS for role in SCAFFOLDS[one.scaffold].roles}
    for method in manifest.played:
        if old and method in old.methods:
            continue
        try:
            plan_params(plan_of(method, manifest.teams[0], manifest, Place("", method.name, manifest.teams[0].name, 0, 0)))
        except ValidationError as error:
            yield f"The method {method.name} cannot run. {words_of(error)}"
    for team in manifest.teams:
        if not old or team not in old.teams:
            yield from _team_troubles(team, roles, aliases)
    for scorer in manifest.scorers:
        is_new = not old or scorer not in old.scorers
        if is_new and scorer.kind == "grader" and (reason := grader_refusal(scorer, aliases)):
            yield f"The scorer {scorer.name} cannot grade. {reason}"


def _team_troubles(team: Team, roles: Collection[str], aliases: Mapping[str, Alias]) -> Iterator[str]:
    if unknown := [role for role in team.roles if role and role not in roles]:
        yield f"No method has the role {unknown[0]} of the team {team.name}. {instead_of(unknown[0], sorted(roles))}"
    if gone := [alias for alias in team.roles.values() if alias not in aliases]:
        yield f"The team {team.name} names {gone[0]}, and no enabled model has this name. {instead_of(gone[0], list(aliases))}"
