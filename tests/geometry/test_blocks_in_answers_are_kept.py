"""A block of a statement in a model's answer stays in the lemma or proof, in every form in which answers are read."""

import json

import pytest

from apps.geometry.showing import blocks
from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.proofs import NoProof, read_proof
from apps.reasoning.reading.summaries import read_summary

STATEMENT = "a b c = triangle; h = orthocenter a b c\n? perp a h b c"
BLOCK = f"```geometry\n{STATEMENT}\n```"
SAID = "The line through $A$ and the orthocentre $H$ of $ABC$ is perpendicular to $BC$."
PROOF = "By definition, $H$ is on the altitude from $A$, and that altitude is perpendicular to $BC$."


@pytest.mark.parametrize(
    "answer",
    [
        f'<lemma number="1"><statement>{SAID}\n\n{BLOCK}</statement><proof><step>{PROOF}</step></proof></lemma>',
        json.dumps({"lemmas": [{"number": "1", "statement": f"{SAID}\n\n{BLOCK}", "steps": [PROOF]}]}),
        f"## Lemma 1\n{SAID}\n\n{BLOCK}\n\n**Proof.** {PROOF}",
    ],
)
def test_a_block_stays_in_the_statement_of_a_lemma(answer: str) -> None:
    found = read_summary(Final(text=answer, finish_reason="stop"))
    assert not isinstance(found, Unscored)
    (lemma,) = found.lemmas
    assert blocks(lemma.statement) == [STATEMENT]


@pytest.mark.parametrize(
    "answer",
    [
        f"<proof><step>{PROOF}</step><step>{BLOCK}</step></proof>",
        f"## Proof\n{PROOF}\n\n{BLOCK}\n\nSo $AH$ is perpendicular to $BC$.",
    ],
)
def test_a_block_stays_in_a_proof(answer: str) -> None:
    found = read_proof(Final(text=answer, finish_reason="stop"))
    assert not isinstance(found, NoProof | Unscored)
    assert blocks("\n".join(found.steps)) == [STATEMENT]
