"""Reading a final proof, a refusal to write one, and the reasoner's claim."""

import re
from typing import Literal

from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.reading.answers import tag_pattern, whole_answer

Claim = Literal["complete", "partial"]

_PROOF = tag_pattern("proof")
_NO_PROOF = tag_pattern("no-proof")
_STEP = tag_pattern("step")
_STEP_TAG = re.compile(r"</?step\b[^<>]{0,80}>", re.IGNORECASE)
_CLAIM = re.compile(r"<claim>\s*([^<]*?)\s*</claim>", re.IGNORECASE)
_PARAGRAPHS = re.compile(r"\n\s*\n")
_SUBSTANCE = re.compile(r"\w")


class ReadProof(Value):
    """A proof in steps. `text` is the steps as one text, a blank line between them."""

    steps: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n\n".join(self.steps)


class NoProof(Value):
    """The writer says that there is no complete solution, and what is missing."""

    reason: str


def read_proof(final: Final) -> ReadProof | NoProof | Unscored:
    """The last proof, or the refusal if that comes later. A proof without step tags is taken by paragraphs."""
    answer = whole_answer(final)
    if isinstance(answer, Unscored):
        return answer
    proofs, refusals = list(_PROOF.finditer(answer)), list(_NO_PROOF.finditer(answer))
    if refusals and (not proofs or refusals[-1].start() > proofs[-1].start()):
        reason = refusals[-1].group(1).strip()
        return NoProof(reason=reason if _SUBSTANCE.search(reason) else "no reason was given")
    if not proofs:
        return Unscored(reason="there is no <proof>")
    return read_steps(proofs[-1].group(1))


def read_steps(body: str) -> ReadProof | Unscored:
    """The steps of a proof by their tags, or its paragraphs where there are none."""
    if _STEP_TAG.search(body):
        pieces = _STEP.findall(body)
        if len(pieces) * 2 != len(_STEP_TAG.findall(body)):
            return Unscored(reason="a <step> of the proof was opened and not closed")
    else:
        pieces = _PARAGRAPHS.split(body)
    steps = tuple(piece.strip() for piece in pieces if _SUBSTANCE.search(piece))
    return ReadProof(steps=steps) if steps else Unscored(reason="the proof is empty")


def read_claim(final: Final) -> Claim | Unscored:
    """What the reasoner's last claim tag says, word for word."""
    answer = whole_answer(final)
    if isinstance(answer, Unscored):
        return answer
    found: list[str] = _CLAIM.findall(answer)
    if not found:
        return Unscored(reason="there is no <claim>")
    match found[-1].lower():
        case "complete":
            return "complete"
        case "partial":
            return "partial"
        case other:
            return Unscored(reason=f"the claim is {other[:40]!r}")
