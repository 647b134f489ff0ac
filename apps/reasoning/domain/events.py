"""Every event that a run can record: one neutral vocabulary for all scaffolds.

An event is a fact in the past tense. Its kind corresponds to its class (`lemma.proposed` ↔ `LemmaProposed`). It is stored once
under `(run, seq)` and a structural `key`, so that a replay can emit it again without effect. All pages are folds over events.
Long texts are stored separately: `*_sha` names a content-addressed text.
"""

from typing import Any, Literal

from apps.reasoning.domain import (
    agent_events,
    candidate_events,
    check_events,
    grading_events,
    import_events,
    prompt_events,
    tool_events,
    trial_events,
)
from apps.reasoning.domain.event_base import Event as Event
from apps.reasoning.domain.generation import Usage
from apps.reasoning.domain.values import Value
from apps.reasoning.domain.verdicts import StepCheck

LemmaStatus = Literal["proposed", "verified", "doubtful", "rejected", "retired", "merged"]


# --- the run ---------------------------------------------------------------------------------------------------------


class RunCreated(Event):
    """The frozen specification. `authored` marks the worked example, whose texts were written by people."""

    kind = "run.created"
    title: str
    scaffold: str
    preset: str
    aliases: dict[str, str]
    params: dict[str, Any]
    seed: int
    code_version: str
    authored: bool = False
    forked_from: str = ""


class RunStarted(Event):
    kind = "run.started"
    owner: str
    fence: int


class RunResumed(Event):
    """Another owner took over the run; `replayed` counts recorded calls that were not made again."""

    kind = "run.resumed"
    owner: str
    fence: int
    replayed: int


class RunPaused(Event):
    kind = "run.paused"
    reason: str = ""


class RunContinued(Event):
    kind = "run.continued"


class RunFinished(Event):
    kind = "run.finished"
    accepted: bool | None
    proof: str
    reason: str
    ended_by: str


class RunCancelled(Event):
    kind = "run.cancelled"
    reason: str = ""


class RunFailed(Event):
    """The run stopped; `advice` says what to do before resuming it."""

    kind = "run.failed"
    reason: str
    advice: str = ""


class BudgetSpent(Event):
    kind = "budget.spent"
    which: str
    limit: float
    spent: float


class RoundBegan(Event):
    kind = "round.began"
    rollout: int
    round: int


class RoundEnded(Event):
    """`proposed` counts new lemmas, `survived` those that reach the threshold; `stop` is why no round follows, or ""."""

    kind = "round.ended"
    rollout: int
    round: int
    proposed: int
    survived: int
    stop: str = ""


# --- model calls -----------------------------------------------------------------------------------------------------


class CallBegan(Event):
    kind = "call.began"
    call: str
    role: str
    alias: str
    rollout: int
    round: int
    subject: str = ""
    index: int = 0


class CallRetried(Event):
    kind = "call.retried"
    call: str
    attempt: int
    reason: str


class CallEnded(Event):
    kind = "call.ended"
    call: str
    attempt: int
    finish_reason: str
    usage: Usage
    ttft_s: float | None
    duration_s: float
    text_sha: str
    reasoning_sha: str = ""


class CallFailed(Event):
    kind = "call.failed"
    call: str
    reason: str
    attempt: int = 1


class OutputUnread(Event):
    """A call's text could not be parsed. The raw text is kept under `call`.

    `again`: key of the call that asks once more, or "". `part`: the rest of the text was read and counts.
    """

    kind = "output.unread"
    call: str
    role: str
    reason: str
    again: str = ""
    part: bool = False


# --- lemmas ----------------------------------------------------------------------------------------------------------


class TextAnchor(Value):
    """A place in a source text, in code points: `text[start:end] == quote`. `where` names the text (`step 2`, `proof 1`)."""

    where: str
    start: int
    end: int
    quote: str


class LemmaProposed(Event):
    """A lemma version. `lemma` identifies the version (`s0.7`, `s0.7-fixed`), `number` is its name in prompts and on pages."""

    kind = "lemma.proposed"
    lemma: str
    number: int
    rollout: int
    round: int
    statement: str
    steps: tuple[str, ...]
    call: str = ""
    origin: Literal["model", "human"] = "model"
    supersedes: str = ""


