"""A candidate of a scaffold that compares whole solutions."""

from apps.reasoning.domain.candidate_events import candidate_order
from apps.reasoning.domain.values import Value
from apps.reasoning.reading.proofs import Way


class Candidate(Value):
    """A whole solution under comparison, with an id like `c2.5`: round 2, fifth.

    `own_score` is its writer's own score, `read_as` how it was found in the answer.
    """

    id: str
    steps: tuple[str, ...]
    round: int
    parents: tuple[str, ...] = ()
    own_score: float | None = None
    read_as: Way = "tags"

    @property
    def order(self) -> tuple[int, ...]:
        return candidate_order(self.id)

    @property
    def text(self) -> str:
        """The solution with its steps numbered, as prompts and pages show it."""
        return "\n".join(f"Step {number}. {step}" for number, step in enumerate(self.steps, 1))
