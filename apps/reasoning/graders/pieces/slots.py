"""Names of what is prepared from references: where it belongs, and what it was made from.

A slot says which piece it is (the groups; the analysis of this reference; the rubric of this reference in this manner), its
basis is the digest of all that it depends on. A person approves a piece for its basis: whatever model or prompt would make it
now, the approved one is taken, and one whose basis is another is stale.
"""

from collections.abc import Sequence
from hashlib import sha256

from apps.reasoning.domain.grading_events import APPROVED, PieceKind
from apps.reasoning.domain.values import Value
from apps.reasoning.graders.pieces.pieces import Analysis


class Slot(Value):
    """A place for a piece. `reference` is the digest of the reference it is about, empty for the groups."""

    what: PieceKind
    manner: str = ""
    reference: str = ""
    basis: str

    @property
    def name(self) -> str:
        """The same for every piece that is made for this place, whatever from."""
        return "/".join(part for part in (self.what, self.reference[:16], self.manner) if part)

    @property
    def approved(self) -> str:
        """Under which name an approved piece is handed to a grader."""
        return approved_name(self.what, self.basis)


def approved_name(what: str, basis: str) -> str:
    """Under which name a piece approved for this basis is handed to a grader."""
    return f"{what}/{APPROVED}/{basis}"


def is_approved(piece: str) -> bool:
    """Whether a piece of this name was approved by a person."""
    return piece.split("/")[1:2] == [APPROVED]


def reference_digest(text: str) -> str:
    """The name of a reference's text."""
    return sha256(text.encode()).hexdigest()


def clusters_slot(statement: str, references: Sequence[str]) -> Slot:
    """The groups of these references, in this order."""
    return Slot(what="clusters", basis=_digest("clusters", statement, *references))


def analysis_slot(statement: str, reference: str, is_scored: bool) -> Slot:
    """The main steps of this reference, with or without how hard each is to think of."""
    manner = "scored" if is_scored else "plain"
    basis = _digest("analysis", manner, statement, reference)
    return Slot(what="analysis", manner=manner, reference=reference_digest(reference), basis=basis)


def rubric_slot(statement: str, reference: str, analysis: Analysis, manner: str) -> Slot:
    """The rubric over this analysis of this reference. `manner` is a `Manner.name`."""
    basis = _digest("rubric", manner, statement, reference, analysis.text)
    return Slot(what="rubric", manner=manner, reference=reference_digest(reference), basis=basis)


def _digest(*parts: str) -> str:
    return sha256(chr(0).join(parts).encode()).hexdigest()
