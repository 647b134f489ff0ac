"""Publish events of a contest to record keepers. Higher apps register theirs at startup (`AppConfig.ready`)."""

from typing import Any, Protocol

from apps.accounts.models import User
from apps.contests.models import Contest, ContestKind


class Keeper(Protocol):
    """Record one event in the transaction of the change. `actor` is None if the record must not name a user."""

    def __call__(self, verb: str, *, contest: Contest, actor: User | None, **body: Any) -> object: ...


_KEEPERS: list[Keeper] = []


def keeper_register(keeper: Keeper) -> None:
    """Register a record keeper. Duplicates are ignored."""
    if keeper not in _KEEPERS:
        _KEEPERS.append(keeper)


def event_publish(contest: Contest, verb: str, by: User | None, **body: Any) -> None:
    """Publish one event; practice has no record. `body` is JSON and must not name an author, whom readers may not know."""
    for keeper in _KEEPERS if contest.kind != ContestKind.PRACTICE else ():
        keeper(verb, contest=contest, actor=by, **body)
