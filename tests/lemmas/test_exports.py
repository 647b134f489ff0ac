"""The exported graph can be read back."""

import json
import shutil
from typing import Any

import networkx as nx
import pytest
from django.test import Client

from apps.runs.models import Run
from tests.lemmas.factory import make_story_run, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(client: Client) -> Run:
    client.force_login(make_user("ada"))
    return make_story_run()


def download(client: Client, run: Run, form: str) -> str:
    response = client.get(f"/runs/{run.public_id}/graph/export.{form}")
    assert response.status_code == 200
    assert response.headers["Content-Disposition"].endswith(f'.{form}"')
    return response.content.decode()


def fields_of(graph: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Nodes and edges by id with their fields, as in graph.json: without whole texts, null for what is not there."""
    nodes = {name: {"id": name, **data} for name, data in graph.nodes(data=True)}
    edges = {key: {"id": key, "source": a, "target": b, **data} for a, b, key, data in graph.edges(keys=True, data=True)}
    for node in nodes.values():
        node.pop("text")
    return nodes, edges


def graph_of(client: Client, run: Run) -> tuple[dict[str, Any], dict[str, Any]]:
    data = client.get(f"/runs/{run.public_id}/graph.json").json()
    return {node["id"]: node for node in data["nodes"]}, {edge["id"]: edge for edge in data["edges"]}


def test_graphml_read_by_networkx_equals_graph_json(client: Client, run: Run) -> None:
    text = download(client, run, "graphml")
    graph = nx.parse_graphml(text, edge_key_type=str, force_multigraph=True)
    nodes, edges = fields_of(graph)
    for edge in edges.values():
        edge["evidence"] = json.loads(edge["evidence"])
    for node in nodes.values():
        for name in ("number", "confidence", "low", "high"):
            node.setdefault(name, None)
    assert (nodes, edges) == graph_of(client, run)
    assert {edge["kind"] for edge in edges.values()} == {"uses", "corrects", "merges", "revises"}
    assert graph.graph["selected_proof"] == "proof/2"


def test_node_link_json_equals_graph_json_and_has_whole_texts(client: Client, run: Run) -> None:
    graph = nx.node_link_graph(json.loads(download(client, run, "json")), edges="edges")
    assert fields_of(graph) == graph_of(client, run)
    assert graph.nodes["proof/2"]["text"].endswith("$\\blacksquare$")


def test_what_a_node_rests_on_are_its_ancestors_in_every_export(client: Client, run: Run) -> None:
    graph = nx.node_link_graph(json.loads(download(client, run, "json")), edges="edges")
    uses = graph.edge_subgraph([edge for edge in graph.edges if graph.edges[edge]["kind"] == "uses"])
    contributing = {name for name, data in graph.nodes(data=True) if data["contributes"]}
    assert nx.ancestors(uses, "proof/2") | {"proof/2"} == contributing


def test_dot_names_every_edge_with_its_kind(client: Client, run: Run) -> None:
    text = download(client, run, "dot")
    assert 'label="s0.7\\nFor every odd integer $a$ we have' in text
    for edge in graph_of(client, run)[1].values():
        assert f'"{edge["source"]}" -> "{edge["target"]}" [class="{edge["kind"]}"' in text


@pytest.mark.skipif(not shutil.which("dot"), reason="needs Graphviz")
def test_svg_is_drawn_by_graphviz(client: Client, run: Run) -> None:
    picture = download(client, run, "svg")
    assert picture.count('class="node') == 16
    assert picture.count('class="edge') == len(graph_of(client, run)[1])
    assert "gcd" in picture


def test_without_graphviz_the_answer_says_what_to_do(client: Client, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    response = client.get(f"/runs/{run.public_id}/graph/export.svg")
    assert response.status_code == 501
    assert "Take the DOT file" in response.content.decode()
