"""Fixtures of the browser tests of the graph: a run and the answers of its pages."""

from collections.abc import Callable

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.runs.models import Run
from tests.lemmas.factory import make_story_run
from tests.ui.browser import Pages

LEMMAS = ("s0.1", "s0.2", "s0.6", "s0.7", "s0.8", "s1.12")


@pytest.fixture
def run(alice: User) -> Run:
    return make_story_run()


@pytest.fixture
def pages(client_for: Callable[[User | None], Client], alice: User, run: Run) -> Pages:
    client, base = client_for(alice), f"/runs/{run.public_id}/"
    answers = {base + path: client.get(base + path) for path in ("graph/", "graph.json", "graph/outline/")}
    for name in LEMMAS:
        answers[f"{base}lemmas/{name}/"] = client.get(f"{base}lemmas/{name}/", headers={"HX-Request": "true"})
    answers[f"{base}proofs/2/"] = client.get(f"{base}proofs/2/", headers={"HX-Request": "true"})
    return Pages(answers)  # type: ignore[arg-type]  # The client's answers are HttpResponse objects.
