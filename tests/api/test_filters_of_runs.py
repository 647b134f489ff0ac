"""The list of runs has the filters and orders of its page."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.accounts.models import User
from apps.desk.services import tag_add
from apps.runs.models import Run, RunStatus
from tests.api.conftest import Ask
from tests.run_list.factory import make_run

DAY = timedelta(days=1)


@pytest.fixture
def runs(alice: User, bob: User) -> None:
    one = make_run(alice, "One", models=("smollm2", "qwen"), prompt_tokens=5)
    make_run(bob, "Two", status=RunStatus.FAILED, prompt_tokens=9)
    make_run(None, "Three", prompt_tokens=7)
    Run.objects.filter(pk=one.pk).update(created_at=timezone.now() - 10 * DAY)
    tag_add(user=alice, runs=[one], name="best")


def day(back: int) -> str:
    return (timezone.localdate() - back * DAY).isoformat()


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ({}, ["Three", "Two", "One"]),
        ({"outcome": "failed"}, ["Two"]),
        ({"outcome": "finished"}, ["Three", "One"]),
        ({"owner": "bob"}, ["Two"]),
        ({"owner": "-"}, ["Three"]),
        ({"model": "qwen"}, ["One"]),
        ({"tag": "best"}, ["One"]),
        ({"tag": "Best"}, ["One"]),
        ({"tag": "worst"}, []),
        ({"problem": "nothing-of-this-name"}, []),
        ({"since": day(5)}, ["Three", "Two"]),
        ({"until": day(5)}, ["One"]),
        ({"sort": "-tokens"}, ["Two", "Three", "One"]),
        ({"sort": "tokens", "status": "finished"}, ["One", "Three"]),
    ],
)
def test_runs_are_filtered_and_sorted(query: dict[str, Any], titles: list[str], runs: None, ask: Ask, alice: User) -> None:
    answer = ask(alice, "runs", **query)
    assert answer.status_code == 200
    assert [one["title"] for one in answer.json()["items"]] == titles


def test_an_unknown_outcome_or_column_is_answered_with_the_known_ones(runs: None, ask: Ask, alice: User) -> None:
    assert "outcome: one of accepted, " in ask(alice, "runs", outcome="zz").json()["detail"]
    assert "sort: one of problem, outcome" in ask(alice, "runs", sort="zz").json()["detail"]
