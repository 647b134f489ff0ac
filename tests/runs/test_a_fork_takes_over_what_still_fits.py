"""A fork asks again only what changed; what it takes over from its parent is not its own cost."""

import re
from importlib import import_module

import pytest
from django.apps import apps
from django.test import Client

from apps.accounts.models import Role, User
from apps.explorations.exports import run_head
from apps.explorations.replay import replay_page
from apps.runs.live.reads import state
from apps.runs.models import Run, RunStatus
from apps.ui.words import compact
from tests.runs.driving import drive, nonsense, quick_run, with_model

pytestmark = pytest.mark.django_db(transaction=True)
SUMS = ("calls", "prompt_tokens", "completion_tokens")


def fork_of(parent: Run, **changes: object) -> Run:
    fork = quick_run()
    Run.objects.filter(pk=fork.pk).update(forked_from=parent, spec={**parent.spec, **changes})
    fork.refresh_from_db()
    return fork


def test_an_unchanged_fork_asks_no_model_and_costs_nothing() -> None:
    parent = quick_run()
    assert drive(parent, with_model(nonsense())) == RunStatus.FINISHED
    fork = fork_of(parent)
    asked: list[str] = []
    assert drive(fork, with_model(nonsense(asked))) == RunStatus.FINISHED
    parent.refresh_from_db()
    fork.refresh_from_db()
    assert asked == []
    assert (fork.calls, fork.tokens) == (0, 0)
    assert parent.calls > 0
    assert (fork.inherited_calls, fork.inherited_tokens) == (parent.calls, parent.tokens)
    assert (parent.inherited_calls, parent.inherited_tokens) == (0, 0)
    assert set(fork.steps.values_list("key", flat=True)) == set(parent.steps.values_list("key", flat=True))
    assert set(fork.steps.values_list("attempt", flat=True)) == {0}


def test_a_fork_with_another_seed_asks_everything_again() -> None:
    parent = quick_run()
    assert drive(parent, with_model(nonsense())) == RunStatus.FINISHED
    fork = fork_of(parent, seed=99)
    asked: list[str] = []
    assert drive(fork, with_model(nonsense(asked))) == RunStatus.FINISHED
    fork.refresh_from_db()
    assert len(asked) == fork.calls > 0
    assert fork.inherited_calls == 0


def test_every_page_separates_inherited_calls_of_a_fork_from_its_own(client: Client) -> None:
    parent = quick_run()
    assert drive(parent, with_model(nonsense())) == RunStatus.FINISHED
    fork = fork_of(parent)
    assert drive(fork, with_model(nonsense())) == RunStatus.FINISHED
    fork.refresh_from_db()
    counters = (fork.inherited_calls, fork.inherited_prompt_tokens, fork.inherited_completion_tokens)
    calls, tokens = fork.inherited_calls, compact(fork.inherited_tokens)
    client.force_login(User.objects.create(username="ada", role=Role.RESEARCHER))
    page = client.get(f"/runs/{fork.public_id}/?tab=agents").content.decode()
    header = re.sub(r"<[^>]+>|\s+", "", page.split('id="run-header"')[1].split("</section>")[0])
    assert f"Calls0+0,{calls}takenover" in header.replace("of20", "")
    assert f"{tokens}takenover" in header
    assert f"of these {calls} calls and" in page
    assert f"{calls} calls taken over" in client.get("/runs/").content.decode()
    row = client.get(f"/api/v1/runs/{fork.public_id}").json()
    assert (row["calls"], *(row[f"inherited_{name}"] for name in SUMS)) == (0, *counters)
    usage = run_head(fork)["usage"]
    assert (usage["calls"], *(usage["inherited"][name] for name in SUMS)) == (0, *counters)
    live = state(fork)
    assert (live["calls"], live["inherited_calls"], live["inherited_tokens"]) == (0, calls, fork.inherited_tokens)
    ended = [body for _, _, kind, body in replay_page(fork)["events"] if kind in ("call.ended", "call.failed")]
    assert {body["attempt"] for body in ended} == {0}
    assert sum(body.get("tokens", 0) for body in ended) == fork.inherited_tokens


def test_forks_of_before_the_counters_are_counted_from_their_records() -> None:
    parent = quick_run()
    assert drive(parent, with_model(nonsense())) == RunStatus.FINISHED
    fork = fork_of(parent)
    assert drive(fork, with_model(nonsense())) == RunStatus.FINISHED
    fork.refresh_from_db()
    Run.objects.update(inherited_calls=0, inherited_prompt_tokens=0, inherited_completion_tokens=0)
    import_module("apps.runs.migrations.0005_inherited_counters").count_inherited(apps, None)
    counted = Run.objects.get(pk=fork.pk)
    assert (counted.inherited_calls, counted.inherited_tokens) == (fork.inherited_calls, fork.inherited_tokens)
