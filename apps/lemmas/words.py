"""Verdicts in words for pages, the outline and exports."""

from apps.lemmas.models import Judged, Lemma, ProofVersion, Verdict
from apps.reasoning.domain.verdicts import NO_FAULT, UNPLACED
from apps.runs.models import Run

#: Largest difference between a stored share and its fraction.
ROUNDED = 1e-6


def confidence_words(row: Judged) -> str:
    """`3 of 4 votes · 75 % (30–95 %) · 1 unread`; the progress of the voting, or the reason for no confidence."""
    if row.confidence is None:
        if row.unscored:
            return row.unscored
        return f"{row.total} of {row.expected} votes received" if row.total else "not yet verified"
    # A confidence may be of all votes asked for or of those that could be read (Intern-S1-MO, "Unread votes on lemmas").
    of = row.valid if row.valid and abs(row.passes / row.valid - row.confidence) < ROUNDED else row.total
    words = f"{row.passes} of {of} votes · {row.confidence:.0%}".replace("%", " %")
    if row.low is not None and row.high is not None:
        words += f" ({row.low * 100:.0f}–{row.high * 100:.0f} %)"
    unread = row.total - row.valid
    return f"{words} · {unread} unread" if unread > 0 else words


def vote_words(vote: Verdict) -> str:
    """The verdict of one vote in a few words."""
    if vote.unscored:
        return "could not be read"
    if vote.wrong_lemma:
        return f"finds lemma {vote.wrong_lemma} wrong"
    if vote.first_fault == NO_FAULT:
        return "finds no fault"
    if vote.first_fault == UNPLACED:
        return "finds a fault, at no step of the text"
    return f"finds the first fault in step {vote.first_fault}"


def acceptance_words(proof: ProofVersion) -> str:
    """Reason why this version is accepted or not; "" while it is not judged."""
    if proof.status == "refuted":
        return f"Not accepted: {proof.unscored}."
    if proof.unscored:
        return f"Unscored: {proof.unscored}. Open the votes to read their texts."
    if proof.confidence is None:
        return ""
    failed = proof.valid - proof.passes
    if proof.status == "accepted":
        return f"Accepted: {proof.passes} of {proof.valid} valid votes found no fault."
    who = "One verifier finds" if failed == 1 else f"{failed} of {proof.valid} verifiers find"
    return f"Not accepted: {who} a fault." if failed else "Not accepted: too few votes could be read."


def lemma_name(run: Run, lemma: Lemma) -> str:
    """Name of a lemma on pages: its number, with its rollout in a run with several."""
    several = int(run.spec.get("params", {}).get("rollouts", 1)) > 1
    return f"s{lemma.rollout}.{lemma.label}" if several and lemma.origin == "model" else lemma.label
