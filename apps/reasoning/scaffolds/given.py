"""What comes with a problem rather than from whoever starts a run: its reference solutions and its marking scheme."""

from apps.reasoning.domain.values import Value
from apps.reasoning.marking.scheme import Scheme


class Given(Value):
    """Empty where the problem has none, or where they are held back from the person."""

    references: tuple[str, ...] = ()
    scheme: Scheme | None = None


NOTHING_GIVEN = Given()
