// Prints facts about the focus modes as JSON; test_focus.py asserts on them.
import { focusSet, neighbours } from "../../static/js/graph/focus.js";

const edge = (source, target, kind = "uses") => ({ id: `${kind}:${source}>${target}`, source, target, kind });
const edges = [edge("a", "b"), edge("b", "c"), edge("c", "p"), edge("a", "d"), edge("e", "a", "merges")];
const graph = {
  nodes: new Map(["a", "b", "c", "d", "e", "p"].map((id, i) => [id, { id, kind: id === "p" ? "proof" : "lemma", rollout: i % 2, round: 1 + Math.floor(i / 2) }])),
  edges: new Map(edges.map((item) => [item.id, item])), contributing: new Set(["p", "c", "b", "a"]), frontier: ["d"],
};
const set = (wanted) => {
  const found = focusSet(graph, wanted);
  return found && [...found].sort();
};
console.log(JSON.stringify({
  all: set({ mode: "all" }), proof: set({ mode: "proof" }), frontier: set({ mode: "frontier" }), round: set({ mode: "round", round: 2 }),
  rollout: set({ mode: "rollout", rollout: 1 }), recent: set({ mode: "recent" }),
  ancestors: set({ mode: "ancestors", id: "c" }), near: set({ mode: "ancestors", id: "c", depth: 1 }),
  descendants: set({ mode: "descendants", id: "a" }), no_node: set({ mode: "ancestors" }), unknown: set({ mode: "nonsense" }),
  no_proof: focusSet({ ...graph, contributing: new Set() }, { mode: "proof" }), next: neighbours(graph, "b"),
}));
