// The graph from far away: one node for the lemmas of each rollout in each round. Pure: works on the maps of view.js.

import { laneOf } from "./layers.js";
import { halfWidth, PITCH_Y } from "./sizes.js";

const isLemma = ({ kind }) => kind === "lemma" || kind === "human";
/** Merged lemmas count where their representative is, as in the list of runs. */
const counts = ({ status }) => status !== "merged";
const holds = ({ status }) => status === "verified";

/**
 * `{nodes, edges}` in the form of docs/graph_data.md, of the nodes with these ids (null: of all). A cluster has `members`, `round`
 * and `rollout`; an edge on the way to the selected proof has `contributes`.
 */
export function clustersOf(graph, { stage = "Round", ids = null } = {}) {
  const groups = new Map();
  const groupOf = new Map();
  const isOnTheWay = (id) => graph.contributing?.has(id) ?? false;
  for (const node of graph.nodes.values()) {
    if (ids && !ids.has(node.id)) continue;
    const id = isLemma(node) ? `cluster/${node.round}/${node.rollout}` : node.id;
    groupOf.set(node.id, id);
    if (!groups.has(id)) groups.set(id, []);
    groups.get(id).push(node);
  }
  const rollouts = new Set([...groups.values()].flat().filter(isLemma).map(({ rollout }) => rollout)).size;
  const nodes = [...groups].map(([id, members]) => (isLemma(members[0]) ? cluster(id, members, { stage, rollouts }) : members[0]));
  const edges = new Map();
  for (const { source, target, kind } of graph.edges.values()) {
    const [from, to] = [groupOf.get(source), groupOf.get(target)];
    if (kind !== "uses" || from === to || !from || !to) continue;
    const contributes = edges.get(`${from}>${to}`)?.contributes || (isOnTheWay(source) && isOnTheWay(target));
    edges.set(`${from}>${to}`, { id: `uses:${from}>${to}`, kind, source: from, target: to, contributes });
  }
  return { nodes, edges: [...edges.values()] };
}

function cluster(id, members, { stage, rollouts }) {
  const [{ round, rollout }] = members;
  const judged = members.filter(({ confidence }) => confidence !== null);
  const total = (name) => members.reduce((sum, node) => sum + node[name], 0);
  return {
    ...members[0], id, kind: "cluster", status: "", human: "", check: "", found_by: 1, round, rollout, members: members.map((node) => node.id),
    label: rollouts > 1 ? `${stage} ${round}, rollout ${rollout}:` : `${stage} ${round}:`,
    title: `${members.filter(holds).length} of ${members.filter(counts).length} hold`,
    confidence: judged.length ? judged.reduce((sum, node) => sum + node.confidence, 0) / judged.length : null,
    passes: total("passes"), valid: total("valid"), total: total("total"), expected: total("expected"),
    first_seq: Math.min(...members.map((node) => node.first_seq)),
  };
}

/** Places of the nodes of `clustersOf` in a grid, one row for each round and one column for each rollout, as `adopt` takes them. */
export function gridOf(nodes) {
  const lanes = [...new Set(nodes.map(laneOf))].sort((a, b) => a - b);
  const rollouts = [...new Set(nodes.filter(({ kind }) => kind === "cluster").map(({ rollout }) => rollout))].sort((a, b) => a - b);
  const positions = {};
  const rows = {};
  let row = 0;
  for (const lane of lanes) {
    const members = nodes.filter((node) => laneOf(node) === lane);
    members.forEach((node, at) => {
      const column = node.kind === "cluster" ? rollouts.indexOf(node.rollout) : at;
      positions[node.id] = [column * 2 * halfWidth(node), row * PITCH_Y];
      rows[node.id] = row;
    });
    row += 1;
  }
  return { positions, rows, lines: {} };
}
