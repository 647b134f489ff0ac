"""The kinds of all events, as they are stored, and the base class of events.

Readers name a kind by its member, never by a string. `static/js/run/kinds.js` has the same names for the pages; a test holds
the two equal.
"""

from enum import StrEnum
from typing import ClassVar

from apps.reasoning.domain.values import Value


class Kind(StrEnum):
    """The stored name of a kind of event. Each has one class (events.py)."""

    RUN_CREATED = "run.created"
    RUN_STARTED = "run.started"
    RUN_RESUMED = "run.resumed"
    RUN_PAUSED = "run.paused"
    RUN_CONTINUED = "run.continued"
    RUN_FINISHED = "run.finished"
    RUN_CANCELLED = "run.cancelled"
    RUN_FAILED = "run.failed"
    BUDGET_SPENT = "budget.spent"
    ROUND_BEGAN = "round.began"
    ROUND_ENDED = "round.ended"
    CALL_BEGAN = "call.began"
    CALL_RETRIED = "call.retried"
    CALL_ENDED = "call.ended"
    CALL_FAILED = "call.failed"
    OUTPUT_UNREAD = "output.unread"
    LEMMA_PROPOSED = "lemma.proposed"
    LEMMA_MERGED = "lemma.merged"
    LEMMA_ALIKE = "lemma.alike"
    LEMMA_RETIRED = "lemma.retired"
    LEMMA_RESTORED = "lemma.restored"
    EDGE_ADDED = "edge.added"
    VOTE_CAST = "vote.cast"
    VERDICT_REACHED = "verdict.reached"
    PROOF_DRAFTED = "proof.drafted"
    PROOF_SELECTED = "proof.selected"
    CONTROL_REQUESTED = "control.requested"
    CONTROL_APPLIED = "control.applied"
    CONTROL_REFUSED = "control.refused"
    PROMPT_FITTED = "prompt.fitted"
    PROMPT_REFUSED = "prompt.refused"
    CANDIDATE_DRAFTED = "candidate.drafted"
    CANDIDATE_SCORED = "candidate.scored"
    CANDIDATE_SCORE_DROPPED = "candidate.score_dropped"
    CANDIDATE_JUDGED = "candidate.judged"
    POOL_KEPT = "pool.kept"
    POOL_GROUPED = "pool.grouped"
    PAIR_JUDGED = "pair.judged"
    PAIR_DECIDED = "pair.decided"
    STATE_WRITTEN = "state.written"
    TURN_TAKEN = "turn.taken"
    MEMORY_STORED = "memory.stored"
    TOOL_BEGAN = "tool.began"
    TOOL_ENDED = "tool.ended"
    TOOL_FAILED = "tool.failed"
    FORMULAS_CHECKED = "formulas.checked"
    FORMULAS_OFF = "formulas.off"
    GRADING_PREPARED = "grading.prepared"
    GRADING_UNPREPARED = "grading.unprepared"
    GRADING_SCHEME_WRITTEN = "grading.scheme_written"
    GRADING_QUALITY = "grading.quality"
    GRADING_DIFFICULTY = "grading.difficulty"
    GRADING_MATCHED = "grading.matched"
    GRADING_REACHED = "grading.reached"
    IMPORT_SOURCE = "import.source"
    IMPORT_UNREAD = "import.unread"
    ROLE_TRIED = "role.tried"


class Event(Value):
    """Base of all events. `kind` is the stored name."""

    kind: ClassVar[Kind]
