"""Every URL name has a row in rules.py, and every row is correct."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.lemmas.models import Lemma, ProofVersion
from apps.marks.setups import Choices, cases_prepare, setup_save
from apps.problems.models import Problem, ProblemVersion, Topic
from apps.reasoning.marking.schemes.text_form import text_read
from apps.runs.models import Run, RunEvent, RunStatus
from apps.schemes.services import scheme_create
from tests.access.rules import ARGUMENTS, CALL, PROOF, RULES, World
from tests.access.rules_of_the_api import LEMMA
from tests.contests.factory import handed_in_at_a_contest
from tests.marks.factory import claimed

WHO = ("anonymous", "student", "coach", "researcher", "staff")  # A rule may omit the last.


def url_names(patterns: list[URLPattern | URLResolver], namespace: str = "") -> Iterator[str]:
    """All URL names below `patterns`; a pattern without a name counts by its route."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            inner = f"{namespace}{pattern.namespace}:" if pattern.namespace else namespace
            yield from url_names(pattern.url_patterns, inner)
        else:
            yield namespace + (pattern.name or f"(no name: {pattern.pattern})")


ALL_NAMES = sorted(set(url_names(get_resolver().url_patterns)))


@pytest.fixture
def world(alice: User, bob: User, charlie: User) -> World:
    problem = Problem.objects.create(slug="two-squares", title="Sums of two squares", topic=Topic.NUMBER_THEORY)
    version = ProblemVersion.objects.create(problem=problem, number=1, statement="Which primes are sums of two squares?")
    run = Run.objects.create(
        title="Sums of two squares", problem_version=version, owner=alice, scaffold="intern_s1_mo", spec={},
        status=RunStatus.FINISHED,
    )  # fmt: skip
    Lemma.objects.create(
        run=run, lemma=LEMMA, number=1, rollout=0, round=1, statement="$-1$ is a square.", steps=["Wilson."], first_seq=1,
        last_seq=1,
    )  # fmt: skip
    ProofVersion.objects.create(
        run=run, proof=f"proof/{PROOF}", text="By Lemma 1.", steps=["By Lemma 1."], first_seq=2, last_seq=2
    )
    now = timezone.now()
    body = {"call": CALL, "role": "reasoner", "alias": "small", "rollout": 0, "round": 1, "subject": "", "index": 0}
    RunEvent.objects.create(run=run, seq=1, key=f"{CALL}/began", kind="call.began", at=now, body=body)
    content = text_read("checkpoint A1, 7 points: Everything.")
    scheme = scheme_create(problem=problem, title="Scheme", content=content, by=alice)
    # A separate problem: problems of a contest are held back in the library.
    asked = Problem.objects.create(slug="three-squares", title="Sums of three squares", topic=Topic.NUMBER_THEORY)
    ProblemVersion.objects.create(problem=asked, number=1, statement="Which primes are sums of three squares?")
    handed_in = handed_in_at_a_contest(bob, charlie, asked)
    setup_save(problem=handed_in.submission.problem, choices=Choices(scheme=None), by=bob)
    cases_prepare(handed_in.submission.problem)
    return World(problem, run, scheme, handed_in, claimed(handed_in.submission.problem, bob))


def test_every_view_has_a_rule_and_every_rule_a_view() -> None:
    assert set(ALL_NAMES) - set(RULES) == set(), "add to tests/access/rules.py who may see them"
    assert set(RULES) - set(ALL_NAMES) == set()
    assert {len(rule) for rule in RULES.values() if rule} <= {4, 5}


def test_every_function_of_a_page_names_its_methods() -> None:
    without = [name for name, view in views(get_resolver().url_patterns) if not names_methods(view)]
    assert without == [], "decorate the views with require_GET, require_POST or require_http_methods"


def views(patterns: list[URLPattern | URLResolver]) -> Iterator[tuple[str, Any]]:
    """The functions of ours behind the URLs, by dotted name. Classes of Django and the API name their methods themselves."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from views(pattern.url_patterns)
        elif pattern.callback.__module__.startswith("apps.") and not hasattr(pattern.callback, "view_class"):
            yield f"{pattern.callback.__module__}.{pattern.callback.__name__}", pattern.callback


def names_methods(view: Any) -> bool:
    """Whether one of the decorators of a view is of `django.views.decorators.http`."""
    while view is not None:
        if view.__code__.co_filename.endswith("django/views/decorators/http.py"):
            return True
        view = getattr(view, "__wrapped__", None)
    return False


@pytest.mark.parametrize("place", range(len(WHO)), ids=WHO)
def test_every_view_gives_a_role_the_status_of_its_rule(
    place: int,
    world: World,
    client_for: Callable[[User | None], Client],
    valkey: object,
    alice: User,
    bob: User,
    charlie: User,
    dana: User,
) -> None:
    client = client_for((None, charlie, bob, alice, dana)[place])
    wrong = []
    for name, rule in RULES.items():
        if rule is None or place >= len(rule):
            continue
        with transaction.atomic():
            allowed = rule[place]
            status = client.get(reverse(name, kwargs=ARGUMENTS[name](world) if name in ARGUMENTS else None)).status_code
            transaction.set_rollback(True)
        if status not in (allowed if isinstance(allowed, tuple) else (allowed,)):
            wrong.append(f"{name}: {status}, not {allowed}")
    assert wrong == []
