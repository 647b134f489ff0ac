"""What a run is doing, honestly: the line of its header as the rows know it. The page's script refines it while it watches."""

from dataclasses import dataclass

from apps.explorations.words import ending
from apps.runs.models import Run, RunStatus


@dataclass(frozen=True)
class Liveness:
    """`state` picks the glyph (a class of `status--…`), `words` is the sentence, `advice` what a person can do."""

    state: str
    words: str
    advice: str = ""


def liveness(run: Run, open_calls: int = 0, *, is_concluding: bool = False) -> Liveness:
    """The state of a run from its row, the number of calls under way, and whether it has chosen what it stands by."""
    if run.is_stalled:
        return Liveness(
            "stalled", "stalled; another orchestrator takes it over soon", "Nothing is lost: finished calls are kept."
        )
    if run.status == RunStatus.FINISHED:
        how = ending(run)
        state = "finished" if how == "accepted" else "ended"
        return Liveness(state, f"finished: {how}", str((run.outcome or {}).get("reason", "")))
    return {
        RunStatus.QUEUED: Liveness("queued", "queued; waits for an orchestrator"),
        RunStatus.RUNNING: _running(open_calls, is_concluding),
        RunStatus.PAUSED: Liveness("paused", "paused", run.status_reason or "Resume it to go on where it stopped."),
        RunStatus.CANCELLED: Liveness("cancelled", "cancelled", "Everything recorded until then is kept."),
        RunStatus.FAILED: Liveness("failed", "failed", run.status_reason),
        RunStatus.NEEDS_FORK: Liveness("needs_fork", "needs a fork", run.status_reason),
    }[RunStatus(run.status)]


def _running(open_calls: int, is_concluding: bool) -> Liveness:
    if not open_calls:
        return Liveness("running", "running; its last formulas are checked" if is_concluding else "running; between two calls")
    return Liveness("running", f"{open_calls} call{'s' * (open_calls != 1)} under way")
