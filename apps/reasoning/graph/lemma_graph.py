"""The dependency graph of lemmas and proofs: its edges and queries on it.

Nodes are lemma versions (`s0.7`, `s0.7-fixed`) and proofs (`proof/2`). An edge goes from what is used to its user, here as in
every export. Where a text names a merged lemma, the edge comes from the lemma that represents it (`representatives`). The
graph has no cycle: an edge that would close one is refused where it is made, and again here.
"""

from collections.abc import Collection, Iterable, Mapping

import networkx as nx

Use = tuple[str, str, dict[str, object]]
"""`(user, named, attributes of the edge)`: the text of `user` names the lemma `named`."""


def representatives(merged: Mapping[str, str], holding: Collection[str]) -> dict[str, str]:
    """By merged lemma, the lemma that represents it. `merged` maps a lemma to the one it was merged into.

    That is the end of its chain of merges. A lemma in `holding` (verified, not retired) whose representative is not in it
    represents itself: the two have separate proofs, and only the other one's was rejected.
    """
    found: dict[str, str] = {}
    for name in merged:
        chain = [name]
        while (into := merged.get(chain[-1], "")) and into not in chain:
            chain.append(into)
        found[name] = next((one for one in reversed(chain) if one in holding), chain[-1])
    return found


def draw_uses(graph: "nx.DiGraph[str]", uses: Iterable[Use], represented: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """Draw `uses` into `graph`. Returns by `(user, named)` the node that each was drawn from.

    A use of a merged lemma is drawn from its representative, or from the lemma itself if that would close a cycle. A use that
    still closes a cycle, or has an end outside the graph, is left out.
    """
    known = [use for use in uses if use[0] in graph and use[1] in graph]
    represented = {named: by for named, by in represented.items() if by in graph}
    sources = {(user, named): represented.get(named, named) for user, named, _ in known}
    graph.add_edges_from((sources[user, named], user, data) for user, named, data in known)
    if nx.is_directed_acyclic_graph(graph):
        return sources
    graph.remove_edges_from(list(graph.edges))
    sources = {}
    for user, named, data in sorted(known, key=lambda use: use[1] in represented):
        for source in dict.fromkeys((represented.get(named, named), named)):
            if not closes_cycle(graph, user, source):
                graph.add_edge(source, user, **data)
                sources[user, named] = source
                break
    return sources


def closes_cycle(graph: "nx.DiGraph[str]", user: str, used: str) -> bool:
    """Would a use of `used` by `user` close a cycle (`used` rests on `user` already, or is it)?"""
    return user == used or (user in graph and used in graph and nx.has_path(graph, user, used))


def proof_closure(graph: "nx.DiGraph[str]") -> set[str]:
    """The selected proof and all it rests on: the contributing set. Empty where there is no proof."""
    proof = graph.graph.get("selected", "")
    return {proof} | nx.ancestors(graph, proof) if proof in graph else set()


def frontier(graph: "nx.DiGraph[str]") -> set[str]:
    """Live lemmas that no other live lemma uses yet: where the next round can start."""
    live = {node for node, data in graph.nodes(data=True) if data["kind"] == "lemma" and is_live(graph, node)}
    return {node for node in live if not any(user in live for user in graph.successors(node))}


def is_live(graph: "nx.DiGraph[str]", node: str) -> bool:
    """Is the lemma still in play: neither rejected, refuted, retired nor merged into another?"""
    return graph.nodes[node]["status"] not in ("rejected", "refuted", "retired", "merged")


def outline(graph: "nx.DiGraph[str]") -> list[str]:
    """All nodes, what is used before what uses it; otherwise by round, rollout and number. The reading order of the graph."""

    def place(node: str) -> tuple[bool, int, int, int, str]:
        data = graph.nodes[node]
        return data["kind"] == "proof", data["round"], data["rollout"], data["number"], node

    return list(nx.lexicographical_topological_sort(graph, key=place))
