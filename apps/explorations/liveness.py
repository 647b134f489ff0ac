"""The state of a run in words, from its rows, for the header. The page's script refines it for a live run."""

from dataclasses import dataclass

from apps.explorations.words import ending
from apps.runs.models import Run, RunStatus


@dataclass(frozen=True)
class Liveness:
    """`state` selects the glyph (a class of `status--…`), `words` describe the state, `advice` is the reader's next step."""

    state: str
    words: str
    advice: str = ""


def liveness(run: Run, open_calls: int = 0, *, is_concluding: bool = False) -> Liveness:
    """The state of a run from its row and the number of running calls; `is_concluding` once it has selected its result."""
    if run.is_stalled:
        return Liveness(
            "stalled", "stalled; another orchestrator will take it over soon", "Nothing is lost: finished calls are kept."
        )
    if run.status == RunStatus.FINISHED:
        how = ending(run)
        state = "finished" if how == "accepted" else "ended"
        return Liveness(state, f"finished: {how}", str((run.outcome or {}).get("reason", "")))
    return {
        RunStatus.QUEUED: Liveness("queued", "queued; waiting for an orchestrator"),
        RunStatus.RUNNING: _running(open_calls, is_concluding),
        RunStatus.PAUSED: Liveness("paused", "paused", run.status_reason or "Resume it to continue from this point."),
        RunStatus.CANCELLED: Liveness("cancelled", "cancelled", "Everything recorded so far is kept."),
        RunStatus.FAILED: Liveness("failed", "failed", run.status_reason),
        RunStatus.NEEDS_FORK: Liveness("needs_fork", "needs a fork", run.status_reason),
    }[RunStatus(run.status)]


def _running(open_calls: int, is_concluding: bool) -> Liveness:
    if not open_calls:
        return Liveness("running", "running; checking the last formulas" if is_concluding else "running; between calls")
    return Liveness("running", f"{open_calls} call{'s' * (open_calls != 1)} under way")
