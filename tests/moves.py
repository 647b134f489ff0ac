"""Tables of state machines: tries every move from every state, for comparison with the table's rows."""

from collections.abc import Callable, Mapping

from django.db import transaction

Moves = Mapping[str, Callable[[], object]]
REFUSED = "refused"


class _Undone(Exception):
    """Rolls a move back, so that the next one starts from the same state."""


def tried(moves: Moves, now: Callable[[], str], *refusals: type[Exception]) -> dict[str, str]:
    """The result of each move from the current state: the new state, or `REFUSED` if it raises one of `refusals` or returns
    None. A refused move must not change the state."""
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
            assert after != REFUSED or left == before, f"{name} was refused but changed {before} to {left}"
            raise _Undone
    except _Undone:
        return after
