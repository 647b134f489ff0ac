"""What an experiment would cost, which cells cannot run and why, and which difference it could show."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.core.exceptions import ValidationError

from apps.experiments.refusals import CELLS_AT_MOST
from apps.experiments.solving.grading import grader_refusal
from apps.experiments.solving.grading_costs import gradings_cost
from apps.experiments.solving.manifest import EXTERNAL, Manifest, Method, Scorer, Team
from apps.experiments.solving.matrix import Place
from apps.experiments.solving.planning import Planner, plan_of, words_of
from apps.explorations.starting.plans import Plan, plan_duration, plan_estimate, plan_refusal, problem_text
from apps.problem_sets.contamination import flags_worded
from apps.problem_sets.models import ProblemSetItem, ProblemSetVersion
from apps.reasoning.answers.points import NO_ANSWER, why_outside
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.given import Given
from apps.reasoning.scaffolds.spec import Budget
from apps.reasoning.statistics.intervals import Undefined
from apps.reasoning.statistics.power import guessed, smallest_detectable
from apps.reasoning.statistics.prediction_powered import MARKED_PROBLEMS_AT_LEAST

#: Problems on which methods are tried without a call; more would only repeat the same refusals.
TRIED = 12
#: Share of solved problems that the detectable difference supposes where nothing is known.
RATE = 0.5


@dataclass(frozen=True)
class Standing:
    """What an experiment has before it is extended: cells by method, team and budget, and its graders by name.

    `owner`: whose runs they are, for sentences.
    """

    cells: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    graders: frozenset[str] = frozenset()
    owner: str = "you"


@dataclass
class Forecast:
    """New cells, with their expected calls, tokens and seconds, and the most calls. `seconds` is None if a speed is unknown.

    `stay`: cells that the experiment has already. `gradings`: answers that graders score, with calls and tokens of their own;
    with `curves`, earlier answers are graded too. `conflicts`: sentences about cells that cannot run, with what to do.
    `detectable`: what the whole experiment could show, in words. `flags`: signs that its models know problems of `version`.
    """

    cells: int
    problems: int
    stay: int = 0
    calls: int = 0
    calls_most: int = 0
    tokens: int = 0
    gradings: int = 0
    grading_calls: int = 0
    grading_calls_most: int = 0
    grading_tokens: int = 0
    curves: bool = False
    seconds: float | None = 0.0
    conflicts: list[str] = field(default_factory=list)
    detectable: str = ""
    flags: str = ""
    version: ProblemSetVersion | None = None


def forecast_of(
    manifest: Manifest, items: Sequence[ProblemSetItem], planner: Planner, standing: Standing | None = None
) -> Forecast:
    """Estimate without a call, from a sample of the problems spread over the set. `standing` costs nothing any more."""
    standing = standing or Standing()
    pairs = [(method, team) for method in manifest.methods for team in manifest.teams if method.scaffold != EXTERNAL]
    each = len(items) * manifest.repeats * len(manifest.budgets)
    found = Forecast(cells=each * len(pairs) - standing.cells.total(), problems=len(items), stay=standing.cells.total())
    found.curves = manifest.curves
    found.detectable = detectable_words(manifest, len(items))
    found.version = items[0].version
    found.flags = flags_worded(found.version, items, playing(manifest, planner.aliases))
    some = items[:: max(1, len(items) // TRIED)][:TRIED]
    for method, team in pairs:
        _add(found, manifest, planner, some, method, team, standing)
    found.conflicts += [*_scorer_conflicts(manifest, items, planner.aliases), *_name_conflicts(manifest, planner.aliases)]
    for scorer in manifest.scorers:
        if scorer.kind == "grader":
            count = found.cells + (0 if scorer.name in standing.graders else found.stay)
            _add_gradings(found, scorer, items, count, planner)
    if found.cells + found.stay > CELLS_AT_MOST:
        found.conflicts.append(f"An experiment has at most {CELLS_AT_MOST:,} cells. Choose fewer problems, methods or repeats.")
    if held := sum(bool(planner.held_back(item.problem.problem)) for item in items):
        found.conflicts.append(
            f"{held} of the problems {'is' if held == 1 else 'are'} held back from {standing.owner} and will not run."
        )
    found.conflicts = list(dict.fromkeys(found.conflicts))
    return found


def _add_gradings(found: Forecast, scorer: Scorer, items: Sequence[ProblemSetItem], count: int, planner: Planner) -> None:
    """Add the cost of `count` gradings by a scorer on all problems, and the conflicts with those that it cannot grade."""
    each = count / found.problems if found.problems else 0.0
    costs = gradings_cost(scorer, items, each, planner.aliases)
    found.gradings += round(each * costs.problems)
    found.grading_calls += costs.calls
    found.grading_calls_most += costs.calls_most
    found.grading_tokens += costs.tokens
    found.conflicts += costs.conflicts


def _add(
    found: Forecast,
    manifest: Manifest,
    planner: Planner,
    items: Sequence[ProblemSetItem],
    method: Method,
    team: Team,
    standing: Standing,
) -> None:
    """Add the cost and the conflicts of one method with one team."""
    refused: Counter[str] = Counter()
    usable: tuple[Plan, Given] | None = None
    for item in items:
        plan = plan_of(method, team, manifest, Place(item.name, method.name, team.name, 0, 0))
        given = planner.given(item.problem)
        try:
            if reason := plan_refusal(plan, problem_text(item.problem), given):
                refused[reason] += 1
            else:
                usable = plan, given
        except ValidationError as error:
            found.conflicts.append(f"{method.name} with {team.name} cannot run. {words_of(error)}")
            return
    for reason, count in refused.items():
        found.conflicts.append(f"{method.name} cannot run on {count} of {len(items)} problems that were looked at. {reason}")
    if usable is not None:
        try:
            estimate = plan_estimate(usable[0], planner.aliases, usable[1])
        except ValidationError as error:
            found.conflicts.append(f"{method.name} with {team.name} cannot run. {words_of(error)}")
            return
        duration = plan_duration(usable[0], estimate, planner.aliases)
        share = (len(items) - refused.total()) / len(items)
        for number, budget in enumerate(manifest.budgets):
            new = manifest.repeats * found.problems - standing.cells[method.name, team.name, number]
            cells = round(new * share)
            _add_budget(found, budget, estimate, method.name, cells, duration.seconds if duration else None)


def _add_budget(found: Forecast, budget: Budget, estimate: Estimate, method: str, cells: int, seconds: float | None) -> None:
    """Add the cost of these cells under a budget, and the conflict if it is too small."""
    if budget.calls is not None and budget.calls < estimate.calls_min:
        found.conflicts.append(
            f"{method} needs at least {estimate.calls_min} calls, and a budget has {budget.calls}. Its cells end there, "
            "perhaps without a result. Raise the budget, or choose a smaller preset."
        )
    if budget.tokens is not None and budget.tokens < estimate.tokens_expected / max(1, estimate.calls_expected):
        found.conflicts.append(
            f"One call of {method} takes more tokens than a budget of {budget.tokens:,}. Calls under way are not stopped, "
            "so its cells use more than the budget. Raise it."
        )
    limits = [(budget.tokens, estimate.tokens_expected), (budget.calls, estimate.calls_expected)]
    share = min([1.0, *(most / expected for most, expected in limits if most and expected)])
    found.calls += round(cells * estimate.calls_expected * share)
    found.tokens += round(cells * estimate.tokens_expected * share)
    found.calls_most += cells * min(estimate.calls_max, budget.calls or estimate.calls_max)
    found.seconds = None if seconds is None or found.seconds is None else found.seconds + cells * seconds * share


def _scorer_conflicts(manifest: Manifest, items: Sequence[ProblemSetItem], aliases: Mapping[str, Alias]) -> list[str]:
    outside = [why for item in items if (why := why_outside(item.problem.answer))]
    without = outside.count(NO_ANSWER)
    found = [] if manifest.scorers else ["There is no scorer, so the table will have no score. Add one now or later."]
    for scorer in manifest.scorers:
        if scorer.kind == "answer" and without:
            found.append(f"{without} of {len(items)} problems have no final answer: {scorer.name} cannot score them.")
        if scorer.kind == "answer" and (others := len(outside) - without):
            found.append(
                f"{others} of {len(items)} problems {'has' if others == 1 else 'have'} an answer that refuses no wrong one: "
                f"{scorer.name} leaves {'it' if others == 1 else 'them'} out. Add a grader."
            )
        if scorer.kind == "grader" and (reason := grader_refusal(scorer, aliases)):
            found.append(f"{scorer.name} cannot grade. {reason}")
        marked = min(scorer.sample or len(items), len(items))
        if scorer.kind == "people" and len(manifest.scorers) > 1 and marked < MARKED_PROBLEMS_AT_LEAST:
            found.append(
                f"{scorer.name} marks {marked} problems; {MARKED_PROBLEMS_AT_LEAST} are needed to correct other scorers."
            )
    return found


def _name_conflicts(manifest: Manifest, aliases: Mapping[str, Alias]) -> list[str]:
    """Sentences about roles that no method has, unknown models of roles, and models without a price."""
    known = {role.name for one in manifest.played if one.scaffold in SCAFFOLDS for role in SCAFFOLDS[one.scaffold].roles}
    found = []
    for team in manifest.teams:
        for role, alias in team.roles.items():
            if role and role not in known:
                found.append(f"No method has a role {role} of the team {team.name}. The roles are {', '.join(sorted(known))}.")
            elif role and alias not in aliases:
                found.append(f"There is no model {alias} for the role {role} of the team {team.name}.")
    used = {alias for team in manifest.teams for alias in team.roles.values()}
    if manifest.prices:
        found += [f"{alias} has no price, so its rows show no money." for alias in sorted(used - set(manifest.prices))]
        found += [f"There is a price of {alias}, which plays nowhere." for alias in sorted(set(manifest.prices) - used)]
    return found


def playing(manifest: Manifest, aliases: Mapping[str, Alias]) -> dict[str, Alias]:
    """The models of the teams, as far as they exist."""
    named = {alias for team in manifest.teams for alias in team.roles.values()}
    return {name: alias for name, alias in aliases.items() if name in named}


def detectable_words(manifest: Manifest, problems: int) -> str:
    """The smallest difference of two methods that is shown in 80 % of experiments, if half of the problems are solved."""
    others = len(manifest.methods) * len(manifest.teams) * len(manifest.budgets) - 1
    if not others:
        return "One row alone is compared with nothing."
    found = smallest_detectable(guessed(RATE).spread(manifest.repeats), problems, others if manifest.baseline else 1)
    if isinstance(found, Undefined):
        return f"No difference could be shown: {found.reason}."
    points = f"{100 * found:.0f} percentage points"
    return f"Differences from {points} are shown in 80 % of such experiments, if about half of the problems are solved."
