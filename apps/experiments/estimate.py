"""Estimate the cost of an experiment before it starts, from a sample of its scripts."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet

from apps.experiments.cells import job_of_script
from apps.experiments.scripts import ScriptChosen
from apps.graded_sets.models import GradedScript
from apps.graders.batches.jobs import Job, jobs_of_versions
from apps.graders.option_forms import options_for
from apps.graders.pieces import pieces_known
from apps.graders.planning.answer_lengths import answers_note, answers_of
from apps.graders.planning.naming import plan_named, title_of, variant_of
from apps.graders.planning.plans import PlanWrong
from apps.graders.planning.prompt_lengths import overflowing_aliases
from apps.reasoning.domain.spending import OFFLINE
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.scaffolds.estimates import RoleEstimate
from apps.submissions.models import SubmissionVersion

SAMPLE = 12
TROUBLES_SHOWN = 3


@dataclass(frozen=True)
class Forecast:
    """The expected cost of all cells. `calls_expected` and `tokens_expected` include the preparation of problems.

    `sampled`: sample size, out of `scripts`; `basis`: basis of the answer lengths, one line per grader; `troubles`: why
    some scripts cannot be graded; `too_long`: scripts that exceed a model's context.
    """

    cells: int
    scripts: int
    problems: int
    sampled: int
    calls_expected: int
    calls_max: int
    tokens_expected: int
    prepared_calls: int = 0
    prepared_tokens: int = 0
    basis: tuple[str, ...] = ()
    troubles: tuple[str, ...] = ()
    too_long: tuple[str, ...] = ()


def forecast_of(
    scripts: Sequence[ScriptChosen],
    graders: Sequence[tuple[str, str]],
    aliases: Mapping[str, Alias],
    max_new_tokens: int | None = None,
    *,
    repeats: int = 1,
    overrides: Mapping[str, Any] | None = None,
) -> Forecast:
    """Estimate the cost. `graders`: variants with their players; `overrides`: options of graders.

    Preparation counts once per problem, and not at all for pieces that already exist.
    """
    jobs, troubles = _jobs(_spread(scripts))
    gradable = [one.statement for one in scripts if one.can_be_graded]
    found = _Sample(jobs, len(gradable) * repeats, len(set(gradable)), troubles, dict(overrides or {}))
    for workflow, players in graders:
        found.add(workflow, players, aliases, max_new_tokens)
    sums = found.sums
    return Forecast(
        cells=len(scripts) * len(graders) * repeats,
        scripts=len(scripts),
        problems=len(set(gradable)),
        sampled=len(jobs),
        calls_expected=round(sums["calls", True] + sums["calls", False]),
        calls_max=round(sums["most", True] + sums["most", False]),
        tokens_expected=round(sums["tokens", True] + sums["tokens", False]),
        prepared_calls=round(sums["calls", True]),
        prepared_tokens=round(sums["tokens", True]),
        basis=tuple(found.basis),
        troubles=tuple(dict.fromkeys(troubles))[:TROUBLES_SHOWN],
        too_long=tuple(_length_warnings(found.too_long, aliases, len(jobs))),
    )


@dataclass
class _Sample:
    """Cost of the sampled scripts, extrapolated to all gradings (`scripts`, including repeats) on `problems`.

    `sums`: calls, tokens and maximum calls, each with whether it is preparation; `too_long`: numbers of scripts that are too
    long, by grader, players and model.
    """

    jobs: Sequence[Job]
    scripts: int
    problems: int
    troubles: list[str]
    overrides: dict[str, Any]
    sums: dict[tuple[str, bool], float] = field(default_factory=lambda: defaultdict(float))
    too_long: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    basis: dict[str, None] = field(default_factory=dict)

    def add(self, workflow: str, players: str, aliases: Mapping[str, Alias], max_new_tokens: int | None) -> None:
        """Add the cost of one grader."""
        variant = variant_of(workflow)
        options = options_for(variant.grader.name, self.overrides)
        plan = plan_named(variant, players, aliases, max_new_tokens=max_new_tokens, overrides=options)
        answers = answers_of(plan.workflow, plan.roles)
        roles: list[RoleEstimate] = []
        for job in self.jobs:
            try:
                known = pieces_known(job.problem.statement, plan.roles)
                roles += plan.estimate(job, known, answers).roles
                self.too_long.update((workflow, players, alias) for alias in overflowing_aliases(plan, job, known, aliases))
            except PlanWrong as error:
                self.troubles.append(str(error))
        for role in roles:
            is_once = role.role in OFFLINE
            times = (self.problems if is_once else self.scripts) / len(self.jobs)
            self.sums["calls", is_once] += times * role.calls_expected
            self.sums["tokens", is_once] += times * role.tokens_expected
            self.sums["most", is_once] += times * role.calls_max
        asked = dict.fromkeys(role.role for role in roles if role.calls_expected)
        if asked:
            self.basis[f"{title_of(workflow)}. {answers_note(asked, answers, plan.roles)}"] = None


def _length_warnings(too_long: Mapping[tuple[str, str, str], int], aliases: Mapping[str, Alias], sampled: int) -> Iterator[str]:
    """One sentence per model and number of scripts that are too long."""
    graders: dict[tuple[str, int], list[str]] = defaultdict(list)
    for (workflow, _, alias), count in too_long.items():
        graders[alias, count].append(title_of(workflow))
    for (alias, count), titles in graders.items():
        context, by = f"{aliases[alias].context_tokens:,} tokens of {alias}", ", ".join(dict.fromkeys(titles))
        yield (
            f"{count} of {sampled} sampled script{'s' * (sampled != 1)} will not fit into the {context} "
            f"together with the prompt of {by}. Their calls will fail. Choose a model with a longer context."
        )


def _spread(scripts: Sequence[ScriptChosen]) -> list[ScriptChosen]:
    """An evenly spaced sample of the list."""
    step = max(1, len(scripts) / SAMPLE)
    return [scripts[int(number * step)] for number in range(min(SAMPLE, len(scripts)))]


def _jobs(scripts: Sequence[ScriptChosen]) -> tuple[list[Job], list[str]]:
    jobs, troubles = [], []
    in_sets: QuerySet[GradedScript] = GradedScript.objects.select_related("graded_set", "problem__problem")
    for script in in_sets.filter(pk__in=[one.script_pk for one in scripts if one.script_pk is not None]):
        try:
            job = job_of_script(script)
        except PlanWrong as error:
            troubles.append(str(error))
            continue
        jobs += [job] if script.text.strip() else []  # An empty script costs nothing.
    versions = SubmissionVersion.objects.select_related("submission__problem__version__problem")
    jobs += jobs_of_versions(versions.filter(pk__in=[one.version_pk for one in scripts if one.version_pk is not None]))
    return jobs, troubles
