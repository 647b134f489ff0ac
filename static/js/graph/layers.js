// The row of every node: below all that it uses, one round below the other, and no row with more than `width` nodes.
// Pure. Nodes with a long way below them come first, as in list scheduling, so that no row waits for them.

/** The rows by id. With `lowered`, nodes are next to what uses them instead of what they use. Cycles are cut where they close. */
export function layersOf(nodes, edges, { width = Infinity, lowered = false } = {}) {
  const { parents, children } = neighboursOf(nodes, edges);
  const heights = heightsOf(nodes, children);
  const row = new Map();
  let next = 0;
  for (const lane of lanesOf(nodes)) {
    const first = next;
    let left = lane.sort((a, b) => heights.get(b.id) - heights.get(a.id) || bySeq(a, b));
    while (left.length) {
      const ready = left.filter(({ id }) => parents.get(id).every((parent) => row.has(parent) && row.get(parent) < next));
      for (const { id } of (ready.length ? ready : left.slice(0, 1)).slice(0, width)) row.set(id, next);
      left = left.filter(({ id }) => !row.has(id));
      next += 1;
    }
    if (lowered && first < next) lower(lane, row, next - 1, width, parents, children);
  }
  return row;
}

/** Move nodes with more lines down than up towards their children, which shortens their lines. `last` is the lane's last row. */
function lower(lane, row, last, width, parents, children) {
  const counts = new Map();
  for (const { id } of lane) counts.set(row.get(id), (counts.get(row.get(id)) ?? 0) + 1);
  for (const { id } of [...lane].sort((a, b) => row.get(b.id) - row.get(a.id))) {
    if (children.get(id).length <= parents.get(id).length) continue;
    const below = children.get(id).map((child) => row.get(child) ?? last + 1);
    for (let to = Math.min(last, ...below.map((other) => other - 1)); to > row.get(id); to -= 1) {
      if (counts.get(to) >= width) continue;
      counts.set(row.get(id), counts.get(row.get(id)) - 1);
      counts.set(to, (counts.get(to) ?? 0) + 1);
      row.set(id, to);
    }
  }
}

/** The problem, then each round, then the proofs. */
function lanesOf(nodes) {
  const lanes = new Map();
  for (const node of nodes) {
    const lane = laneOf(node);
    if (!lanes.has(lane)) lanes.set(lane, []);
    lanes.get(lane).push(node);
  }
  return [...lanes.keys()].sort((a, b) => a - b).map((lane) => lanes.get(lane));
}

/** The number of a node's lane: its round; the problem is above all and proofs are below. */
export function laneOf(node) {
  if (node.kind === "problem") return -1;
  return node.kind === "proof" ? Number.MAX_SAFE_INTEGER : node.round;
}

export function bySeq(a, b) {
  return a.first_seq - b.first_seq || (a.id < b.id ? -1 : 1);
}

function neighboursOf(nodes, edges) {
  const parents = new Map(nodes.map(({ id }) => [id, []]));
  const children = new Map(nodes.map(({ id }) => [id, []]));
  for (const { source, target } of edges) {
    if (source === target || !parents.has(source) || !parents.has(target)) continue;
    parents.get(target).push(source);
    children.get(source).push(target);
  }
  return { parents, children };
}

/** The number of nodes on the longest way down from each node. */
function heightsOf(nodes, children) {
  const found = new Map();
  const open = new Set();
  const visit = (id) => {
    if (found.has(id) || open.has(id)) return found.get(id) ?? 0;
    open.add(id);
    const height = 1 + Math.max(0, ...children.get(id).map(visit));
    open.delete(id);
    found.set(id, height);
    return height;
  };
  nodes.forEach(({ id }) => visit(id));
  return found;
}
