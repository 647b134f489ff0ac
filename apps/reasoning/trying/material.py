"""The material of a trial: a problem with correct, incomplete and wrong solutions written by people."""

from typing import Annotated

from pydantic import Field

from apps.reasoning.domain.trial_events import AttemptKind
from apps.reasoning.domain.values import Value


class Attempt(Value):
    """A solution and its points, of 7."""

    kind: AttemptKind
    points: Annotated[float, Field(ge=0, le=7)]
    text: Annotated[str, Field(min_length=1)]

    @property
    def steps(self) -> tuple[str, ...]:
        """Its paragraphs."""
        return tuple(piece.strip() for piece in self.text.split("\n\n") if piece.strip())
