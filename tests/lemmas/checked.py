"""A run whose formulas were checked: the story, with what a program found in three of its texts."""

from apps.reasoning.domain.check_events import FormulaChecksOff, FormulasChecked
from apps.reasoning.domain.tools import MathAnchor, MathCounterexample, MathFinding
from tests.lemmas.story import LEMMAS, PROOFS, KeyedEvent, story

STATEMENTS = {row[0]: row[4] for row in LEMMAS}
STEPS = {row[0]: row[5] for row in LEMMAS} | {row[0]: row[2] for row in PROOFS}


def finding(subject: str, where: str, quote: str, outcome: str = "survived") -> MathFinding:
    """A finding at the place of `quote`."""
    text = STATEMENTS[subject] if where == "statement" else STEPS[subject][int(where.split()[1]) - 1]
    start = text.index(quote)
    example = MathCounterexample(values={"a": "2"}, left="15", right="0") if outcome == "refuted" else None
    return MathFinding.model_validate(
        {
            "text_id": where,
            "anchor": MathAnchor(start=start, end=start + len(quote), quote=quote),
            "kind": "divisibility",
            "outcome": outcome,
            "tests": 60,
            "counterexample": example,
        }
    )


def checked(subject: str, *findings: MathFinding, unread: int = 0) -> KeyedEvent:
    """The event of one check."""
    refuted = sum(one.outcome == "refuted" for one in findings)
    survived = len(findings) - refuted
    return f"check/{subject}/told", FormulasChecked(
        subject=subject,
        outcome="refuted" if refuted else "survived" if survived else "not_understood",
        findings=findings,
        refuted=refuted,
        survived=survived,
        not_understood=unread,
        call=f"check/{subject}",
    )


def checked_story() -> list[KeyedEvent]:
    """The story with a refuted lemma, one that survived, one that was not understood, one late, and a refuted proof step."""
    late = FormulasChecked(subject="s0.3", outcome="unchecked", unchecked="the run ended before its turn")
    return [
        *story(),
        checked("s1.9", finding("s1.9", "statement", "5 \\mid a^2 - 1", "refuted"), unread=1),
        checked("s0.7", finding("s0.7", "step 1", "a^4 - 1 = (a^2 - 1)(a^2 + 1)"), unread=3),
        checked("s0.6", unread=2),
        ("check/s0.3/late", late),
        checked("proof/1", finding("proof/1", "step 3", "48 \\cdot 5 = 240", "refuted")),
    ]


def off(reason: str = "No worker serves sandbox.") -> KeyedEvent:
    return "checks/off/12345678", FormulaChecksOff(reason=reason)
