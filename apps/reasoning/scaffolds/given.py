"""Parameters supplied with a problem, not by the user who starts a run: reference solutions and marking scheme."""

from apps.reasoning.domain.values import Value
from apps.reasoning.marking.schemes.scheme import Scheme


class Given(Value):
    """Reference solutions and scheme of a problem; empty if it has none, or if they are held back from the user."""

    references: tuple[str, ...] = ()
    scheme: Scheme | None = None


NOTHING_GIVEN = Given()
