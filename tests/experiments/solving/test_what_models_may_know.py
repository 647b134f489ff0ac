"""The form and the page of an experiment say how many of its problems its models may know, and lead to the set."""

from pathlib import Path

import pytest
from django.conf import LazySettings
from django.test import Client

from apps.problem_sets.importing import named_of
from apps.problem_sets.services import set_create
from tests.cast import person
from tests.experiments.solving.playing import begin
from tests.experiments.solving.test_the_builder import URL, sent
from tests.problems.factory import make_problem

pytestmark = pytest.mark.django_db(transaction=True)
MODELS = """
[served]
backend = "openai_http"
title = "Model one"
model = "m"
base_url = "http://localhost:1/v1"
knowledge_until = "2024-06"

[other]
backend = "openai_http"
title = "Not in the team"
model = "m"
base_url = "http://localhost:1/v1"
knowledge_until = "2026"
"""
LINK = 'See <a href="/problem-sets/sums/?version=1">the set</a>.'


@pytest.fixture(autouse=True)
def models(settings: LazySettings, tmp_path: Path) -> None:
    settings.MODELS_FILE = tmp_path / "models.toml"
    settings.MODELS_FILE.write_text(MODELS)


def pages(client: Client, *names: str) -> list[str]:
    """The form's estimate, and the page of an experiment, on `sums@1` or on some of its problems."""
    alice = person("alice")
    client.force_login(alice)
    experiment = begin(alice, title=f"Trial {names}", problems={"set": "sums@1", "names": names})
    return [
        client.post(URL, sent("estimate", names=", ".join(names))).text,
        client.get(f"/experiments/{experiment.public_id}/").text,
    ]


def test_problems_that_a_model_may_know_or_another_set_has_are_counted_with_a_link_to_the_set(client: Client) -> None:
    problems = [make_problem(f"Sum {year}", year=year, answer="1") for year in (2023, 2024, 2025)]
    set_create(title="Sums", items=named_of(problems), by=None)
    set_create(title="Others", items=named_of(problems[2:]), by=None)
    for html in pages(client):
        assert "Model one may know 2 of 3 problems by their year; 1 of 3 problems is also in another set. " + LINK in html
        assert "Not in the team may know" not in html


def test_only_the_chosen_problems_count_and_without_a_sign_nothing_is_said(client: Client) -> None:
    problems = [make_problem(f"Sum {year}", year=year, answer="1") for year in (2023, 2025)]
    made = set_create(title="Sums", items=named_of(problems), by=None)
    names = list(made.items.values_list("name", flat=True))
    for html in pages(client, names[0]):
        assert "Model one may know 1 of 1 problems by their year. " + LINK in html
    for html in pages(client, names[1]):
        assert "may know" not in html
        assert "also in another set" not in html
