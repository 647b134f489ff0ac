"""The outcome of a run from its selected candidate."""

from collections.abc import Awaitable, Callable

from apps.reasoning.domain.errors import BudgetExhausted
from apps.reasoning.domain.events import ProofDrafted, ProofSelected
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.values import Value
from apps.reasoning.scaffolds.candidates.desk import Candidate, Desk

PROOF = "proof/1"


class Selection(Value):
    """The result of a search. `accepted` is None if the candidate was not judged; `reason` is a sentence for the page."""

    candidate: Candidate | None
    accepted: bool | None = None
    reason: str


async def concluded(desk: Desk, search: Awaitable[Selection], so_far: Callable[[], Selection]) -> Outcome:
    """The outcome of `search`; if the budget ends it, the outcome of `so_far`, which selects among the existing candidates."""
    exhausted: BudgetExhausted | None = None
    try:
        selection = await search
    except BudgetExhausted as error:
        exhausted = error
        selection = so_far()
    if selection.candidate is None:
        return _nothing(desk, selection, exhausted)
    candidate = selection.candidate
    reason = f"{exhausted} {selection.reason}" if exhausted and not selection.accepted else selection.reason
    desk.ctx.emit(
        PROOF,
        ProofDrafted(
            proof=PROOF,
            text="\n\n".join(candidate.steps),
            steps=candidate.steps,
            call=desk.calls.get(candidate.id, ""),
            rollout=0,
            read_as=candidate.read_as,
        ),
    )
    desk.ctx.emit("proof/selected", ProofSelected(proof=PROOF, accepted=bool(selection.accepted), reason=reason))
    if selection.accepted:
        ended_by = "accepted"
    elif exhausted:
        ended_by = "budget"
    else:
        ended_by = "written-up" if desk.wants_end else "exhausted"
    return Outcome.model_validate({"accepted": selection.accepted, "proof": PROOF, "reason": reason, "ended_by": ended_by})


def _nothing(desk: Desk, selection: Selection, exhausted: BudgetExhausted | None) -> Outcome:
    if exhausted:
        so_far = selection.reason if desk.candidates else "No solution was written by then."
        return Outcome(accepted=None, reason=f"{exhausted} {so_far}", ended_by="budget")
    if desk.wants_end:
        return Outcome(accepted=None, reason="The search was ended before a solution was written.", ended_by="written-up")
    return Outcome(accepted=None, reason=selection.reason, ended_by="nothing-readable")


NOTHING_READABLE = "Nothing that the model wrote could be read as a solution. The raw texts are kept with their calls."
