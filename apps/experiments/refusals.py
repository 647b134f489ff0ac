"""What a user asked for and cannot have, and the largest experiment."""

CELLS_AT_MOST = 50_000


class ExperimentRefused(Exception):
    """The change is not possible now; the message says why."""
