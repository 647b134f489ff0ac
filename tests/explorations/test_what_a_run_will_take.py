"""Budgets with what is under way, and the estimate in time from what the models have been measured at."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from apps.accounts.models import User
from apps.explorations.selectors import meters
from apps.explorations.starting.plans import Plan, plan_duration, plan_estimate, usable_aliases
from apps.runs.models import Run, RunStatus, Step
from apps.runs.selectors import alias_speed, use_by_alias
from tests.explorations.factory import add_open_call, make_exploration, make_problem
from tests.explorations.test_start_form import MODELS
from tests.runs.factory import make_run

NOW = timezone.now()


@pytest.fixture
def client(alice: User, client_for: Callable[[User | None], Client]) -> Client:
    return client_for(alice)


@pytest.fixture(autouse=True)
def _models(settings: Settings, tmp_path: Path) -> None:
    settings.MODELS_FILE = tmp_path / "models.toml"
    settings.MODELS_FILE.write_text(MODELS)


def record(run: Run, key: str, *, ended: float, took: float, written: int, alias: str = "small", attempt: int = 1) -> None:
    Step.objects.create(
        run=run, key=key, alias=alias, attempt=attempt, duration_s=took, completion_tokens=written,
        recorded_at=NOW + timedelta(seconds=ended),
    )  # fmt: skip


@pytest.mark.django_db
def test_the_speed_of_a_model_counts_parallel_calls_together_and_idle_time_not() -> None:
    run = make_run()
    assert alias_speed("small") is None
    record(run, "a", ended=10, took=10, written=100)
    record(run, "b", ended=8, took=6, written=100)
    record(run, "c", ended=1010, took=10, written=100)
    record(run, "inherited", ended=20, took=1, written=5000, attempt=0)
    record(run, "other", ended=20, took=1, written=5000, alias="large")
    assert alias_speed("small") == pytest.approx(300 / 20)


@pytest.mark.parametrize(("scaffold", "preset"), [("intern_s1_mo", "quick"), ("reasoning_cache", "five"), ("rsa", "")])
def test_no_call_is_expected_to_hold_more_than_its_model_can(scaffold: str, preset: str) -> None:
    aliases = usable_aliases()
    short = {name: alias.model_copy(update={"context_tokens": 300}) for name, alias in aliases.items()}
    plan = Plan(scaffold, preset, role_aliases={"": "small"})
    free, bound = plan_estimate(plan, aliases), plan_estimate(plan, short)
    assert all(role.tokens_expected <= 300 * role.calls_expected for role in bound.roles)
    assert bound.tokens_expected == sum(role.tokens_expected for role in bound.roles) < free.tokens_expected
    assert bound.tokens_max <= 300 * bound.calls_max


@pytest.mark.django_db
def test_the_time_is_that_of_the_expected_tokens_and_unknown_where_one_model_is() -> None:
    run, plan = make_run(), Plan("intern_s1_mo", "quick", role_aliases={"": "small", "writer": "large"})
    estimate = plan_estimate(plan, usable_aliases())
    record(run, "a", ended=10, took=10, written=100)
    assert plan_duration(plan, estimate, usable_aliases()) is None
    record(run, "b", ended=10, took=10, written=50, alias="large")
    found = plan_duration(plan, estimate, usable_aliases())
    assert found is not None
    written = {role.role: role.written_expected for role in estimate.roles}
    writer = written.pop("writer")
    assert found.seconds == pytest.approx(sum(written.values()) / 10 + writer / 5)
    assert found.slowest == pytest.approx(5)


def test_the_start_page_shows_a_time_estimate_only_for_a_measured_model(client: Client) -> None:
    url = reverse("explorations:start", args=[make_problem().slug])
    assert "No time estimate" in client.get(url).content.decode()
    record(make_run(), "a", ended=10, took=10, written=100)
    assert "last measured speed" in client.get(url).content.decode()


def test_the_meters_show_calls_under_way_lighter(client: Client, alice: User) -> None:
    run = make_exploration(alice, RunStatus.RUNNING, budget={"tokens": None, "calls": 200, "seconds": None})
    add_open_call(run)
    calls = meters(run, 1)[1]
    assert calls.reach == pytest.approx((run.calls + 1) / 200)
    page = client.get(reverse("explorations:run_detail", args=[run.public_id])).content.decode()
    assert f"--reach: {calls.reach:.4f}" in page
    assert 'data-part="under-way" title="under way" > + 1<' in page


def test_a_limit_in_money_has_a_meter(client: Client, alice: User) -> None:
    run = make_exploration(alice, RunStatus.RUNNING, budget={"tokens": None, "calls": None, "seconds": None, "money": 0.5})
    record(run, "new", ended=10, took=10, written=100)
    used = use_by_alias(run)
    run.spec |= {"prices": {alias: {"input": 1000, "output": 2000} for alias in used}}
    run.save(update_fields=["spec"])
    money = meters(run)[-1]
    assert money.name == "money"
    assert money.used == pytest.approx(sum(row[1] + 2 * row[2] for row in used.values()) / 1000)
    page = client.get(reverse("explorations:run_detail", args=[run.public_id])).content.decode()
    assert "Money used" in page
    assert f">{money.used:.4g}<" in page
    assert [meter.name for meter in meters(make_exploration(alice))] == ["tokens", "calls", "seconds"]


def test_a_run_that_has_ended_has_nothing_under_way(client: Client, alice: User) -> None:
    run = make_exploration(alice)
    assert meters(run)[1].reach == meters(run)[1].share
    assert 'title="under way" hidden' in client.get(reverse("explorations:run_detail", args=[run.public_id])).content.decode()
