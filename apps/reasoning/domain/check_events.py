"""Events of the computational verifier (docs/mathcheck.md): what it found in a lemma, a proof or a candidate.

It is a verifier of its own: no event here changes a confidence, a status or the course of a run.
"""

from typing import Literal

from apps.reasoning.domain.event_base import Event
from apps.reasoning.domain.tools import MathFinding

CheckOutcome = Literal["refuted", "survived", "not_understood", "unchecked", "stopped"]


class FormulasChecked(Event):
    """The formulas of `subject` (a lemma version, a proof, a candidate) were tested, or `unchecked` says why not.

    Where a limit on time ended the check, `stopped` counts the formulas that it left, or `outcome` is stopped and `unchecked`
    says which limit; no record is kept then, so `call` is empty and the next owner of the run asks again.

    `outcome` is refuted where one formula is, else survived where one was tested. `findings` are those that were refuted and
    the first of those that survived; their `text_id` is `statement` or `step 3`. The counts are of formulas. `call` is the
    record.
    """

    kind = "formulas.checked"
    subject: str
    outcome: CheckOutcome
    findings: tuple[MathFinding, ...] = ()
    refuted: int = 0
    survived: int = 0
    not_understood: int = 0
    stopped: int = 0
    unchecked: str = ""
    call: str = ""


class FormulaChecksOff(Event):
    """From here on formulas are not checked, because nothing that could run the check is there."""

    kind = "formulas.off"
    reason: str


CLASSES: tuple[type[Event], ...] = (FormulasChecked, FormulaChecksOff)
