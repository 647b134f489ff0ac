"""Every event that a run can record: one neutral vocabulary for all scaffolds.

An event is a fact in the past tense. Its kind corresponds to its class (`lemma.proposed` ↔ `LemmaProposed`). It is stored once
under `(run, seq)` and a structural `key`, so that a replay can emit it again without effect. All pages are folds over events.
Long texts are stored separately: `*_sha` names a content-addressed text.
"""

from typing import Any, Literal

from apps.reasoning.domain.event_base import Event as Event
from apps.reasoning.domain.event_base import Kind
from apps.reasoning.domain.generation import Usage
from apps.reasoning.domain.values import Value
from apps.reasoning.domain.verdicts import StepCheck

LemmaStatus = Literal["proposed", "verified", "doubtful", "rejected", "refuted", "retired", "merged"]


# --- the run ---------------------------------------------------------------------------------------------------------


class RunCreated(Event):
    """The frozen specification. `authored` marks the worked example, whose texts were written by people."""

    kind = Kind.RUN_CREATED
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
    kind = Kind.RUN_STARTED
    owner: str
    fence: int


class RunResumed(Event):
    """Another owner took over the run; `replayed` counts recorded calls that were not made again."""

    kind = Kind.RUN_RESUMED
    owner: str
    fence: int
    replayed: int


class RunPaused(Event):
    kind = Kind.RUN_PAUSED
    reason: str = ""


class RunContinued(Event):
    kind = Kind.RUN_CONTINUED


class RunFinished(Event):
    kind = Kind.RUN_FINISHED
    accepted: bool | None
    proof: str
    reason: str
    ended_by: str


class RunCancelled(Event):
    kind = Kind.RUN_CANCELLED
    reason: str = ""


class RunFailed(Event):
    """The run stopped; `advice` says what to do before resuming it."""

    kind = Kind.RUN_FAILED
    reason: str
    advice: str = ""


class BudgetSpent(Event):
    kind = Kind.BUDGET_SPENT
    which: str
    limit: float
    spent: float


class RoundBegan(Event):
    kind = Kind.ROUND_BEGAN
    rollout: int
    round: int


class RoundEnded(Event):
    """`proposed` counts new lemmas, `survived` those that reach the threshold; `stop` is why no round follows, or ""."""

    kind = Kind.ROUND_ENDED
    rollout: int
    round: int
    proposed: int
    survived: int
    stop: str = ""


# --- model calls -----------------------------------------------------------------------------------------------------


class CallBegan(Event):
    kind = Kind.CALL_BEGAN
    call: str
    role: str
    alias: str
    rollout: int
    round: int
    subject: str = ""
    index: int = 0


class CallRetried(Event):
    kind = Kind.CALL_RETRIED
    call: str
    attempt: int
    reason: str


class CallEnded(Event):
    kind = Kind.CALL_ENDED
    call: str
    attempt: int
    finish_reason: str
    usage: Usage
    ttft_s: float | None
    duration_s: float
    text_sha: str
    reasoning_sha: str = ""


class CallFailed(Event):
    kind = Kind.CALL_FAILED
    call: str
    reason: str
    attempt: int = 1


class OutputUnread(Event):
    """A call's text could not be parsed. The raw text is kept under `call`.

    `again`: key of the call that asks once more, or "". `part`: the rest of the text was read and counts.
    """

    kind = Kind.OUTPUT_UNREAD
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
    """A lemma version. `lemma` identifies the version (`s0.7`, `s0.7-fixed`), `number` is its name in prompts and on pages.

    `title` is a few words of the model for drawings and lists; "" if it gave none.
    """

    kind = Kind.LEMMA_PROPOSED
    lemma: str
    number: int
    rollout: int
    round: int
    statement: str
    steps: tuple[str, ...]
    call: str = ""
    origin: Literal["model", "human"] = "model"
    supersedes: str = ""
    title: str = ""


class LemmaMerged(Event):
    """`lemma` is merged into `into`, because their normalised statements are equal; `into` keeps the node."""

    kind = Kind.LEMMA_MERGED
    lemma: str
    into: str
    reason: str


class LemmasAlike(Event):
    """Two lemmas look like near-duplicates. They are proposed to people, never merged automatically."""

    kind = Kind.LEMMA_ALIKE
    lemma: str
    other: str
    similarity: float


class LemmaRetired(Event):
    """A lemma leaves the library: superseded, or rejected by a person."""

    kind = Kind.LEMMA_RETIRED
    lemma: str
    reason: str


class LemmaRestored(Event):
    kind = Kind.LEMMA_RESTORED
    lemma: str
    reason: str


class EdgeAdded(Event):
    """`user` uses `used`. `user` is a lemma version or a proof id (`proof/2`); `evidence` is the citation in its text."""

    kind = Kind.EDGE_ADDED
    user: str
    used: str
    evidence: TextAnchor


# --- verdicts --------------------------------------------------------------------------------------------------------


class VoteCast(Event):
    """Vote `index` of `of` on a lemma version or a proof (`subject`).

    Exactly one of `first_fault`, `wrong_lemma` and `unscored` is given. `first_fault` is a step from 1, -1 for no fault, or 0
    for a fault outside all steps.
    """

    kind = Kind.VOTE_CAST
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
    """All votes on `subject` were cast. Exactly one of `confidence` and `unscored` (the reason) is given.

    `refuted`: the formula check refuted a formula of it, so no vote was requested. Such a verdict has no confidence.
    """

    kind = Kind.VERDICT_REACHED
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

    kind = Kind.PROOF_DRAFTED
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

    kind = Kind.PROOF_SELECTED
    proof: str
    accepted: bool
    reason: str
