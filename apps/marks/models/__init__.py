"""Tables of marking: assignment and marks, suggestions and reveals, decisions and releases, the team, printed texts."""

from apps.marks.models.decisions import (
    Appeal,
    AppealState,
    Coordination,
    CoordinationOutcome,
    CoordinationRemark,
    FinalGrade,
    Precedent,
    ReleaseBatch,
    ReleasedGrade,
    ReleasePart,
)
from apps.marks.models.findings import EarlyReveal, FindingAnswer, Reveal, RevealKind, Suggestion, SuggestionState
from apps.marks.models.marking import (
    CLAIM_PARTS,
    CLAIMED,
    SETTLED,
    AuditEvent,
    CaseState,
    Mark,
    MarkCommand,
    MarkingCase,
    MarkingSetup,
    MarkingTask,
    MarkItem,
    MarkState,
    Pass,
    PassReason,
    Phrase,
    Slot,
    Verdict,
)
from apps.marks.models.preferences import KeyMap
from apps.marks.models.printed import PrintedKind, PrintedText
from apps.marks.models.shared import SharedItems, SharedItemsScript
from apps.marks.models.team import Assignment, MarkerConflict

__all__ = [
    "CLAIMED",
    "CLAIM_PARTS", "SETTLED",
    "Appeal", "AppealState", "Assignment", "AuditEvent", "CaseState", "Coordination", "CoordinationOutcome",
    "CoordinationRemark", "EarlyReveal", "FinalGrade", "FindingAnswer", "KeyMap", "Mark", "MarkCommand", "MarkItem",
    "MarkState", "MarkerConflict", "MarkingCase", "MarkingSetup", "MarkingTask", "Pass", "PassReason", "Phrase", "Precedent",
    "PrintedKind", "PrintedText",
    "ReleaseBatch", "ReleasePart", "ReleasedGrade", "Reveal", "RevealKind", "SharedItems", "SharedItemsScript",
    "Slot", "Suggestion", "SuggestionState", "Verdict",
]  # fmt: skip
