"""What a comparison may cost, counted in operations, and why a text or a value is given up."""

MOST_WORK = 150_000
MOST_BITS = 24_000


class GivenUp(Exception):
    """An answer was not read or not computed. The message is a phrase that says why; people see it."""


class Unreadable(GivenUp):
    """The text has no reading here."""


class NoValue(GivenUp):
    """The expression has no real value at a point, or none within bounds."""


class TooMuchWork(GivenUp):
    """The comparison would need more than its operations."""


class Work:
    """Operations of one comparison. The count follows from the two texts alone, so the outcome does too."""

    def __init__(self, most: int = MOST_WORK) -> None:
        self.most = most
        self.spent = 0

    def spend(self, amount: int = 1) -> None:
        """Count operations. Raises `TooMuchWork` when they are used up."""
        if self.spent + amount > self.most:
            raise TooMuchWork(f"comparing them takes more than {self.most:,} operations")
        self.spent += amount
