"""Events of the computational verifier (docs/mathcheck.md): its findings in a lemma, a proof or a candidate.

It is independent: none of these events changes a confidence, a status or the course of a run.
"""

from typing import Literal

from apps.reasoning.domain.event_base import Event, Kind
from apps.reasoning.domain.tools import MathFinding

CheckOutcome = Literal["refuted", "survived", "not_understood", "unchecked", "stopped"]


class FormulasChecked(Event):
    """The formulas of `subject` (a lemma version, a proof, a candidate) were tested, or `unchecked` is the reason.

    `outcome` is refuted if any formula is refuted, else survived if any was tested or proved. `findings` are the refuted
    formulas and the first of the proved and surviving ones; their `text_id` is `statement` or `step 3`. The counts are of
    formulas. `call` is the key of the record.
    If a time limit ended the check, `stopped` counts the untested formulas, or `outcome` is stopped and `unchecked` names the
    limit. No record is kept then: `call` is empty, and the next owner of the run repeats the check.
    """

    kind = Kind.FORMULAS_CHECKED
    subject: str
    outcome: CheckOutcome
    findings: tuple[MathFinding, ...] = ()
    refuted: int = 0
    survived: int = 0
    proved: int = 0
    not_understood: int = 0
    stopped: int = 0
    unchecked: str = ""
    call: str = ""


class FormulaChecksOff(Event):
    """Formulas are no longer checked, because no worker can run the checks."""

    kind = Kind.FORMULAS_OFF
    reason: str
