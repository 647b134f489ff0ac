"""Reading proofs, refusals and claims."""

import pytest

from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.proofs import NoProof, ReadProof, read_claim, read_proof
from tests.reasoning.play import final, proof


def test_a_proof_is_read_step_by_step() -> None:
    assert read_proof(final("Fixed.\n" + proof("Let $n=1$.", "So."))) == ReadProof(steps=("Let $n=1$.", "So."))


def test_a_proof_without_step_tags_is_taken_by_paragraphs() -> None:
    assert read_proof(final("<proof>\nFirst.\n\nThen.\n</proof>")) == ReadProof(steps=("First.", "Then."))


def test_of_two_proofs_the_last_counts() -> None:
    assert read_proof(final(proof("Old.") + proof("New."))) == ReadProof(steps=("New.",))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("The proof is as follows. Let $n=1$.", "there is no <proof>"),
        ("<proof></proof>", "the proof is empty"),
        (proof("…", "."), "the proof is empty"),
        ("<proof><step>One.", "there is no <proof>"),
        ("<proof><step>One.</step><step>Two.</proof>", "a <step> of the proof was opened and not closed"),
        ("<think>" + proof("x") + "</think>", "the answer is empty"),
    ],
)
def test_what_is_no_proof_is_not_judged(text: str, reason: str) -> None:
    assert read_proof(final(text)) == Unscored(reason=reason)


def test_a_truncated_proof_is_not_a_proof() -> None:
    assert isinstance(read_proof(final(proof("One."), finish_reason="length")), Unscored)


def test_a_refusal_is_read_with_its_reason() -> None:
    assert read_proof(final("<no-proof>The case $n=2$ is open.</no-proof>")) == NoProof(reason="The case $n=2$ is open.")
    assert isinstance(read_proof(final("<no-proof>…</no-proof>" + proof("Yes."))), ReadProof)
    assert isinstance(read_proof(final(proof("Yes.") + "<no-proof>It fails.</no-proof>")), NoProof)


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("<claim>complete</claim>", "complete"),
        ("<claim> Partial </claim>\nBye.", "partial"),
        ("<claim>complete</claim> no: <claim>partial</claim>", "partial"),
    ],
)
def test_the_last_claim_counts(text: str, claim: str) -> None:
    assert read_claim(final(text)) == claim


@pytest.mark.parametrize(
    "text", ["<claim>incomplete</claim>", "I have a complete solution.", "<claim>complete or partial</claim>", ""]
)
def test_a_claim_is_word_for_word(text: str) -> None:
    assert isinstance(read_claim(final(text)), Unscored)


def test_a_truncated_text_claims_nothing() -> None:
    assert isinstance(read_claim(final("<claim>complete</claim>", finish_reason="length")), Unscored)
