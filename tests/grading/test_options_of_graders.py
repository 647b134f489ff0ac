"""The form that grades a script offers options of single graders: members, runs, spread, examinations."""

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.graders.option_forms import OPTIONS
from apps.problems.models import Problem
from apps.runs.models import Run
from tests.graders.grade import SCRIPT
from tests.grading.test_grade_command import MODELS
from tests.problems.factory import make_problem

pytestmark = pytest.mark.django_db(transaction=True)
ClientFor = Callable[[User | None], Client]


@pytest.fixture(autouse=True)
def models(settings: LazySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One model, to which no call is sent."""
    settings.MODELS_FILE = tmp_path / "models.toml"
    settings.MODELS_FILE.write_text(MODELS)
    monkeypatch.setattr("apps.runs.services.orchestrate", type("Sent", (), {"delay": staticmethod(lambda _: None)}))


def sent(client: Client, problem: Problem, **changes: Any) -> str:
    """The page after sending a form."""
    data = {"workflow": "single_turn", "alias": "served", "script": SCRIPT, "start_id": str(uuid.uuid4())} | changes
    return client.post(reverse("graders:start", args=[problem.slug]), data).content.decode()


def test_the_form_offers_every_option_with_its_default_in_a_collapsed_section(alice: User, client_for: ClientFor) -> None:
    page = client_for(alice).get(reverse("graders:start", args=[make_problem().slug])).content.decode()
    assert "Options of graders" in page
    assert '<details class="disclosure" open>' not in page
    for name in OPTIONS:
        assert f'name="option_{name}"' in page
    assert 'name="option_runs" value="8"' in page


def test_chosen_options_are_parameters_of_the_run(alice: User, client_for: ClientFor) -> None:
    chosen = {"workflow": "jury", "option_spread": 0, "option_more_rounds": 2, "option_counts": "mean"}
    sent(client_for(alice), make_problem(), **chosen)
    params = Run.objects.get().spec["params"]
    assert (params["spread"], params["more_rounds"], params["counts"]) == (0, 2, "mean")


def test_members_of_an_ensemble_can_be_chosen(alice: User, client_for: ClientFor) -> None:
    sent(client_for(alice), make_problem(), workflow="ensemble", option_members=["single_turn", "ref3"])
    assert Run.objects.get().spec["params"]["members"] == ["single_turn", "ref3"]


def test_an_empty_option_means_the_default(alice: User, client_for: ClientFor) -> None:
    sent(client_for(alice), make_problem(), workflow="deepseek_verifier", option_examinations="", option_checks=0)
    params = Run.objects.get().spec["params"]
    assert (params["examinations"], params["checks"]) == (4, 0)


def test_more_examinations_cost_more(alice: User, client_for: ClientFor) -> None:
    client, problem = client_for(alice), make_problem()
    text = sent(client, problem, workflow="deepseek_verifier", option_examinations=6, option_checks=0, estimate="1")
    assert "About 6 calls" in text
    assert "at most 6 calls" in text
    assert "each call may cause one more, mostly short" in text
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"option_spread": 1}, "Only Jury has this option. Choose that grader, or reset it to 2."),
        ({"workflow": "jury", "option_spread": -1}, "greater than or equal to 0"),
        ({"workflow": "jury", "option_counts": "best"}, "Select a valid choice"),
        ({"workflow": "ensemble", "option_members": ["ref3"]}, "members"),
        (
            {"option_members": ["ref3", "single_turn"]},
            "Only Ensemble has this option. Choose that grader, or reset it to ref3,",
        ),
        ({"workflow": "deepseek_verifier", "option_examinations": 100}, "less than or equal to 64"),
    ],
)
def test_an_invalid_option_is_refused_and_its_section_expanded(
    alice: User, client_for: ClientFor, changes: dict[str, Any], why: str
) -> None:
    page = sent(client_for(alice), make_problem(), **changes)
    assert why in page
    assert '<details class="disclosure" open>' in page
    assert not Run.objects.exists()
