"""Votes on lemmas and proofs: requesting, counting, and their consequences."""

from collections.abc import Sequence
from typing import Any

from apps.reasoning.domain.events import VerdictReached, VoteCast
from apps.reasoning.domain.generation import Final, Place
from apps.reasoning.domain.tools import MathText
from apps.reasoning.domain.values import Unscored, unchecked
from apps.reasoning.domain.verdicts import NO_FAULT, UNPLACED, Confidence, Vote, aggregate
from apps.reasoning.prompts.loader import RenderedPrompt
from apps.reasoning.reading.schemas import choice_schema
from apps.reasoning.reading.votes import read_lemma_vote, read_proof_vote, read_vote_again, unplaced
from apps.reasoning.scaffolds.intern_s1_mo.asking import (
    LEMMA_VERDICT_SCHEMA,
    PROOF_VERDICT_SCHEMA,
    content,
    lemma_check_prompt,
    proof_check_prompt,
)
from apps.reasoning.scaffolds.intern_s1_mo.exploration import Exploration, Proof
from apps.reasoning.scaffolds.intern_s1_mo.lemmas import Lemma, Rollout
from apps.reasoning.scaffolds.running.checking_first import (
    REFUTED,
    Formulas,
    finding_words,
    formulas_of,
    marks,
    statement_part,
    step_parts,
)
from apps.reasoning.scaffolds.running.concurrently import concurrently
from apps.reasoning.scaffolds.running.hearing import SHORT, Reading, ending

SWITCHED_OFF = Unscored(reason="the theorem verifier is switched off")


def _fault_schema(steps: int) -> dict[str, Any]:
    """The schema of the first faulty step, -1 for none."""
    return choice_schema("first_fault", NO_FAULT, *range(1, steps + 1))


async def verify_lemma(x: Exploration, lemma: Lemma, rollout: Rollout | None, prefix: str) -> None:
    """Collect the votes on a lemma, emit them as they arrive, and set its confidence, status and library membership.

    Source: Intern-S1-MO §3 (n parallel checks, confidence = the proportion that finds no fault); the threshold τ is ours.
    """
    if not x.params.theorem_verifier:
        _settle(x, lemma, (), SWITCHED_OFF)
        return
    place = Place(rollout=max(0, lemma.rollout), round=lemma.round, subject=f"lemma {lemma.id}")
    formulas = await _formulas(x, f"{prefix}/{lemma.id}", (statement_part(lemma.statement), *step_parts(lemma.steps)), place)
    if x.params.formulas_first and formulas.refuted:
        _settle_refuted(x, lemma, formulas)
        return
    prompt = lemma_check_prompt(x, lemma, rollout, _marks(x, formulas))

    steps = len(lemma.steps)

    def read(final: Final) -> Vote | Unscored:
        return _valid(read_lemma_vote(final, steps))

    def read_again(second: Final, first: str) -> Vote | Unscored:
        return _valid(read_vote_again(second, first, steps, may_name_lemma=False))

    end = ending("verdict", NO_FAULT, *range(1, steps + 1), "FORMAT_ERROR")
    schema = _fault_schema(steps)
    reading = Reading[Vote](read, "vote", read_again, schema, tokens=SHORT, ending=end, examined=read_again)

    votes = await _votes(
        x, f"{prefix}/{lemma.id}", "theorem_verifier", prompt, place, x.params.lemma_votes, reading, subject=lemma.id
    )
    _settle(x, lemma, votes, aggregate(votes, of_all=x.params.unread_votes == "against"))


async def verify_proof(x: Exploration, proof: Proof) -> None:
    """Collect the votes on a proof; accept it if enough votes are valid and the share of passes reaches the threshold."""
    place = Place(subject=f"proof {proof.name}")
    formulas = await _formulas(x, f"final/check/{proof.name}", step_parts(proof.steps), place)
    if x.params.formulas_first and formulas.refuted:
        proof.confidence = Unscored(reason=REFUTED)
        proof.findings += [finding_words(one) for one in formulas.refuted]
        _emit_verdict(x, proof.id, (), proof.confidence, "refuted")
        return
    steps = len(proof.steps)

    def read(final: Final) -> Vote | Unscored:
        return _valid(_with_lemma_id(x, read_proof_vote(final, steps)))

    def read_again(second: Final, first: str) -> Vote | Unscored:
        return _valid(_with_lemma_id(x, read_vote_again(second, first, steps, may_name_lemma=True)))

    votes = await _votes(
        x,
        f"final/check/{proof.name}",
        "process_verifier",
        proof_check_prompt(x, proof, _marks(x, formulas)),
        place,
        x.params.proof_votes,
        Reading[Vote](read, "vote", read_again, _fault_schema(steps), tokens=SHORT, examined=read_again),
        subject=proof.id,
    )
    proof.confidence = aggregate(votes)
    proof.findings += [finding for vote in votes if (finding := _finding(x, vote))]
    if isinstance(proof.confidence, Confidence):
        enough = proof.confidence.valid >= x.params.valid_needed and not proof.objection
        proof.accepted = enough and proof.confidence.share >= x.params.accept_share
        status = "accepted" if proof.accepted else "not accepted"
    else:
        status = "unscored"
    _emit_verdict(x, proof.id, votes, proof.confidence, status)


