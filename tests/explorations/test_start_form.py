"""The start form: what it starts, what it refuses and says, and that it needs no JavaScript."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from apps.accounts.models import User
from apps.explorations.starting.forms import ExplorationForm
from apps.explorations.starting.plans import usable_aliases
from apps.problems.models import Problem
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.runs.models import Run
from tests.explorations.factory import make_problem

pytestmark = pytest.mark.django_db
MODELS = """
[small]
backend = "openai_http"
title = "Small"
model = "small-1"
revision = "abc"
base_url = "http://127.0.0.1:1/v1"
context_tokens = 2048

[large]
backend = "openai_http"
title = "Large"
model = "large-1"
base_url = "http://127.0.0.1:1/v1"
context_tokens = 131072

[off]
backend = "openai_http"
title = "Off"
model = "off"
base_url = "http://127.0.0.1:1/v1"
enabled = false

[worked-example]
backend = "scripted"
context_tokens = 32768
title = "Authored"
options.script = "worked_example"
"""


@pytest.fixture(autouse=True)
def _models(settings: Settings, tmp_path: Path) -> None:
    settings.MODELS_FILE = tmp_path / "models.toml"
    settings.MODELS_FILE.write_text(MODELS)


@pytest.fixture
def problem(db: None) -> Problem:
    return make_problem()


@pytest.fixture
def alice_client(alice: User, client_for: Callable[[User | None], Client]) -> Client:
    return client_for(alice)


def unchanged(**changes: Any) -> dict[str, Any]:
    """What the form of the quick preset posts when nothing was touched, with changes."""
    params = SCAFFOLDS["intern_s1_mo"].presets["quick"].params.model_dump()
    posted = {f"p_{name}": value for name, value in params.items() if value is not None and value is not False}
    return {"scaffold": "intern_s1_mo", "preset": "quick", "shown_preset": "quick", "alias": "small", **posted, **changes}


def post(client: Client, problem: Problem, **changes: Any) -> Any:
    data = {name: value for name, value in unchanged(**changes).items() if value is not None}
    return client.post(reverse("explorations:start", args=[problem.slug]), data)


def test_the_form_starts_a_run_and_opens_its_page(alice_client: Client, alice: User, problem: Problem) -> None:
    response = post(alice_client, problem, seed="12", tokens="5000")
    run = Run.objects.get()
    assert response.status_code == 302
    assert response["Location"] == reverse("explorations:run_detail", args=[run.public_id])
    assert (run.owner, run.scaffold, run.preset, run.status) == (alice, "intern_s1_mo", "quick", "queued")
    assert run.spec["params"] == SCAFFOLDS["intern_s1_mo"].presets["quick"].params.model_dump(mode="json")
    assert run.spec["seed"] == 12
    assert run.budget == {"tokens": 5000, "calls": None, "seconds": None}
    assert set(run.spec["prompt_hashes"]) == set(SCAFFOLDS["intern_s1_mo"].prompts)
    assert run.events.get().kind == "run.created"


def test_a_form_sent_twice_starts_one_run(alice_client: Client, problem: Problem) -> None:
    twice = [post(alice_client, problem, start_id="6f1c1c1e-5a0c-4c52-9d0e-0b8a3a3f0b11")["Location"] for _ in range(2)]
    assert twice[0] == twice[1]
    run = Run.objects.get()
    fork = reverse("explorations:fork", args=[run.public_id])
    data = {name: value for name, value in unchanged().items() if value is not None}
    for _ in range(2):
        alice_client.post(fork, data | {"start_id": "6f1c1c1e-5a0c-4c52-9d0e-0b8a3a3f0b12"})
        alice_client.post(reverse("explorations:worked_example"), {"start_id": "6f1c1c1e-5a0c-4c52-9d0e-0b8a3a3f0b13"})
    assert Run.objects.count() == 3


def test_the_form_of_another_user_opens_no_run(
    alice_client: Client, bob: User, client_for: Callable[[User | None], Client], problem: Problem
) -> None:
    known = "6f1c1c1e-5a0c-4c52-9d0e-0b8a3a3f0b11"
    post(alice_client, problem, start_id=known)
    answer = post(client_for(bob), problem, start_id=known)
    assert answer.status_code == 422
    assert "Load the page again" in answer.content.decode()


def test_the_specification_freezes_aliases_revisions_and_limits_that_fit_the_context(
    alice_client: Client, problem: Problem
) -> None:
    post(alice_client, problem, role_reasoner="large")
    roles = Run.objects.get().spec["roles"]
    assert (roles["reasoner"]["alias"], roles["summarizer"]["alias"]) == ("large", "small")
    assert (roles["reasoner"]["revision"], roles["summarizer"]["revision"]) == ("large-1", "abc")
    assert roles["reasoner"]["sampling"]["max_new_tokens"] == 65_536
    assert roles["summarizer"]["sampling"]["max_new_tokens"] == 1024


def test_another_preset_without_javascript_brings_its_own_parameters(alice_client: Client, problem: Problem) -> None:
    post(alice_client, problem, preset="paper")
    assert Run.objects.get().spec["params"]["rounds"] == 8


def test_a_changed_parameter_survives_a_change_of_preset(alice_client: Client, problem: Problem) -> None:
    post(alice_client, problem, preset="paper", p_lemma_votes="7")
    params = Run.objects.get().spec["params"]
    assert (params["lemma_votes"], params["rounds"]) == (7, 8)


def test_a_switch_can_be_turned_off(alice_client: Client, problem: Problem) -> None:
    post(alice_client, problem, p_process_verifier=None)
    assert Run.objects.get().spec["params"]["process_verifier"] is False


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"alias": "missing"}, "Select a valid choice"),
        ({"alias": "off"}, "Select a valid choice"),
        ({"alias": "worked-example"}, "Select a valid choice"),
        ({"preset": "huge"}, "Select a valid choice"),
        ({"scaffold": "none"}, "Select a valid choice"),
        ({"role_reasoner": "missing"}, "Select a valid choice"),
        ({"p_rounds": "0"}, "greater than or equal to 1"),
        ({"p_rounds": "many"}, "Enter a whole number"),
        ({"p_min_valid": "3"}, "3 valid votes are more than the 2 votes per proof"),
        ({"tokens": "0"}, "greater than or equal to 1"),
        ({"seconds": "-3"}, "greater than or equal to 1"),
        ({"seed": "-1"}, "greater than or equal to 0"),
        ({"temperature": "9"}, "less than or equal to 2"),
        ({"max_new_tokens": "1"}, "greater than or equal to 16"),
        ({"preset": "contest"}, "Tick the box to start it"),
    ],
)
def test_a_refusal_says_why_keeps_what_was_entered_and_starts_nothing(
    alice_client: Client, problem: Problem, changes: dict[str, Any], words: str
) -> None:
    response = post(alice_client, problem, **{"tokens": "4321", **changes})
    assert response.status_code == 422
    page = response.content.decode()
    assert words in page
    assert "The run was not started" in page
    assert "tokens" in changes or 'value="4321"' in page
    assert not Run.objects.exists()


def test_a_large_run_starts_once_confirmed_or_bounded(alice_client: Client, problem: Problem) -> None:
    assert post(alice_client, problem, preset="contest", confirm="on").status_code == 302
    assert post(alice_client, problem, preset="contest", calls="5000").status_code == 302
    assert Run.objects.count() == 2


@pytest.mark.parametrize("scaffold", SCAFFOLDS)
def test_the_first_page_already_shows_the_estimate(alice_client: Client, problem: Problem, scaffold: str) -> None:
    page = alice_client.get(reverse("explorations:start", args=[problem.slug]), {"scaffold": scaffold}).content.decode()
    assert "tokens expected" in page
    assert "Which primes are sums of two squares?" in page


def test_the_estimate_follows_the_form(alice_client: Client, problem: Problem) -> None:
    url = reverse("explorations:estimate", args=[problem.slug])
    quick = alice_client.post(url, unchanged()).content.decode()
    paper = alice_client.post(url, unchanged(preset="paper")).content.decode()
    assert "tokens expected" in quick
    assert 'hx-swap-oob="true"' not in quick
    assert 'hx-swap-oob="true"' in paper
    assert 'name="shown_preset" value="paper"' in paper
    contest = alice_client.post(url, unchanged(preset="contest")).content.decode()
    assert "Yes, start a run of this size" in contest


def test_without_any_model_the_page_says_what_to_do(alice_client: Client, problem: Problem, settings: Settings) -> None:
    settings.MODELS_FILE.write_text("broken = ")
    page = alice_client.get(reverse("explorations:start", args=[problem.slug])).content.decode()
    assert "Cannot start a run" in page
    assert "not valid TOML" in page


def test_every_parameter_of_the_scaffold_has_a_field_with_help(problem: Problem) -> None:
    form = ExplorationForm(aliases=usable_aliases())
    for name, info in SCAFFOLDS["intern_s1_mo"].params.model_fields.items():
        assert form.fields[f"p_{name}"].help_text == info.description


def test_a_parameter_of_a_few_words_is_chosen_from_a_list(alice_client: Client, problem: Problem) -> None:
    address = reverse("explorations:start", args=[problem.slug])
    page = alice_client.get(address, {"scaffold": "alpha_apollo"}).content.decode()
    assert '<select name="p_mode"' in page
    assert '<option value="reasoning">Reasoning</option>' in page
    form = ExplorationForm({"scaffold": "alpha_apollo", "p_mode": "nonsense"}, aliases=usable_aliases())
    assert "Select a valid choice" in form.errors["p_mode"][0]
    form = ExplorationForm({"scaffold": "alpha_apollo", "p_mode": "reasoning"}, aliases=usable_aliases())
    assert "p_mode" not in form.errors
    assert form.cleaned_data["p_mode"] == "reasoning"


def test_the_estimate_names_roles_by_their_titles(alice_client: Client, problem: Problem) -> None:
    address = reverse("explorations:start", args=[problem.slug])
    page = alice_client.get(address, {"scaffold": "grouped_agents", "alias": "small"}).content.decode()
    estimate = page.split('id="estimate"')[1].split("</section>")[0]
    assert "<td>Verifier of the solver</td>" in estimate
    assert "erifier_1" not in estimate


def test_the_estimate_leaves_out_roles_that_make_no_call(alice_client: Client, problem: Problem) -> None:
    address = reverse("explorations:start", args=[problem.slug])
    page = alice_client.get(address, {"scaffold": "best_of", "alias": "small"}).content.decode()
    estimate = page.split('id="estimate"')[1].split("</section>")[0]
    assert "<td>Grader</td>" in estimate
    assert "Matcher" not in estimate


@pytest.mark.parametrize(
    ("speed", "words"), [(1.0, "1</span> token/s"), (0.6, "0.6</span> tokens/s"), (35.0, "35</span> tokens/s")]
)
def test_the_estimate_counts_one_call_and_one_token_as_one(
    alice_client: Client, problem: Problem, monkeypatch: pytest.MonkeyPatch, speed: float, words: str
) -> None:
    monkeypatch.setattr("apps.explorations.starting.plans.alias_speed", lambda name: speed)
    url = reverse("explorations:start", args=[problem.slug])
    page = alice_client.get(f"{url}?scaffold=single_call&alias=small").content.decode()
    assert '<span class="num">1</span> call, ' in page
    assert ">1 call; at most " in page
    assert words in page