class LemmaMerged(Event):
    """`lemma` is merged into `into`, because their normalised statements are equal; `into` keeps the node."""

    kind = "lemma.merged"
    lemma: str
    into: str
    reason: str


class LemmasAlike(Event):
    """Two lemmas look like near-duplicates. They are proposed to people, never merged automatically."""

    kind = "lemma.alike"
    lemma: str
    other: str
    similarity: float


class LemmaRetired(Event):
    """A lemma leaves the library: superseded, or rejected by a person."""

    kind = "lemma.retired"
    lemma: str
    reason: str


class LemmaRestored(Event):
    kind = "lemma.restored"
    lemma: str
    reason: str


class EdgeAdded(Event):
    """`user` uses `used`. `user` is a lemma version or a proof id (`proof/2`); `evidence` is the citation in its text."""

    kind = "edge.added"
    user: str
    used: str
    evidence: TextAnchor


# --- verdicts --------------------------------------------------------------------------------------------------------


class VoteCast(Event):
    """Vote `index` of `of` on a lemma version or a proof (`subject`).

    Exactly one of `first_fault`, `wrong_lemma` and `unscored` is given. `first_fault` is a step from 1, -1 for no fault, or 0
    for a fault outside all steps.
    """

    kind = "vote.cast"
    subject: str
    index: int
    of: int
    call: str
    first_fault: int | None = None
    wrong_lemma: str = ""
    unscored: str = ""
    checks: tuple[StepCheck, ...] = ()
    summary: str = ""


class VerdictReached(Event):
    """All votes on `subject` were cast. Exactly one of `confidence` and `unscored` (the reason) is given."""

    kind = "verdict.reached"
    subject: str
    passes: int
    valid: int
    total: int
    confidence: float | None
    low: float | None = None
    high: float | None = None
    unscored: str = ""
    status: LemmaStatus | Literal["accepted", "not accepted", "unscored"]


# --- proofs ----------------------------------------------------------------------------------------------------------


class ProofDrafted(Event):
    """A proof version (`proof/1`, with candidates `proof/3.2`). `revises` names the version that it revises."""

    kind = "proof.drafted"
    proof: str
    text: str
    steps: tuple[str, ...]
    call: str
    rollout: int
    revises: str = ""
    candidate: int = 0
    read_as: str = "tags"


class ProofSelected(Event):
    """The selected proof. If `accepted` is false, it is the version with the best pass share, labelled "not accepted"."""

    kind = "proof.selected"
    proof: str
    accepted: bool
    reason: str


# --- people ----------------------------------------------------------------------------------------------------------

CommandName = Literal[
    "pause", "resume", "cancel", "hint", "accept_lemma", "reject_lemma", "inject_lemma", "write_up", "extend_budget"
]


class ControlRequested(Event):
    kind = "control.requested"
    command: str
    name: CommandName
    by: str
    args: dict[str, Any]


class ControlApplied(Event):
    kind = "control.applied"
    command: str
    name: CommandName
    point: str


class ControlRefused(Event):
    kind = "control.refused"
    command: str
    name: CommandName
    reason: str


_CLASSES: tuple[type[Event], ...] = (
    RunCreated, RunStarted, RunResumed, RunPaused, RunContinued, RunFinished, RunCancelled, RunFailed, BudgetSpent,
    RoundBegan, RoundEnded, CallBegan, CallRetried, CallEnded, CallFailed, OutputUnread,
    LemmaProposed, LemmaMerged, LemmasAlike, LemmaRetired, LemmaRestored, EdgeAdded,
    VoteCast, VerdictReached, ProofDrafted, ProofSelected, ControlRequested, ControlApplied, ControlRefused,
)  # fmt: skip
_MORE = (agent_events, candidate_events, tool_events, check_events, import_events, grading_events, prompt_events, trial_events)
EVENT_CLASSES: dict[str, type[Event]] = {cls.kind: cls for cls in (*_CLASSES, *(cls for part in _MORE for cls in part.CLASSES))}


def event_from(kind: str, body: dict[str, Any]) -> Event:
    """Load the event stored as `(kind, body)`. Raises `KeyError` for an unknown kind."""
    return EVENT_CLASSES[kind].model_validate(body)
