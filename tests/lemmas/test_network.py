"""Redundant uses are those that the transitive reduction leaves out."""

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.lemmas.network import redundant_uses

edges = st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda pair: pair[0] > pair[1]))


@settings(max_examples=100, deadline=None)
@given(edges=edges)
def test_redundant_uses_are_what_the_reduction_leaves_out(edges: set[tuple[int, int]]) -> None:
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_edges_from((str(used), str(user)) for user, used in edges)
    assert redundant_uses(graph) == set(graph.edges) - set(nx.transitive_reduction(graph).edges)
