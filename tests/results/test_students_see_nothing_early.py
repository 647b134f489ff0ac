"""Every address of the site, asked by a student in every state of a contest, shows nothing early and nothing of others.

The addresses come from the URL configuration, so a new view is asked as well. `sentinels` says what was planted where.
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
#: Words of addresses, all of which are tried. What is not named here is tried with an id of nothing.
WORDS: dict[str, list[Any]] = {
    "name": ["scheme", "problem", "solutions", "source", "comments", "csv", "json", "marks"],
    "verb": ["open", "take", "activate", "claim"],
    "form": ["json", "csv"],
    "level": [1],
    "what": ["csv", "json"],
    "kind": ["csv", "json"],
}


def patterns(entries: list[Any], namespace: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """All names with the arguments that they take, by the converters that read them."""
    for entry in entries:
        if isinstance(entry, URLResolver):
            inner = f"{namespace}{entry.namespace}:" if entry.namespace else namespace
            yield from patterns(entry.url_patterns, inner)
        elif isinstance(entry, URLPattern) and entry.name:
            yield namespace + entry.name, entry.pattern.converters


def addresses(world: Planted) -> list[str]:
    """Every address of the site with the ids of the contest, Charlie's and other people's."""
    found = set()
    for name, arguments in patterns(get_resolver().url_patterns):
        choices = []
        for key, converter in sorted(arguments.items()):
            nothing = 1 if isinstance(converter, IntConverter) else ANY_ID
            choices.append([(key, value) for value in world.ids.get(key, WORDS.get(key, [nothing]))])
        found |= {reverse(name, kwargs=dict(chosen)) for chosen in product(*choices)}
    return sorted(found)


def seen(client: Client, world: Planted, *below: str) -> dict[str, str]:
    """What a GET of every address answers, headers and redirects with it; of those below some paths where any is named."""
    answers = {}
    for address in addresses(world):
        if address.startswith("/accounts/logout") or (below and not address.startswith(below)):
            continue
        answer = client.get(address, follow=True)
        answers[address] = f"{answer.redirect_chain}\n{answer.headers}\n{said_by(answer)}"
    return answers


def told(answers: dict[str, str], words: set[str]) -> set[tuple[str, str]]:
    """Which of the words stand where."""
    return {(word, address) for address, text in answers.items() for word in words if word in text}


@pytest.fixture
def student(charlie: User) -> Client:
    client = Client(raise_request_exception=True)
    client.force_login(charlie)
    return client


@pytest.mark.parametrize("state", [state for state in ContestState if state != ContestState.DELETED])
def test_before_a_release_a_student_sees_nothing_of_the_marking(
    bob: User, charlie: User, student: Client, valkey: object, state: ContestState
) -> None:
    world = planted(bob, charlie, state)
    answers = seen(student, world)
    assert len(answers) > 60
    assert told(answers, NEVER | RELEASABLE) == set()
    library = {address for _, address in told(answers, {STATEMENT}) if address.startswith(("/problems/", "/api/"))}
    assert bool(library) is (state in (ContestState.PREPARING, ContestState.CLOSED)), "held back from opening to closing"
    assert bool(told(answers, {STATEMENT}) - {(STATEMENT, one) for one in library}) is (state != ContestState.PREPARING)


@pytest.mark.parametrize("part", list(ReleasePart))
def test_a_release_of_one_part_shows_that_part_only(
    bob: User, charlie: User, student: Client, valkey: object, part: ReleasePart
) -> None:
    world = planted(bob, charlie, ContestState.MARKING)
    released(world.contest, bob, part)
    answers = seen(student, world, "/contests/", "/submissions/", "/feedback/", "/problems/", "/appeals/")
    shown = {word for word, _ in told(answers, NEVER | RELEASABLE)}
    assert shown == OF_PART[part]


def test_when_all_is_released_notes_and_what_is_others_stay_hidden_also_when_it_is_open_again(
    bob: User, charlie: User, student: Client, valkey: object
) -> None:
    world = planted(bob, charlie, ContestState.MARKING)
    released(world.contest, bob)
    assert told(seen(student, world), NEVER) == set()
    world.contest.refresh_from_db()
    contest_move(contest=world.contest, verb="reopen", based_on=world.contest.row_version)
    assert told(seen(student, world), NEVER) == set()


def test_a_release_that_was_taken_back_is_seen_by_nobody(bob: User, charlie: User, student: Client, valkey: object) -> None:
    world = planted(bob, charlie, ContestState.MARKING)
    Appeal.objects.update(state="withdrawn")
    batch_undo(batch=released(world.contest, bob), by=bob)
    assert told(seen(student, world), NEVER | RELEASABLE) == set()


def test_a_stranger_who_is_a_student_sees_not_even_the_problem(bob: User, charlie: User, valkey: object) -> None:
    world = planted(bob, charlie, ContestState.MARKING)
    released(world.contest, bob)
    stranger = User.objects.create_user("xaver", role="student")
    client = Client()
    client.force_login(stranger)
    assert told(seen(client, world), NEVER | (RELEASABLE - {"hush-answer"}) | {STATEMENT}) == set()
