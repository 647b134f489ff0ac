"""Tables of state machines: every move is tried from every state, and what comes of it is compared with the table's row."""

from collections.abc import Callable, Mapping

from django.db import transaction

Moves = Mapping[str, Callable[[], object]]
REFUSED = "refused"


class _Undone(Exception):
    """Takes a move back, so that the next one is tried from the same state."""


def tried(moves: Moves, now: Callable[[], str], *refusals: type[Exception]) -> dict[str, str]:
    """What each move makes of the state as it is: the state after it, or `REFUSED` where it raises one of `refusals` or gives
    None. A refused move must leave the state as it was."""
    return {name: _tried(name, move, now, refusals) for name, move in moves.items()}


def _tried(name: str, move: Callable[[], object], now: Callable[[], str], refusals: tuple[type[Exception], ...]) -> str:
    before, after = now(), ""
    try:
        with transaction.atomic():
            try:
                with transaction.atomic():
                    after = REFUSED if move() is None else now()
            except refusals:
                after = REFUSED
            left = now()
            assert after != REFUSED or left == before, f"{name} was refused and made {left} of {before}"
            raise _Undone
    except _Undone:
        return after
