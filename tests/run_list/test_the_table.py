"""What the list shows of a run, how it is sorted and filtered, and that unknown is not 0."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta

import pytest
from django.db.models import Q
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import ContestState
from apps.desk.services import tag_add
from apps.explorations.run_table.columns import COLUMNS
from apps.explorations.run_table.filters import OUTCOMES, listed_for
from apps.runs.access import run_visible_to, runs_hidden_from
from apps.runs.models import APART, Run, RunStatus
from tests.contests.factory import make_contest
from tests.explorations.factory import make_problem
from tests.run_list.factory import ADDRESS, cells, make_run, page, select, titles

ClientFor = Callable[[User | None], Client]


@pytest.fixture
def client(alice: User, client_for: ClientFor) -> Client:
    return client_for(alice)


def test_a_row_shows_outcome_models_seed_rounds_lemmas_confidence_tokens_money_and_duration(
    client: Client, alice: User
) -> None:
    make_run(
        alice, "Squares", models=("qwen", "smollm2"), seed=7, rounds=3, lemmas_count=9, lemmas_held=4, confidence=0.75,
        prompt_tokens=10_000, completion_tokens=2_400, money=0.125, active_seconds=200.0,
        outcome={"accepted": False, "ended_by": "exhausted"},
    )  # fmt: skip
    assert "not accepted" in page(client)
    shown = cells(client)
    assert shown.pop("confidence").startswith("0.75")
    assert shown == {
        "scaffold": "Intern-S1-MO", "models": "qwen, smollm2", "seed": "7", "rounds": "3", "lemmas": "4 of 9",
        "tokens": "12.4k", "money": "0.125", "duration": "3 min 20 s", "by": "Alice",
    }  # fmt: skip


def test_unknown_values_are_a_dash_and_a_lemma_that_does_not_hold_is_counted(client: Client) -> None:
    imported = make_run(None, "From a file", models=(), preset="imported")
    unknown = cells(client)
    assert {unknown[name] for name in ("models", "seed", "rounds", "lemmas", "confidence", "tokens", "money", "duration")} == {
        "–"
    }
    assert "0 of 0" not in page(client)
    assert "imported <time" in page(client)
    Run.objects.filter(pk=imported.pk).update(lemmas_count=2, completion_tokens=5)
    assert (cells(client)["lemmas"], cells(client)["tokens"]) == ("0 of 2", "5")
    imported.delete()
    make_run(None, "Nothing asked", status=RunStatus.CANCELLED)
    assert cells(client)["tokens"] == "0", "a run that asked no model used no tokens"


@pytest.mark.parametrize("column", [column.name for column in COLUMNS])
def test_every_column_sorts_both_ways_and_its_heading_reverses_the_order(client: Client, alice: User, column: str) -> None:
    first = {"outcome": {"accepted": True}, "scaffold": "best_of_n", "models": ("a",)}
    second = {"status": RunStatus.FAILED, "scaffold": "self_refine", "models": ("b",)}
    numbers = ("seed", "rounds", "lemmas_count", "lemmas_held", "confidence", "prompt_tokens", "money", "active_seconds")
    make_run(alice, "A", **first, **dict.fromkeys(numbers, 1))  # type: ignore[arg-type]
    bob = User.objects.create_user("zoe")
    make_run(bob, "B", **second, **dict.fromkeys(numbers, 2))  # type: ignore[arg-type]
    assert titles(client, f"?sort={column}") == ["A", "B"]
    assert titles(client, f"?sort=-{column}") == ["B", "A"]
    shown = page(client, f"?q=&sort={column}")
    assert f'aria-sort="ascending"><a href="?q=&amp;sort=-{column}">' in shown


def test_runs_without_a_value_come_last_in_both_directions(client: Client, alice: User) -> None:
    make_run(alice, "known", confidence=0.0, lemmas_count=1)
    make_run(alice, "unknown")
    for name in ("confidence", "-confidence", "lemmas", "-lemmas", "seed"):
        assert titles(client, f"?sort={name}")[-1] == ("unknown" if name != "seed" else "known"), name
    assert titles(client, "?sort=nonsense") == titles(client) == ["unknown", "known"]
    assert '<option value="tokens" selected>by tokens, reversed<' in page(client, "?sort=tokens"), "a phone has no headings"


def test_every_outcome_filters_its_runs_and_older_addresses_still_work(client: Client, alice: User, bob: User) -> None:
    for status in RunStatus:
        make_run(alice, status.value, status=status, outcome={"accepted": True})
    for title, outcome in (("refuted", {"accepted": False}), ("silent", {"accepted": None, "ended_by": "nothing-readable"})):
        make_run(bob, title, outcome=outcome)
    make_run(bob, "open", outcome={"accepted": None})
    single = {"accepted": "finished", "not accepted": "refuted", "not judged": "open", "nothing readable": "silent"}
    for name in OUTCOMES:
        if name not in ("finished", "live"):
            assert titles(client, f"?outcome={name}") == [single.get(name, name)]
    assert titles(client, "?outcome=live&sort=problem") == ["paused", "queued", "running"]
    assert sorted(titles(client, "?status=finished")) == ["finished", "open", "refuted", "silent"]
    assert titles(client, "?mine=1&outcome=finished") == ["finished"]
    assert len(titles(client, "?outcome=nonsense")) == 10


def test_filters_by_model_owner_tag_problem_and_days(client: Client, alice: User, bob: User) -> None:
    old, new = make_run(alice, "old", models=("qwen", "smollm2")), make_run(bob, "new", models=("qwen3",))
    other = make_problem("another")
    Run.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=3), problem_version=other.current)
    tag_add(user=alice, runs=[new], name="Good  One")
    assert titles(client, "?model=qwen") == ["old"], "a model whose name begins alike is another one"
    assert titles(client, "?owner=bob") == titles(client, "?tag=good+one") == ["new"]
    assert titles(client, "?problem=another") == ["old"]
    assert titles(client, "?problem=two+sums") == ["new", "old"], "words of the title of the problem"
    yesterday = (timezone.localdate() - timedelta(days=1)).isoformat()
    assert (titles(client, f"?since={yesterday}"), titles(client, f"?until={yesterday}")) == (["new"], ["old"])
    assert titles(client, f"?until={timezone.localdate().isoformat()}") == ["new", "old"], "the last day is included"
    make_run(None, "command line")
    assert titles(client, "?owner=-") == ["command line"]


@pytest.mark.parametrize("text", ["yesterday", "2026-02-31", "9999-12-31"])
@pytest.mark.parametrize("name", ["since", "until"])
def test_a_wrong_date_is_explained_and_does_not_filter(client: Client, alice: User, name: str, text: str) -> None:
    make_run(alice, "Squares")
    shown = page(client, f"?{name}={text}")
    assert f"“{text}” is not a date, so all days are listed. Write 2026-11-26." in shown
    assert titles(client, f"?{name}={text}") == ["Squares"]


def test_runs_on_held_back_problems_are_neither_listed_nor_counted_nor_offered(
    client: Client, client_for: ClientFor, alice: User, bob: User
) -> None:
    problem = make_problem("secret")
    theirs = make_run(bob, "Secret squares", models=("secret-model",), calls=7)
    tag_add(user=bob, runs=[theirs], name="secret-tag")
    make_contest(bob, problem, state=ContestState.OPEN)
    shown = page(client)
    for words in ("Secret squares", "secret-model", "secret-tag", "7 calls", "bob"):
        assert words not in shown
    assert "Secret squares" in page(client_for(bob))
    assert client_for(User.objects.create_user("sam", role="student")).get(ADDRESS).status_code == 404


def test_the_list_hides_exactly_the_runs_that_access_hides(alice: User, bob: User) -> None:
    shown, held = make_run(None, "Shown"), make_problem("held")
    mine, hidden = (make_run(owner, "Held back", problem_version=held.current) for owner in (alice, None))
    make_contest(bob, held, state=ContestState.OPEN)
    left_out = set(runs_hidden_from(alice, ~Q(preset__in=APART)))
    assert left_out == set(Run.objects.exclude(pk__in=run_visible_to(alice).values("pk")).values_list("pk", flat=True))
    assert left_out == {hidden.pk}
    assert set(listed_for(alice)) == {shown, mine}


def test_the_choices_of_filters_are_kept_but_runs_and_own_tags_are_never_stale(
    client: Client, alice: User, django_assert_max_num_queries: Callable[[int], AbstractContextManager[object]]
) -> None:
    make_run(alice, "First", models=("qwen",))
    page(client)
    run = make_run(alice, "Second", models=("smollm2",))
    with django_assert_max_num_queries(10):
        assert titles(client) == ["Second", "First"]
    select(client, "tag", run, tag="new")
    assert '<option value="new">' in page(client)
