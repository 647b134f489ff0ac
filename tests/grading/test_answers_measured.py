"""Estimates take the length of answers from recorded calls of the same workflow, role and model, and say on how many."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.grading.answer_lengths import CALLS_AT_LEAST, Answers, answers_of, answers_words
from apps.grading.experiment_estimate import forecast_of
from apps.grading.experiment_scripts import Chosen
from apps.grading.starting import models_for_grading
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
    """A run of a grader with a call for each of these numbers of completion tokens."""
    stated = make_problem(f"Problem {Run.objects.count()}").current
    run = Run.objects.create(title="A grading", problem_version=stated, owner=user, scaffold=workflow, spec={})
    fields = {"role": "grader", "alias": "served", **step}
    for number, tokens in enumerate(written):
        Step.objects.create(run=run, key=f"grade/{number}", completion_tokens=tokens, recorded_at=timezone.now(), **fields)


def test_the_mean_of_recorded_calls_is_taken_from_five_on(alice: User) -> None:
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
def test_calls_of_others_and_calls_without_an_answer_say_nothing(alice: User, other: dict[str, Any]) -> None:
    recorded(alice, 100, 200, 300, 400)
    recorded(alice, 10_000, 10_000, **other)
    assert answers_of("single_turn", ROLES) == {}


def test_a_reader_is_told_on_what_it_rests() -> None:
    roles = {"matcher": RoleSpec(alias="small", sampling=Sampling()), "grader": RoleSpec(alias="big", sampling=Sampling())}
    said = answers_words(["matcher", "grader"], {"grader": Answers(tokens=1_320, calls=1_042)}, roles)
    assert said == (
        "Answers as measured: grader 1,320 tokens (mean of 1,042 recorded calls of big). "
        f"Answers as in the papers, as fewer than {CALLS_AT_LEAST} calls are recorded: matcher (small)."
    )


def test_the_form_of_one_script_says_so(alice: User, client_for: ClientFor) -> None:
    address = reverse("grading:start", args=[make_problem().slug])
    data = {"workflow": "single_turn", "alias": "served", "script": SCRIPT, "estimate": "1"}
    said = client_for(alice).post(address, data).content.decode()
    assert "four characters a token" in said
    assert "Answers as in the papers, as fewer than 5 calls are recorded: grader (served)." in said
    recorded(alice, 100, 200, 300, 400, 600)
    said = client_for(alice).post(address, data).content.decode()
    assert "Answers as measured: grader 320 tokens (mean of 5 recorded calls of served)." in said


def test_the_page_that_prepares_references_says_so(alice: User, client_for: ClientFor) -> None:
    address = reverse("grading:prepare", args=[make_problem().slug])
    data = {"alias": "served", "manners": ["ref5_plain"], "groups": "2", "estimate": "1"}
    recorded(alice, 100, 200, 300, 400, 600, workflow="prepare", role="designer")
    said = client_for(alice).post(address, data).content.decode()
    assert "four characters a token" in said
    assert "Answers as measured: designer 320 tokens (mean of 5 recorded calls of served)." in said
    assert "clusterer (served), analyst (served)." in said


def test_a_forecast_of_many_rests_on_the_same_and_tells_what_is_prepared_once(alice: User) -> None:
    scripts = Chosen(graded_set=make_set(6, problems=2)).scripts()
    aliases = models_for_grading()
    papers = forecast_of(scripts, [("single_turn", "served")], aliases)
    recorded(alice, 100, 100, 100, 100, 100)
    measured = forecast_of(scripts, [("single_turn", "served")], aliases)
    assert papers.tokens_expected - measured.tokens_expected == 6 * (9_000 - 100)
    assert measured.rests_on == ("Single turn. Answers as measured: grader 100 tokens (mean of 5 recorded calls of served).",)
    assert (measured.prepared_calls, measured.prepared_tokens) == (0, 0)
    beside = forecast_of(scripts, [("ref5_plain", "served")], aliases)
    assert (beside.calls_expected, beside.prepared_calls) == (6 * 2 + 2 * 3, 2 * 3)
    assert 0 < beside.prepared_tokens < beside.tokens_expected


def test_a_longer_script_costs_more(alice: User) -> None:
    aliases = models_for_grading()
    graded_set = make_set(1)
    short = forecast_of(Chosen(graded_set=graded_set).scripts(), [("single_turn", "served")], aliases)
    script = graded_set.scripts.get()
    script.text += " " + "a" * 3_999
    script.save()
    long = forecast_of(Chosen(graded_set=graded_set).scripts(), [("single_turn", "served")], aliases)
    assert long.tokens_expected - short.tokens_expected == 1_000
