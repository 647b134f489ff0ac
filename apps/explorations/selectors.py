"""Reads of the exploration pages. All take a run that passed `apps.runs.access`."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from apps.accounts.models import User
from apps.explorations.liveness import Liveness, liveness
from apps.explorations.run_warnings import TooLong, Unheard, long_prompts, unheard_roles
from apps.explorations.words import ROLE_WORDS, ending, role_word
from apps.reasoning.domain.event_base import Kind
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.spec import RunSpec, money_of
from apps.reasoning.story.talks import Talk, Talks
from apps.runs.access import run_may_steer
from apps.runs.models import Run, RunCommand, RunEvent, RunStatus
from apps.runs.selectors import RoleCost, cost_per_role, open_calls, run_story, use_by_alias

#: Most conversations of a reasoner that are shown.
MOST_REASONERS = 24
COMMAND_WORDS = {
    "pause": "Pause",
    "resume": "Resume",
    "cancel": "Cancel",
    "hint": "Hint",
    "accept_lemma": "Accept lemma",
    "reject_lemma": "Reject lemma",
    "inject_lemma": "Add lemma",
    "write_up": "Write up now",
    "extend_budget": "Extend the budget",
}


@dataclass(frozen=True)
class Meter:
    """Amount used of one budget. Without a limit, `share` is None and only the amount is shown.

    `under_way` is the amount of running calls; for tokens only the page's script knows it. `inherited` is the amount taken over
    by a fork. It is not part of `used`, because no model was called and no budget counts it.
    """

    name: str
    used: float
    limit: float | None
    under_way: float = 0
    inherited: float = 0

    @property
    def title(self) -> str:
        return "Time" if self.name == "seconds" else self.name.capitalize()

    @property
    def share(self) -> float | None:
        return min(1.0, self.used / self.limit) if self.limit else None

    @property
    def reach(self) -> float | None:
        """Share of the limit that is used or under way."""
        return min(1.0, (self.used + self.under_way) / self.limit) if self.limit else None

    @property
    def level(self) -> str:
        share = self.share or 0
        return "meter--full" if share >= 1 else "meter--warn" if share >= 0.8 else ""


def meters(run: Run, open_now: int = 0) -> list[Meter]:
    """Tokens, calls and seconds, in this order; money where it is limited."""
    used = {"tokens": run.tokens, "calls": run.calls, "seconds": run.active_seconds}
    if run.budget.get("money"):
        used["money"] = money_of(use_by_alias(run), RunSpec.model_validate(run.spec).prices)
    under_way = {"calls": open_now}
    inherited = {"tokens": run.inherited_tokens, "calls": run.inherited_calls}
    return [
        Meter(name, amount, run.budget.get(name), under_way.get(name, 0), inherited.get(name, 0))
        for name, amount in used.items()
    ]


@dataclass(frozen=True)
class CommandRow:
    """A command to the run, with its result."""

    command: RunCommand
    word: str
    detail: str


def command_rows(run: Run, limit: int = 12) -> list[CommandRow]:
    """The newest commands, newest first."""
    rows = run.commands.select_related("by").order_by("-pk")[:limit]
    return [CommandRow(row, COMMAND_WORDS.get(row.name, row.name), _detail(row.args)) for row in rows]


def _detail(args: dict[str, Any]) -> str:
    amounts = [f"{args[which]:,} {which}" for which in ("tokens", "calls", "seconds") if args.get(which)]
    if amounts:
        return " and ".join(amounts) + " more"
    return str(args.get("text") or args.get("lemma") or args.get("statement") or "")


@dataclass(frozen=True)
class Lane:
    """A running call, as first rendered; the page's script updates it."""

    call: str
    role: str
    word: str
    alias: str
    rollout: int
    round: int
    subject: str
    index: int


def lanes(open_now: list[dict[str, Any]]) -> list[Lane]:
    """Running calls, oldest first."""
    return [
        Lane(
            body["call"],
            body["role"],
            role_word(body["role"]),
            body["alias"],
            body["rollout"],
            body["round"],
            body.get("subject", ""),
            body.get("index", 0),
        )
        for body in open_now
    ]


