"""Intern-S1-MO from the problem to the outcome."""

from apps.reasoning.domain.errors import BudgetExhausted
from apps.reasoning.domain.events import ProofSelected
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.verdicts import Confidence
from apps.reasoning.ports import Context
from apps.reasoning.scaffolds.intern_s1_mo.exploration import Exploration, Proof
from apps.reasoning.scaffolds.intern_s1_mo.final import best, finish
from apps.reasoning.scaffolds.intern_s1_mo.lemmas import Lemmas
from apps.reasoning.scaffolds.intern_s1_mo.params import Params
from apps.reasoning.scaffolds.intern_s1_mo.rounds import explore


async def solve(problem: ProblemText, ctx: Context, params: Params) -> Outcome:
    """Explore, then write, check and revise. If the budget is used up, return the best result so far.

    Exploring reserves a part of the budget for the write-up, so that lemmas are written up even if the budget is short.
    """
    x = Exploration(problem=problem, params=params, ctx=ctx, lemmas=Lemmas(params.rollouts))
    exhausted: BudgetExhausted | None = None
    try:
        await explore(x)
        x.written_up_early, x.write_up = x.write_up, False
        await finish(x)
    except BudgetExhausted as error:
        exhausted = error
    exhausted = exhausted or x.cut_short
    proof = best(x)
    if proof is None:
        return _without_proof(x, exhausted)
    return _with_proof(x, proof, exhausted)


def _with_proof(x: Exploration, proof: Proof, exhausted: BudgetExhausted | None) -> Outcome:
    judged = isinstance(proof.confidence, Confidence)
    reason = _judgement(x, proof)
    if exhausted and not proof.accepted:
        reason = f"{exhausted} {reason}"
    x.emit("proof/selected", ProofSelected(proof=proof.id, accepted=proof.accepted, reason=reason))
    if proof.accepted:
        ended_by = "accepted"
    elif exhausted:
        ended_by = "budget"
    elif x.write_up or x.written_up_early:
        ended_by = "written-up"
    else:
        ended_by = "exhausted"
    return Outcome.model_validate(
        {"accepted": proof.accepted if judged else None, "proof": proof.id, "reason": reason, "ended_by": ended_by}
    )


def _judgement(x: Exploration, proof: Proof) -> str:
    votes = proof.confidence
    if not x.params.process_verifier:
        return "The proof was not checked: the process verifier is switched off."
    if proof.objection:
        return f"Not accepted: {proof.objection}."
    if votes is None:
        return "Not accepted: the proof has not been checked."
    if not isinstance(votes, Confidence):
        return f"Not accepted: {votes.reason}."
    counted = f"{votes.passes} of {votes.valid} valid votes found no fault"
    if proof.accepted:
        return f"Accepted: {counted}."
    if votes.share >= x.params.accept_share:
        return f"Not accepted: {counted}, but {x.params.valid_needed} valid votes are needed."
    return f"Not accepted: this is the best of all versions; {counted}."


def _without_proof(x: Exploration, exhausted: BudgetExhausted | None) -> Outcome:
    proposed = len({x.lemmas.representative(lemma).id for lemma in x.lemmas})
    held = len({x.lemmas.standing(lemma).id for lemma in x.lemmas if lemma.in_library})
    if exhausted:
        refused = f"The writer says: {x.refusals[min(x.refusals)]}" if x.refusals else "No proof was written by then."
        return Outcome(accepted=None, reason=f"{exhausted} {refused}", ended_by="budget")
    if x.was_written_up:
        state = f"{held} lemmas hold" if held else "A round claims a complete solution"
        if x.refusals:
            return Outcome(accepted=None, reason=f"{state}, but there is no complete proof: {x.refusals[min(x.refusals)]}")
        return Outcome(accepted=None, reason=f"{state}, but no written proof could be read.", ended_by="nothing-readable")
    if not proposed and not any(rollout.summary_read_once for rollout in x.lemmas.rollouts):
        reason = "Nothing that the model wrote could be read as a lemma. The raw texts are kept with their calls."
        if x.failures and not x.answered:
            reason = f"No call was answered. {x.failures[min(x.failures)]}"
        return Outcome(accepted=None, reason=reason, ended_by="nothing-readable")
    if not proposed:
        return Outcome(accepted=None, reason="The rounds produced no lemma, so there was nothing to write up.")
    asked = any(lemma.status != "refuted" for lemma in x.lemmas)
    if not held and x.params.theorem_verifier and asked and not x.votes_read:
        reason = f"{proposed} lemmas were proposed, but no vote on them could be read."
        return Outcome(accepted=None, reason=reason, ended_by="nothing-readable")
    return Outcome(accepted=None, reason=f"None of {proposed} lemmas held, so there was nothing to write up.")
