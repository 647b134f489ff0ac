"""Estimates use answer lengths of recorded calls of the same workflow, role and model, and report their number."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.experiments.estimate import forecast_of
from apps.experiments.scripts import Chosen
from apps.graders.planning.answer_lengths import CALLS_AT_LEAST, Answers, answers_note, answers_of
from apps.graders.starting import models_for_grading
from apps.reasoning.domain.generation import Sampling
from apps.reasoning.scaffolds.spec import RoleSpec
from apps.runs.models import Run, Step
from tests.experiments.driving import make_set
from tests.graders.grade import SCRIPT
from tests.grading.test_grade_command import MODELS
from tests.problems.factory import make_problem

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
ROLES = {"grader": RoleSpec(alias="served", sampling=Sampling())}


@pytest.fixture(autouse=True)
def models(settings: LazySettings, tmp_path: Path) -> None:
    settings.MODELS_FILE = tmp_path / "models.toml"
    settings.MODELS_FILE.write_text(MODELS)


def recorded(user: User, *written: int, workflow: str = "single_turn", **step: Any) -> None:
    """Create a grader's run with one call per number of completion tokens."""
    stated = make_problem(f"Problem {Run.objects.count()}").current
    run = Run.objects.create(title="A grading", problem_version=stated, owner=user, scaffold=workflow, spec={})
    fields = {"role": "grader", "alias": "served", **step}
    for number, tokens in enumerate(written):
        Step.objects.create(run=run, key=f"grade/{number}", completion_tokens=tokens, recorded_at=timezone.now(), **fields)


def test_the_mean_of_recorded_calls_is_used_from_five_calls_on(alice: User) -> None:
    recorded(alice, 100, 200, 300, 400)
    assert answers_of("single_turn", ROLES) == {}
    recorded(alice, 600)
    assert answers_of("single_turn", ROLES) == {"grader": Answers(tokens=320, calls=5)}


@pytest.mark.parametrize(
    "other",
    [
        {"alias": "another"},
        {"role": "matcher"},
        {"workflow": "ref3"},
        {"failure": "It is too long."},
        {"attempt": 0},
        {"kind": "tool"},
    ],
)
def test_other_calls_and_calls_without_an_answer_do_not_count(alice: User, other: dict[str, Any]) -> None:
    recorded(alice, 100, 200, 300, 400)
    recorded(alice, 10_000, 10_000, **other)
    assert answers_of("single_turn", ROLES) == {}


def test_the_basis_of_the_answer_lengths_is_described() -> None:
    roles = {"matcher": RoleSpec(alias="small", sampling=Sampling()), "grader": RoleSpec(alias="big", sampling=Sampling())}
    output = answers_note(["matcher", "grader"], {"grader": Answers(tokens=1_320, calls=1_042)}, roles)
    assert output == (
        "Answer lengths, as measured: grader 1,320 tokens (mean of 1,042 recorded calls of big). "
        f"Answer lengths, as in the papers because fewer than {CALLS_AT_LEAST} calls are recorded: matcher (small)."
    )


def test_the_form_for_one_script_shows_the_basis(alice: User, client_for: ClientFor) -> None:
    address = reverse("graders:start", args=[make_problem().slug])
    data = {"workflow": "single_turn", "alias": "served", "script": SCRIPT, "estimate": "1"}
    text = client_for(alice).post(address, data).content.decode()
    assert "four characters per token" in text
    assert "Answer lengths, as in the papers because fewer than 5 calls are recorded: grader (served)." in text
    recorded(alice, 100, 200, 300, 400, 600)
    text = client_for(alice).post(address, data).content.decode()
    assert "Answer lengths, as measured: grader 320 tokens (mean of 5 recorded calls of served)." in text


def test_the_page_of_prepared_references_shows_the_basis(alice: User, client_for: ClientFor) -> None:
    address = reverse("preparation:prepare", args=[make_problem().slug])
    data = {"alias": "served", "manners": ["ref5_plain"], "groups": "2", "estimate": "1"}
    recorded(alice, 100, 200, 300, 400, 600, workflow="prepare", role="designer")
    text = client_for(alice).post(address, data).content.decode()
    assert "four characters per token" in text
    assert "Answer lengths, as measured: designer 320 tokens (mean of 5 recorded calls of served)." in text
    assert "clusterer (served), analyst (served)." in text


def test_a_forecast_uses_the_same_basis_and_counts_preparation_separately(alice: User) -> None:
    scripts = Chosen(graded_set=make_set(6, problems=2)).scripts()
    aliases = models_for_grading()
    papers = forecast_of(scripts, [("single_turn", "served")], aliases)
    recorded(alice, 100, 100, 100, 100, 100)
    measured = forecast_of(scripts, [("single_turn", "served")], aliases)
    assert papers.tokens_expected - measured.tokens_expected == 6 * (9_000 - 100)
    assert measured.basis == (
        "Single turn. Answer lengths, as measured: grader 100 tokens (mean of 5 recorded calls of served).",
    )
    assert (measured.prepared_calls, measured.prepared_tokens) == (0, 0)
    prepared = forecast_of(scripts, [("ref5_plain", "served")], aliases)
    assert (prepared.calls_expected, prepared.prepared_calls) == (6 * 2 + 2 * 3, 2 * 3)
    assert 0 < prepared.prepared_tokens < prepared.tokens_expected


def test_a_longer_script_costs_more(alice: User) -> None:
    aliases = models_for_grading()
    graded_set = make_set(1)
    short = forecast_of(Chosen(graded_set=graded_set).scripts(), [("single_turn", "served")], aliases)
    script = graded_set.scripts.get()
    script.text += " " + "a" * 3_999
    script.save()
    long = forecast_of(Chosen(graded_set=graded_set).scripts(), [("single_turn", "served")], aliases)
    assert long.tokens_expected - short.tokens_expected == 1_000
