"""What wants attention, in words: what is wrong, and where to look. Empty on a good day."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from apps.operations.situation import Situation
from apps.ui.words import duration

RESULTS_LATE_S = 15.0
REDIS_FULL = 0.8


@dataclass(frozen=True)
class Concern:
    """`level` "error": something stands still. "warn": it will, or it goes slowly."""

    level: Literal["error", "warn"]
    text: str
    advice: str


def concerns(now: Situation) -> list[Concern]:
    """Errors first."""
    return sorted(_all(now), key=lambda concern: concern.level != "error")


def _all(now: Situation) -> Iterator[Concern]:
    if now.trouble:
        yield Concern("error", now.trouble, "Nothing recorded is lost; runs go on by themselves when this is mended.")
        return
    live = sum(now.runs.get(status, 0) for status in ("queued", "running", "paused"))
    if not now.orchestrators:
        waiting = f" {live} run{'s are' if live != 1 else ' is'} waiting." if live else ""
        yield Concern("error", f"No orchestrator lives: runs neither start nor go on.{waiting}", "Start one; see its log.")
    if not now.workers:
        text = "No inference worker lives: no call is answered."
        yield Concern("error", text, "Start one, or see why it ended: the end of its log says. Calls wait meanwhile.")
    for tool in now.tools:
        if now.workers and not tool.workers:
            text = f"No worker serves {tool.name}: models run no code, and formulas are not checked. Runs go on without."
            yield Concern("warn", text, f"Start one: python -m workers.serve {tool.name}. Or say SANDBOX=off.")
        for trouble in tool.troubles:
            yield Concern("warn", trouble, "Runs go on without it; docs/sandbox.md says how to mend each rung.")
    for alias in now.aliases:
        if alias.is_tool or alias.adapter_of:
            continue
        if now.workers and alias.queue_length and not alias.workers:
            waiting = f"{alias.queue_length} messages wait" if alias.queue_length != 1 else "A message waits"
            text = f"{waiting} for {alias.name}, which no worker serves."
            yield Concern("error", text, f"Start a worker for it: python -m workers.serve {alias.name}")
        for trouble in alias.troubles:
            yield Concern("warn", f"{alias.name} is down: {trouble}", "Calls wait or are asked again; see the worker's log.")
    if now.orchestrators:
        yield from _of_runs(now)
    yield from _of_training(now)
    yield from _of_stores(now)


def _of_runs(now: Situation) -> Iterator[Concern]:
    if now.stalled:
        names = ", ".join(run.title for run in now.stalled[:3])
        text = f"{len(now.stalled)} run{'s' if len(now.stalled) != 1 else ''} without an owner: {names}."
        yield Concern("warn", text, "An orchestrator takes them over within seconds; if not, see its log for “warden”.")
    if now.results_lag_s > RESULTS_LATE_S:
        waiting = f"{now.results} results wait" if now.results != 1 else "A result waits"
        text = f"{waiting} for the journal, the oldest since {duration(now.results_lag_s)}."
        yield Concern("warn", text, "Look for “journal” in the orchestrator's log: is the database slow, locked or full?")


def _of_training(now: Situation) -> Iterator[Concern]:
    queued, under_way = now.training.queued, now.training.under_way
    if queued and not now.trainers:
        waiting = f"{queued} training jobs wait" if queued != 1 else "A training job waits"
        advice = "make up starts one where the trainer's environment is (make setup-train); docs/training.md has the command."
        yield Concern("error", f"{waiting}, and no train worker lives.", advice)
    elif under_way and not now.trainers:
        training = f"{under_way} training jobs are" if under_way != 1 else "A training job is"
        advice = "Its trainer goes on by itself, but nobody stops it or tells its state. Start a train worker; it takes over."
        yield Concern("warn", f"{training} under way, and no train worker lives.", advice)
    silent = [one for one in now.training.jobs if one.is_silent]
    if silent:
        text = f"The trainer of “{silent[0].job.title}” has been silent for {duration(silent[0].silent_s or 0.0)}."
        more = f" So are those of {len(silent) - 1} more." if len(silent) > 1 else ""
        yield Concern("warn", text + more, "It is killed, frozen, or its disk is full; the log on the job's page may say.")


def _of_stores(now: Situation) -> Iterator[Concern]:
    if now.redis is None:
        return
    if now.redis.share is not None and now.redis.share > REDIS_FULL:
        text = f"Redis uses {now.redis.share:.0%} of its memory."
        yield Concern("warn", text, "When it is full, calls and results wait. Raise maxmemory, or lower RUN_WINDOW.")
    if not now.redis.is_saving:
        text = "Redis could not write its file."
        yield Concern("error", text, "Make room on its disk: what it holds would be lost with it, and calls be asked again.")
