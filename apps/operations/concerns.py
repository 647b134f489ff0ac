"""Operational problems in words: what is wrong, and where to look."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from apps.operations.situation import Situation
from apps.ui.words import duration

RESULTS_LATE_S = 15.0
REDIS_FULL = 0.8


@dataclass(frozen=True)
class Concern:
    """A problem. `level` "error": work has stopped. "warn": work is slow or will stop."""

    level: Literal["error", "warn"]
    text: str
    advice: str


def concerns(now: Situation) -> list[Concern]:
    """All current concerns, errors first."""
    return sorted(_all(now), key=lambda concern: concern.level != "error")


def _all(now: Situation) -> Iterator[Concern]:
    if now.trouble:
        yield Concern("error", now.trouble, "No recorded data is lost. Runs continue by themselves once this is fixed.")
        return
    live = sum(now.runs.get(status, 0) for status in ("queued", "running", "paused"))
    if not now.orchestrators:
        waiting = f" {live} run{'s are' if live != 1 else ' is'} waiting." if live else ""
        yield Concern("error", f"No orchestrator is running: runs do not progress.{waiting}", "Start one; see its log.")
    if not now.workers:
        text = "No inference worker is running: no call is answered."
        yield Concern("error", text, "Start one. The end of its log says why it stopped. Calls wait in the meantime.")
    for tool in now.tools:
        if now.workers and not tool.workers:
            text = f"No worker serves {tool.name}: models run no code, and formulas are not checked. Runs continue."
            yield Concern("warn", text, f"Start one: python -m workers.serve {tool.name}. Or set SANDBOX=off.")
        for trouble in tool.troubles:
            yield Concern("warn", trouble, "Runs continue without it. docs/sandbox.md explains how to fix it.")
    for alias in now.aliases:
        if alias.is_tool or alias.adapter_of:
            continue
        if now.workers and alias.queue_length and not alias.workers:
            waiting = f"{alias.queue_length} messages wait" if alias.queue_length != 1 else "A message waits"
            text = f"{waiting} for {alias.name}, which no worker serves."
            yield Concern("error", text, f"Start a worker for it: python -m workers.serve {alias.name}")
        for trouble in alias.troubles:
            yield Concern("warn", f"{alias.name} is down: {trouble}", "Calls wait or are retried; see the worker's log.")
    if now.orchestrators:
        yield from _of_runs(now)
    yield from _of_training(now)
    yield from _of_stores(now)


def _of_runs(now: Situation) -> Iterator[Concern]:
    if now.stalled:
        names = ", ".join(run.title for run in now.stalled[:3])
        text = f"{len(now.stalled)} run{'s' if len(now.stalled) != 1 else ''} without an owner: {names}."
        yield Concern("warn", text, "An orchestrator takes them over within seconds. If not, search its log for “warden”.")
    if now.results_lag_s > RESULTS_LATE_S:
        waiting = f"{now.results} results wait" if now.results != 1 else "A result waits"
        text = f"{waiting} for the journal, the oldest since {duration(now.results_lag_s)}."
        yield Concern("warn", text, "Search the orchestrator's log for “journal”. Is the database slow, locked or full?")


def _of_training(now: Situation) -> Iterator[Concern]:
    queued, under_way = now.training.queued, now.training.under_way
    if queued and not now.trainers:
        waiting = f"{queued} training jobs wait" if queued != 1 else "A training job waits"
        advice = "make up starts one if the trainer's environment is installed (make setup-train); see docs/training.md."
        yield Concern("error", f"{waiting}, and no train worker is running.", advice)
    elif under_way and not now.trainers:
        training = f"{under_way} training jobs are" if under_way != 1 else "A training job is"
        advice = "Training continues, but its state is not updated and it cannot be stopped. Start a train worker to take over."
        yield Concern("warn", f"{training} under way, and no train worker is running.", advice)
    silent = [one for one in now.training.jobs if one.is_silent]
    if silent:
        text = f"The trainer of “{silent[0].job.title}” has been silent for {duration(silent[0].silent_s or 0.0)}."
        more = f" {len(silent) - 1} more trainers are silent too." if len(silent) > 1 else ""
        yield Concern("warn", text + more, "It may be dead or frozen, or its disk may be full. See the log on the job's page.")


def _of_stores(now: Situation) -> Iterator[Concern]:
    if now.redis is None:
        return
    if now.redis.share is not None and now.redis.share > REDIS_FULL:
        text = f"Redis uses {now.redis.share:.0%} of its memory."
        yield Concern("warn", text, "Once it is full, calls and results wait. Raise maxmemory, or lower RUN_WINDOW.")
    if not now.redis.is_saving:
        text = "Redis could not save its data to disk."
        yield Concern("error", text, "Make room on its disk. If Redis stops now, its data is lost and calls are repeated.")
