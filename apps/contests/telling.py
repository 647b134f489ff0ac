"""What happens to a contest is told to whoever keeps a record. The apps above register when they start (`AppConfig.ready`)."""

from typing import Any, Protocol

from apps.accounts.models import User
from apps.contests.models import Contest


class Keeper(Protocol):
    """Writes one event down, in the transaction of the change. `by` is None where nobody is to be named."""

    def __call__(self, verb: str, *, contest: Contest, actor: User | None, **body: Any) -> object: ...


_KEEPERS: list[Keeper] = []


def keeper_register(keeper: Keeper) -> None:
    """Let `keeper` write down what happens. The same one twice writes once."""
    if keeper not in _KEEPERS:
        _KEEPERS.append(keeper)


def told(contest: Contest, verb: str, by: User | None, **body: Any) -> None:
    """Tell it. `body` is JSON and names no author: the record is read by people who may not know them."""
    for keeper in _KEEPERS:
        keeper(verb, contest=contest, actor=by, **body)
