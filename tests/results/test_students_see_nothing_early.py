"""No address of the site shows a student early results or data of others, in any state of a contest.

The addresses come from the URL configuration, so new views are covered. `sentinels` plants the words.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.urls.converters import IntConverter

from apps.accounts.models import User
from apps.contests.models import ContestState
from apps.contests.services import contest_move
from apps.marks.models import Appeal, ReleasePart
from apps.results.releasing import batch_undo
from tests.answers import said_by
from tests.results.factory import released
from tests.results.sentinels import NEVER, OF_PART, RELEASABLE, STATEMENT, Planted, planted

ANY_ID = "5e1f0a3c-9c1b-4b43-8f2d-0b8f6f1f7c11"
#: Values of address arguments, all of which are requested. Other arguments get an unknown id.
WORDS: dict[str, list[Any]] = {
    "name": ["scheme", "problem", "solutions", "source", "comments", "csv", "json", "marks"],
    "verb": ["open", "take", "activate", "claim"],
    "form": ["json", "csv"],
    "level": [1],
    "what": ["csv", "json"],
    "kind": ["csv", "json"],
}


def patterns(entries: list[Any], namespace: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and the argument converters of every named address."""
    for entry in entries:
        if isinstance(entry, URLResolver):
            inner = f"{namespace}{entry.namespace}:" if entry.namespace else namespace
            yield from patterns(entry.url_patterns, inner)
        elif isinstance(entry, URLPattern) and entry.name:
            yield namespace + entry.name, entry.pattern.converters


def addresses(world: Planted) -> list[str]:
    """Return every address of the site with the ids of the contest, of Charlie and of other users."""
    found = set()
    for name, arguments in patterns(get_resolver().url_patterns):
        choices = []
        for key, converter in sorted(arguments.items()):
            nothing = 1 if isinstance(converter, IntConverter) else ANY_ID
            choices.append([(key, value) for value in world.ids.get(key, WORDS.get(key, [nothing]))])
        found |= {reverse(name, kwargs=dict(chosen)) for chosen in product(*choices)}
    return sorted(found)


def seen(client: Client, world: Planted, *below: str) -> dict[str, str]:
    """Return the response to a GET of every address, with headers and redirects; `below` limits the paths."""
    answers = {}
    for address in addresses(world):
        if address.startswith("/accounts/logout") or (below and not address.startswith(below)):
            continue
        answer = client.get(address, follow=True)
        answers[address] = f"{answer.redirect_chain}\n{answer.headers}\n{said_by(answer)}"
    return answers


def leaks(answers: dict[str, str], words: set[str]) -> set[tuple[str, str]]:
    """Return the words found, each with its address."""
    return {(word, address) for address, text in answers.items() for word in words if word in text}


@pytest.fixture
def student(charlie: User) -> Client:
    client = Client(raise_request_exception=True)
    client.force_login(charlie)
    return client


@pytest.mark.parametrize("state", [state for state in ContestState if state != ContestState.DELETED])
def test_a_student_sees_no_marking_before_a_release(
    bob: User, charlie: User, student: Client, valkey: object, state: ContestState
) -> None:
    world = planted(bob, charlie, state)
    answers = seen(student, world)
    assert len(answers) > 60
    assert leaks(answers, NEVER | RELEASABLE) == set()
    library = {address for _, address in leaks(answers, {STATEMENT}) if address.startswith(("/problems/", "/api/"))}
    assert bool(library) is (state in (ContestState.PREPARING, ContestState.CLOSED)), (
        "the problem is hidden from opening to closing"
    )
    assert bool(leaks(answers, {STATEMENT}) - {(STATEMENT, one) for one in library}) is (state != ContestState.PREPARING)


@pytest.mark.parametrize("part", list(ReleasePart))
def test_a_release_of_one_part_shows_only_that_part(
    bob: User, charlie: User, student: Client, valkey: object, part: ReleasePart
) -> None:
    world = planted(bob, charlie, ContestState.MARKING)
    released(world.contest, bob, part)
    answers = seen(student, world, "/contests/", "/submissions/", "/feedback/", "/problems/", "/appeals/")
    shown = {word for word, _ in leaks(answers, NEVER | RELEASABLE)}
    assert shown == OF_PART[part]


def test_notes_and_data_of_others_stay_hidden_after_a_full_release(
    bob: User, charlie: User, student: Client, valkey: object
) -> None:
    world = planted(bob, charlie, ContestState.MARKING)
    released(world.contest, bob)
    assert leaks(seen(student, world), NEVER) == set()
    world.contest.refresh_from_db()
    contest_move(contest=world.contest, verb="reopen", based_on=world.contest.row_version)
    assert leaks(seen(student, world), NEVER) == set()


def test_an_undone_release_is_not_visible(bob: User, charlie: User, student: Client, valkey: object) -> None:
    world = planted(bob, charlie, ContestState.MARKING)
    Appeal.objects.update(state="withdrawn")
    batch_undo(batch=released(world.contest, bob), by=bob)
    assert leaks(seen(student, world), NEVER | RELEASABLE) == set()


def test_a_student_outside_the_contest_does_not_see_the_problem(bob: User, charlie: User, valkey: object) -> None:
    world = planted(bob, charlie, ContestState.MARKING)
    released(world.contest, bob)
    stranger = User.objects.create_user("xaver", role="student")
    client = Client()
    client.force_login(stranger)
    assert leaks(seen(client, world), NEVER | (RELEASABLE - {"hush-answer"}) | {STATEMENT}) == set()
