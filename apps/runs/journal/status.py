"""What events mean for the run's own row and its commands; runs in the transaction of the events."""

from collections.abc import Sequence

from apps.reasoning.domain.control import ControlApplied, ControlRefused
from apps.reasoning.domain.events import RunContinued, RunPaused, RunResumed, RunStarted
from apps.runs.journal.run_journal import NumberedEvent
from apps.runs.models import Run, RunCommand, RunStatus

#: Commands that leave the mathematics alone. Any other makes the run "assisted" and keeps it out of benchmark tables.
_NEUTRAL = {"pause", "resume", "cancel", "extend_budget"}


def follow(run: Run, events: Sequence[NumberedEvent]) -> None:
    """Keep status, commands and the assisted flag in step with what was just recorded."""
    for _, _, _, event in events:
        if isinstance(event, RunStarted | RunResumed):
            Run.objects.filter(pk=run.pk).exclude(status=RunStatus.PAUSED).update(status=RunStatus.RUNNING)
        elif isinstance(event, RunPaused):
            Run.objects.filter(pk=run.pk).update(status=RunStatus.PAUSED, status_reason=event.reason)
        elif isinstance(event, RunContinued):
            Run.objects.filter(pk=run.pk).update(status=RunStatus.RUNNING, status_reason="")
        elif isinstance(event, ControlApplied):
            _settle(run, event.command, RunCommand.State.APPLIED)
            if event.name not in _NEUTRAL:
                Run.objects.filter(pk=run.pk).update(is_assisted=True)
        elif isinstance(event, ControlRefused):
            _settle(run, event.command, RunCommand.State.REFUSED, event.reason)


def _settle(run: Run, command_id: str, state: RunCommand.State, reason: str = "") -> None:
    RunCommand.objects.filter(run_id=run.pk, command_id=command_id).update(state=state, reason=reason)