def _valid(vote: Vote) -> Vote | Unscored:
    """The vote, or the reason why it is unreadable. FORMAT_ERROR, that there is nothing to judge, counts as readable."""
    is_unread = vote.unscored is not None and not vote.unscored.reason.startswith("FORMAT_ERROR")
    return vote.unscored if is_unread and vote.unscored else vote


async def _votes(
    x: Exploration,
    prefix: str,
    role: str,
    prompt: RenderedPrompt,
    place: Place,
    count: int,
    reading: Reading[Vote],
    *,
    subject: str,
) -> tuple[Vote, ...]:
    schema = LEMMA_VERDICT_SCHEMA if role == "theorem_verifier" else PROOF_VERDICT_SCHEMA

    async def vote(index: int) -> Vote:
        call = f"{prefix}/{index}"
        value, said_in, _ = await x.hear(call, role, prompt, place.at(index), reading, schema)
        cast = Vote(unscored=value) if isinstance(value, Unscored) else value
        _emit_vote(x, subject, index, count, said_in, cast, key=call)
        return cast

    votes = tuple(await concurrently(vote(index) for index in range(1, count + 1)))
    x.votes_read += sum(vote.is_valid for vote in votes)
    return votes


def _emit_vote(x: Exploration, subject: str, index: int, count: int, call: str, vote: Vote, *, key: str) -> None:
    event = unchecked(
        VoteCast,
        subject=subject,
        index=index,
        of=count,
        call=call,
        first_fault=vote.first_fault if vote.is_valid and not vote.wrong_lemma else None,
        wrong_lemma=vote.wrong_lemma if vote.is_valid else "",
        unscored=vote.unscored.reason if vote.unscored else "",
        checks=vote.checks,
        summary=vote.summary,
    )
    x.emit(f"{key}/vote", event)


def _settle(x: Exploration, lemma: Lemma, votes: Sequence[Vote], confidence: Confidence | Unscored) -> None:
    lemma.confidence = confidence
    lemma.faults = [finding for vote in votes if (finding := _finding(x, vote))]
    if isinstance(confidence, Confidence):
        share = confidence.share
        enough = confidence.of_all or 2 * confidence.valid >= confidence.total
        holds = share >= x.params.threshold and enough
        lemma.status = "verified" if holds else "doubtful" if share > 0 else "rejected"
        lemma.in_library = lemma.status == "verified"
        _emit_verdict(x, lemma.id, votes, confidence, lemma.status)
    else:
        lemma.in_library = confidence is SWITCHED_OFF
        _emit_verdict(x, lemma.id, votes, confidence, "unscored")


def _settle_refuted(x: Exploration, lemma: Lemma, formulas: Formulas) -> None:
    """Keep a lemma with a refuted formula out of the library, without a vote. No confidence is made up for it."""
    lemma.confidence, lemma.status, lemma.in_library = Unscored(reason=REFUTED), "refuted", False
    lemma.faults = [finding_words(one) for one in formulas.refuted]
    _emit_verdict(x, lemma.id, (), lemma.confidence, lemma.status)


async def _formulas(x: Exploration, prefix: str, parts: Sequence[MathText], place: Place) -> Formulas:
    """The formula check of a text that verifiers are about to judge; empty if no option needs it."""
    if not (x.params.formulas_first or x.params.verifier_marks):
        return Formulas()
    return await formulas_of(x.ctx, f"{prefix}/formulas", parts, context=x.problem.statement, place=place)


def _marks(x: Exploration, formulas: Formulas) -> str:
    return marks(formulas, lambda text: content(x, text)) if x.params.verifier_marks else ""


def _emit_verdict(x: Exploration, subject: str, votes: Sequence[Vote], confidence: Confidence | Unscored, status: str) -> None:
    if isinstance(confidence, Confidence):
        numbers = confidence.model_dump(include={"passes", "valid", "total", "low", "high"}) | {"confidence": confidence.share}
    else:
        numbers = {"passes": 0, "valid": 0, "total": len(votes), "confidence": None, "unscored": confidence.reason}
    x.emit(f"verdict/{subject}", VerdictReached.model_validate({"subject": subject, "status": status, **numbers}))


def _finding(x: Exploration, vote: Vote) -> str:
    """The objection of a vote in words, for prompts; "" for a pass."""
    if not vote.is_valid or vote.is_pass:
        return ""
    if vote.wrong_lemma:
        lemma = x.lemmas.get(vote.wrong_lemma)
        name = x.final_label(lemma) if lemma else vote.wrong_lemma
        return f"Lemma {name} is wrong. {vote.summary}".strip()
    faulty = [check for check in vote.checks if not check.sound]
    remarks = " ".join(f"Step {check.step}: {check.comment}" for check in faulty if check.comment)
    if vote.first_fault == UNPLACED:
        return f"There is a fault. {vote.summary} {remarks}".strip()
    return f"The first fault is in step {vote.first_fault}. {remarks or vote.summary}".strip()


def _with_lemma_id(x: Exploration, vote: Vote) -> Vote:
    """The vote with the id of the lemma it names; an unplaced fault if there is no such lemma."""
    if not vote.wrong_lemma:
        return vote
    lemma = x.lemmas.named(vote.wrong_lemma, None)
    if lemma is None:
        return unplaced(f"It names Lemma {vote.wrong_lemma} as wrong, which does not exist.", vote)
    return vote.model_copy(update={"wrong_lemma": x.lemmas.representative(lemma).id})
