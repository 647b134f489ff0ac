// The nodes that a focus shows. Pure: works on the maps of view.js (ids to nodes and edges as in docs/graph_data.md).

export const MODES = {
  all: "Everything",
  proof: "What the proof rests on",
  ancestors: "What the selected lemma rests on",
  descendants: "What rests on the selected lemma",
  frontier: "Not used by anything yet",
  round: "One round",
  recent: "The last two rounds and what they use",
  rollout: "One rollout",
  group: "One rollout in one round",
  overview: "One node for each rollout and round",
};

/** The ids to show, or null for all. `depth` 0 means without limit; `round` and `rollout` are numbers. */
export function focusSet(graph, { mode = "all", id = "", depth = 0, round = 0, rollout = 0 } = {}) {
  switch (mode) {
    case "proof":
      return graph.contributing.size ? new Set(graph.contributing) : null;
    case "ancestors":
      return graph.nodes.has(id) ? reach(graph, id, depth, (edge) => [edge.target, edge.source]) : null;
    case "descendants":
      return graph.nodes.has(id) ? reach(graph, id, depth, (edge) => [edge.source, edge.target]) : null;
    case "frontier":
      return new Set(graph.frontier);
    case "round":
      return new Set([...graph.nodes.values()].filter((node) => node.round === round).map((node) => node.id));
    case "recent":
      return recent(graph);
    case "rollout":
      return new Set([...graph.nodes.values()].filter((node) => isLemma(node) && node.rollout === rollout).map((node) => node.id));
    case "group":
      return group(graph, round, rollout);
    default:
      return null;
  }
}

/** Neighbours of `id`: its uses and users, then its other versions and merged lemmas. */
export function neighbours(graph, id) {
  const found = { uses: [], usedBy: [] };
  const isUse = ({ kind }) => kind === "uses";
  const edges = [...graph.edges.values()];
  for (const edge of [...edges.filter(isUse), ...edges.filter((edge) => !isUse(edge))]) {
    if (edge.target === id) found.uses.push(edge.source);
    if (edge.source === id) found.usedBy.push(edge.target);
  }
  return found;
}

const isLemma = (node) => node.kind === "lemma" || node.kind === "human";

/** The lemmas of the last two rounds, the lemmas they use directly, and the proofs; older rounds are faded. */
function recent(graph) {
  const nodes = [...graph.nodes.values()];
  const last = Math.max(0, ...nodes.filter(isLemma).map((node) => node.round));
  const shown = new Set(nodes.filter((node) => (isLemma(node) && node.round >= last - 1) || node.kind === "proof").map((node) => node.id));
  for (const { source, target, kind } of graph.edges.values()) {
    if (kind === "uses" && shown.has(target) && graph.nodes.get(target).round >= last - 1) shown.add(source);
  }
  return shown;
}

/** The lemmas of one rollout in one round, what they use directly, and what uses them. */
function group(graph, round, rollout) {
  const nodes = [...graph.nodes.values()].filter((node) => isLemma(node) && node.round === round && node.rollout === rollout);
  const shown = new Set(nodes.map((node) => node.id));
  const mine = new Set(shown);
  for (const { source, target, kind } of graph.edges.values()) {
    if (kind !== "uses") continue;
    if (mine.has(target)) shown.add(source);
    if (mine.has(source)) shown.add(target);
  }
  return shown;
}

function reach(graph, start, depth, ends) {
  const next = new Map();
  for (const edge of graph.edges.values()) {
    if (edge.kind !== "uses") continue;
    const [from, to] = ends(edge);
    if (!next.has(from)) next.set(from, []);
    next.get(from).push(to);
  }
  const seen = new Set([start]);
  let layer = [start];
  for (let step = 1; layer.length && (!depth || step <= depth); step += 1) {
    layer = [...new Set(layer.flatMap((id) => next.get(id) ?? []))].filter((id) => !seen.has(id));
    layer.forEach((id) => seen.add(id));
  }
  return seen;
}
