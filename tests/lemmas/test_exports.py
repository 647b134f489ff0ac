"""The exported graph can be read back."""

import io
import json
import shutil

import networkx as nx
import pytest
from django.test import Client

from apps.runs.models import Run
from tests.lemmas.factory import make_told_run, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(client: Client) -> Run:
    client.force_login(make_user("ada"))
    return make_told_run()


def download(client: Client, run: Run, form: str) -> str:
    response = client.get(f"/runs/{run.public_id}/graph/export.{form}")
    assert response.status_code == 200
    assert response.headers["Content-Disposition"].endswith(f'.{form}"')
    return response.content.decode()


def test_graphml_reads_back(client: Client, run: Run) -> None:
    graph = nx.read_graphml(io.BytesIO(download(client, run, "graphml").encode()))
    assert graph.has_edge("s0.7", "s0.2")
    assert graph.nodes["s0.7"]["statement"] == "For every odd integer $a$ we have $16 \\mid a^4 - 1$."


def test_json_reads_back(client: Client, run: Run) -> None:
    graph = nx.node_link_graph(json.loads(download(client, run, "json")), edges="edges")
    assert set(graph["proof/2"]) == {"s0.10-fixed", "s1.11"}
    assert graph.nodes["s1.12"]["confidence"] is None


def test_dot_names_every_node(client: Client, run: Run) -> None:
    text = download(client, run, "dot")
    assert '"s0.7" -> "s0.2"' in text


@pytest.mark.skipif(not shutil.which("dot"), reason="needs Graphviz")
def test_svg_is_drawn_by_graphviz(client: Client, run: Run) -> None:
    assert "<svg" in download(client, run, "svg")


def test_without_graphviz_the_answer_says_what_to_do(client: Client, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    response = client.get(f"/runs/{run.public_id}/graph/export.svg")
    assert response.status_code == 501
    assert "Take the DOT file" in response.content.decode()
