"""Queries for trials of models and their results."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.accounts.models import User
from apps.reasoning.domain.trial_events import RoleTried
from apps.reasoning.programs.registry import PROGRAMS
from apps.reasoning.trying.program import PROGRAM
from apps.reasoning.trying.stage import MODEL
from apps.reasoning.trying.trial import methods
from apps.runs.access import run_visible_to
from apps.runs.models import LIVE, TRIAL, Run, RunEvent, RunStatus
from apps.runs.selectors import step_get, step_texts
from apps.trials.rates import ENOUGH, RoleRates, Share, by_role

#: Statuses of runs that ended early, with words for one run and for several.
STOPPED = {
    RunStatus.CANCELLED: ("was cancelled early", "were cancelled early"),
    RunStatus.FAILED: ("failed", "failed"),
    RunStatus.NEEDS_FORK: ("cannot continue with the current code", "cannot continue with the current code"),
}


@dataclass(frozen=True)
class Answer:
    """One answer of a trial, with the run that holds its text."""

    run: Run
    tried: RoleTried


@dataclass
class Trial:
    """All trials of one revision of a model; the newest answer per role, problem and attempt counts.

    `runs`: runs with counted answers, live runs, and stopped runs without a newer run of their problem.
    """

    alias: str
    revision: str
    runs: list[Run]
    answers: list[Answer]

    @property
    def roles(self) -> list[RoleRates]:
        """Rates by role, in the order of programs and roles."""
        names = [(method, role.name) for method in methods() for role in PROGRAMS[method].roles]
        order = {name: number for number, name in enumerate(names)}
        rates = by_role(one.tried for one in self.answers)
        return sorted(rates, key=lambda one: order.get((one.method, one.role), len(order)))

    @property
    def read(self) -> Share:
        """Share of readable answers over all roles."""
        roles = self.roles
        return Share(sum(one.read.count for one in roles), sum(one.read.of for one in roles))

    @property
    def is_live(self) -> bool:
        return any(run.status in LIVE for run in self.runs)

    @property
    def problems(self) -> int:
        """Number of problems."""
        return len({run.problem_version.problem_id for run in self.runs})

    @property
    def stopped(self) -> list[Run]:
        """Runs that were cancelled, failed, or cannot continue."""
        return [run for run in self.runs if run.status in STOPPED]

    @property
    def stopped_words(self) -> list[str]:
        """Words for stopped runs: `1 of 4 runs was cancelled early`."""
        counts = Counter(RunStatus(run.status) for run in self.stopped)
        of = len(self.runs)
        return [f"{counts[one]} of {of} runs {words[counts[one] != 1]}" for one, words in STOPPED.items() if counts[one]]

    @property
    def newest(self) -> datetime:
        return max(run.created_at for run in self.runs)

    @property
    def outdated_runs(self) -> int:
        """Number of runs with other prompts than the current ones."""
        now = PROGRAM.prompts
        return sum(run.spec["prompt_hashes"] != now for run in self.runs)

    @property
    def limits(self) -> list[int]:
        """Distinct limits on new tokens per call, smallest first."""
        return sorted({run.spec["roles"][MODEL]["sampling"]["max_new_tokens"] for run in self.runs})

    @property
    def unreadable(self) -> list[Answer]:
        """Unread and failed answers."""
        return [one for one in self.answers if one.tried.reading in ("unread", "failed")]


def trials_of(user: User | None, alias: str) -> list[Trial]:
    """Trials of an alias that a user may see (None: all), one per revision, newest first."""
    runs = Run.objects.all() if user is None else run_visible_to(user)
    found: dict[str, dict[int, Run]] = {}
    own = runs.filter(preset=TRIAL, scaffold=PROGRAM.name, spec__roles__model__alias=alias)
    for run in own.select_related("problem_version__problem").order_by("created_at", "pk"):
        found.setdefault(run.spec["roles"][MODEL]["revision"], {})[run.pk] = run
    trials = [_trial(alias, revision, list(by.values())) for revision, by in found.items()]
    return sorted((one for one in trials if one.runs), key=lambda one: one.newest, reverse=True)


def _trial(alias: str, revision: str, runs: list[Run]) -> Trial:
    """A trial of the newest answers, their runs, live runs and stopped runs."""
    newest: dict[tuple[int, str, str, str], Answer] = {}
    for one in _answers(runs):
        newest[one.run.problem_version.problem_id, one.tried.method, one.tried.role, one.tried.attempt] = one
    shown = {one.run.pk for one in newest.values()}
    shown |= {run.pk for run in {run.problem_version.problem_id: run for run in runs}.values() if run.status in STOPPED}
    return Trial(alias, revision, [run for run in runs if run.pk in shown or run.status in LIVE], list(newest.values()))


def _newest_with_answers(alias: str) -> Trial | None:
    """The newest trial with answers or live runs."""
    return next((one for one in trials_of(None, alias) if one.answers or one.is_live), None)


def _answers(runs: list[Run]) -> Iterator[Answer]:
    by_pk = {run.pk: run for run in runs}
    events = RunEvent.objects.filter(run__in=runs, kind=RoleTried.kind).order_by("run_id", "seq")
    for event in events.iterator(chunk_size=2000):
        yield Answer(by_pk[event.run_id], RoleTried.model_validate(event.body))


def weak_players(method: str, players: Mapping[str, str]) -> list[tuple[str, RoleRates]]:
    """Aliases whose answers were too often unreadable in their roles of a program, each with the role's rates."""
    weak = ((alias, one) for alias in dict.fromkeys(players.values()) for one in weak_roles(alias, method))
    return [(alias, one) for alias, one in weak if players.get(one.role) == alias]


def weak_roles(alias: str, method: str) -> list[RoleRates]:
    """Roles of a program in which too many answers of an alias's newest trial were unreadable."""
    trial = _newest_with_answers(alias)
    rates = trial.roles if trial else []
    return [one for one in rates if one.method == method and one.read.of and (one.read.value or 0) < ENOUGH]


def read_at_once(alias: str, method: str, role: str) -> bool:
    """Whether a trial without a grammar showed that answers in this role are readable at once."""
    trial = _newest_with_answers(alias)
    if trial is None:
        return False
    free = (one.tried for one in trial.answers if one.run.spec["roles"][MODEL].get("closing") != "grammar")
    return any(one.needs_no_grammar for one in by_role(free) if (one.method, one.role) == (method, role))


def answer_rows(trial: Trial) -> Iterator[dict[str, Any]]:
    """Rows of the export: every answer with its prompts, texts and reading."""
    for one in trial.answers:
        yield {
            "alias": trial.alias,
            "revision": trial.revision,
            "problem": one.run.problem_version.problem.slug,
            "run": str(one.run.public_id),
            **one.tried.model_dump(mode="json"),
            "calls": [_texts(one.run, key) for key in (one.tried.call, one.tried.again) if key],
        }


def _texts(run: Run, key: str) -> dict[str, Any]:
    step = step_get(run, key)
    if step is None:
        return {"call": key}
    prompts, text, thinking = step_texts(step)
    found = {"call": key, "prompt": "".join(prompts), "text": text, "finish_reason": step.finish_reason}
    return {**found, "thinking": thinking} if thinking else found
