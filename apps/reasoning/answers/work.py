"""The cost limit of a comparison, counted in operations, and the reasons for giving up a text or a value."""

MOST_WORK = 150_000
MOST_BITS = 24_000


class GivenUp(Exception):
    """An answer was not read or not computed. The message is a phrase with the reason; users see it."""


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