@dataclass(frozen=True)
class Header:
    """The header above the timeline: liveness, budgets, commands, and whether the reader may steer."""

    liveness: Liveness
    meters: list[Meter]
    commands: list[CommandRow]
    may_steer: bool
    pending: set[str]
    takes_lemmas: bool
    unheard: list[Unheard]
    too_long: list[TooLong]


def header(run: Run, user: User, open_now: int) -> Header:
    """The header of `run` as `user` sees it."""
    rows = command_rows(run)
    pending = {row.command.name for row in rows if row.command.state == RunCommand.State.PENDING} if run.is_live else set()
    is_concluding = run.is_live and run.events.filter(kind=Kind.PROOF_SELECTED).exists()
    takes_lemmas = run.scaffold in SCAFFOLDS and SCAFFOLDS[run.scaffold].takes_lemmas
    return Header(
        liveness(run, open_now, is_concluding=is_concluding),
        meters(run, open_now),
        rows,
        run_may_steer(user, run),
        pending,
        takes_lemmas,
        unheard_roles(run),
        long_prompts(run),
    )


@dataclass(frozen=True)
class Agents:
    """Cost per role, and the sum over roles, including inherited calls."""

    costs: list[tuple[str, RoleCost]]
    calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    inherited: int
    inherited_completion: int


def agents(run: Run, until: int | None = None) -> Agents:
    """Use of each role; with `until`, as of that event."""
    costs = cost_per_role(run, until)
    return Agents(
        [(role_word(cost.role), cost) for cost in costs],
        sum(cost.calls for cost in costs),
        sum(cost.prompt_tokens for cost in costs),
        sum(cost.completion_tokens for cost in costs),
        sum(cost.seconds for cost in costs),
        sum(cost.inherited for cost in costs),
        sum(cost.inherited_completion for cost in costs),
    )


def reasoners(run: Run, until: int | None = None) -> tuple[list[Talk], int]:
    """The newest conversations of a run's reasoner, and how many older ones are left out; with `until`, as of that event."""
    scaffold = SCAFFOLDS.get(run.scaffold)
    if scaffold is None or not (scaffold.takes_lemmas and run.spec.get("params", {}).get("check_tool")):
        return [], 0
    wanted = Q(kind__in=Talks.KINDS)
    talks = list(run_story(run, wanted if until is None else Q(wanted, seq__lte=until)).talks.by_id.values())
    return talks[-MOST_REASONERS:], max(0, len(talks) - MOST_REASONERS)


def roles_of(run: Run) -> list[tuple[str, str]]:
    """The roles of a run's specification, each with its words, in the order of a round."""
    names = list(run.spec.get("roles", {}))
    order = list(ROLE_WORDS)
    names.sort(key=lambda name: order.index(name) if name in order else len(order))
    return [(name, role_word(name)) for name in names]


def rounds_of(run: Run) -> list[int]:
    """The rounds with recorded calls."""
    return sorted(run.steps.filter(kind="call").order_by().values_list("round", flat=True).distinct())


def may_steer(user: User, run: Run) -> bool:
    """Whether `user` may steer this run now."""
    return run.is_live and run_may_steer(user, run)


def list_state(run: Run) -> tuple[str, str]:
    """Class of the glyph and words of a run in a list."""
    if run.is_stalled:
        return "stalled", "stalled"
    how = ending(run)
    return "ended" if how and how != "accepted" else run.status, how or RunStatus(run.status).label


def open_calls_of(run: Run) -> list[dict[str, Any]]:
    """Running calls; empty for a run that has ended, even if calls were lost with their workers."""
    return open_calls(run) if run.is_live else []


def event_neighbours(run: Run, seq: int) -> tuple[RunEvent | None, list[RunEvent]]:
    """The event `seq` and its neighbours, in order."""
    around = list(RunEvent.objects.filter(run=run, seq__gte=seq - 4, seq__lte=seq + 4).order_by("seq"))
    return next((event for event in around if event.seq == seq), None), around
