// The incremental layered layout of the lemma graph. Pure: no DOM, no drawing library, no randomness.
//
// A node's row is fixed when it is placed: below all it uses, and not above the first row of its round. Its column is the
// free place nearest to the middle of its parents. `place` never moves a node that has a position; `tidy` lays out the whole
// graph again by barycentre sweeps. Nodes of one call (a round of a rollout) are placed as one group, so that the picture does
// not depend on how events were batched.
//
// node: {id, kind, round, rollout, call, first_seq}; edge: {source, target, kind, named}, `source` is drawn above `target`.
// Places follow `named`, the lemma that the text names, so that a merge, which changes `source`, moves nothing.

export const PITCH_X = 72;
export const PITCH_Y = 72;
const SWEEPS = 12;
/** How far a line within one row bows past the nodes between its ends. */
const SAME_ROW_BOW = 26;
const WIDE = { problem: 1.9, proof: 1.5, pair: 1.2, memory: 1.6 };
const EPS = 1e-6;

/** Half of the horizontal room a node takes. */
export function halfWidth(node) {
  return ((WIDE[node.kind] ?? 1) * PITCH_X) / 2;
}

/** An empty layout, for `place` and `tidy`. */
export function createLayout() {
  return { nodes: new Map(), position: new Map(), row: new Map(), rows: new Map(), roundStart: new Map(), parents: new Map() };
}

/** Place the nodes of `nodes` that have no position yet. Returns the ids that were placed, in order. */
export function place(layout, nodes, edges) {
  const fresh = nodes.filter((node) => !layout.position.has(node.id));
  for (const node of nodes) layout.nodes.set(node.id, node);
  addParents(layout, edges);
  const placed = [];
  for (const group of groupsOf(fresh)) {
    assignRows(layout, group);
    for (const members of byRow(layout, group)) placeInRow(layout, members);
    placed.push(...group.map((node) => node.id));
  }
  return placed;
}

/** Lay out the whole graph again. Every placed node gets a new position; the same graph always gives the same picture. */
export function tidy(layout) {
  const nodes = [...layout.nodes.values()].sort(bySeq);
  layout.row.clear();
  layout.rows.clear();
  layout.roundStart.clear();
  for (const round of [...new Set(nodes.map((node) => node.round))].sort((a, b) => a - b)) {
    assignRows(layout, nodes.filter((node) => node.round === round));
  }
  const rows = [...layout.rows.keys()].sort((a, b) => a - b).map((row) => layout.rows.get(row));
  const x = sweep(layout, rows);
  layout.position.clear();
  for (const [id, value] of x) layout.position.set(id, { x: value, y: layout.row.get(id) * PITCH_Y });
  for (const row of rows) row.sort((a, b) => x.get(a) - x.get(b));
}

/** The box around all nodes: {left, top, right, bottom}; zeros without nodes. */
export function bounds(layout) {
  const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const [id, { x, y }] of layout.position) {
    const half = halfWidth(layout.nodes.get(id));
    box.left = Math.min(box.left, x - half);
    box.right = Math.max(box.right, x + half);
    box.top = Math.min(box.top, y);
    box.bottom = Math.max(box.bottom, y);
  }
  return layout.position.size ? box : { left: 0, top: 0, right: 0, bottom: 0 };
}

/**
 * How far the line from `source` down to `target` must bow to avoid the nodes between: the deviation at its middle,
 * positive to the right; 0 where the straight line is free.
 */
export function bow(layout, source, target) {
  const [from, to] = [layout.position.get(source), layout.position.get(target)];
  const [top, bottom] = [layout.row.get(source), layout.row.get(target)];
  let need = 0;
  if (top === bottom) {
    const isBetween = (id) => (layout.position.get(id).x - from.x) * (layout.position.get(id).x - to.x) < 0;
    return [...(layout.rows.get(top) ?? [])].some(isBetween) ? SAME_ROW_BOW : 0;
  }
  for (let row = Math.min(top, bottom) + 1; row < Math.max(top, bottom); row += 1) {
    const part = (row - top) / (bottom - top);
    const x = from.x + (to.x - from.x) * part;
    for (const id of layout.rows.get(row) ?? []) {
      const at = layout.position.get(id);
      const clear = halfWidth(layout.nodes.get(id)) - 6;
      if (!at || Math.abs(at.x - x) >= clear) continue;
      const side = x >= at.x ? 1 : -1;
      const bend = (side * (clear - Math.abs(at.x - x))) / (4 * part * (1 - part));
      if (Math.abs(bend) > Math.abs(need)) need = bend;
    }
  }
  return need;
}

function bySeq(a, b) {
  return a.first_seq - b.first_seq || (a.id < b.id ? -1 : 1);
}

function addParents(layout, edges) {
  for (const { source, target, kind, named = source } of edges) {
    if (kind === "merges") continue;
    if (!layout.parents.has(target)) layout.parents.set(target, new Set());
    layout.parents.get(target).add(named);
  }
}

function parentsOf(layout, id) {
  return [...(layout.parents.get(id) ?? [])].filter((parent) => layout.nodes.has(parent) && parent !== id);
}

/** Nodes that come from one call, in the order of their first event. */
function groupsOf(nodes) {
  const groups = new Map();
  for (const node of [...nodes].sort(bySeq)) {
    const key = node.kind === "problem" || node.kind === "proof" ? node.id : `${node.rollout}/${node.round}/${node.call}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(node);
  }
  return [...groups.values()];
}

/** Give each node of `group` its row: below its parents, not above its round's first row. Cycles are cut where they close. */
function assignRows(layout, group) {
  const members = new Map(group.map((node) => [node.id, node]));
  const open = new Set();
  const visit = (node) => {
    if (layout.row.has(node.id) || open.has(node.id)) return;
    open.add(node.id);
    let row = firstRowOf(layout, node);
    for (const parent of parentsOf(layout, node.id)) {
      if (members.has(parent)) visit(members.get(parent));
      if (layout.row.has(parent)) row = Math.max(row, layout.row.get(parent) + 1);
    }
    open.delete(node.id);
    layout.row.set(node.id, row);
    if (!layout.rows.has(row)) layout.rows.set(row, []);
    layout.rows.get(row).push(node.id);
  };
  group.forEach(visit);
}

/** The first row of a round, fixed when its first node arrives: below all rows in use by earlier rounds at that time. */
function firstRowOf(layout, node) {
  if (node.kind === "problem") return 0;
  if (node.kind === "proof") return deepest(layout, () => true) + 1;
  if (!layout.roundStart.has(node.round)) {
    layout.roundStart.set(node.round, deepest(layout, (other) => other.round < node.round) + 1);
  }
  return layout.roundStart.get(node.round);
}

function deepest(layout, counts) {
  let row = 0;
  for (const [id, value] of layout.row) if (value > row && counts(layout.nodes.get(id))) row = value;
  return row;
}

function byRow(layout, group) {
  const rows = new Map();
  for (const node of group) {
    const row = layout.row.get(node.id);
    if (!rows.has(row)) rows.set(row, []);
    rows.get(row).push(node);
  }
  return [...rows.entries()].sort((a, b) => a[0] - b[0]).map((entry) => entry[1]);
}

/** Place new nodes of one row: those with parents at their middle, the rest side by side as a block. */
function placeInRow(layout, members) {
  const y = layout.row.get(members[0].id) * PITCH_Y;
  const taken = occupied(layout, layout.row.get(members[0].id));
  const wanted = members.map((node) => ({ node, x: middleOfParents(layout, node) }));
  const anchored = wanted.filter((item) => item.x !== null).sort((a, b) => a.x - b.x || bySeq(a.node, b.node));
  const spread = separate(anchored.map((item) => item.x), anchored.map((item) => halfWidth(item.node)));
  anchored.forEach((item, i) => put(layout, item.node, freePlace(taken, spread[i], halfWidth(item.node)), y, taken));
  const loose = wanted.filter((item) => item.x === null).map((item) => item.node);
  if (!loose.length) return;
  const half = loose.reduce((sum, node) => sum + halfWidth(node), 0);
  let x = freePlace(taken, homeOf(layout, loose[0]), half) - half;
  for (const node of loose) {
    put(layout, node, x + halfWidth(node), y, taken);
    x += 2 * halfWidth(node);
  }
}

function put(layout, node, x, y, taken) {
  layout.position.set(node.id, { x, y });
  const half = halfWidth(node);
  const at = taken.findIndex((span) => span.left > x);
  taken.splice(at < 0 ? taken.length : at, 0, { left: x - half, right: x + half });
}

/** Spans of the placed nodes of a row, from left to right. */
function occupied(layout, row) {
  const spans = [];
  for (const id of layout.rows.get(row) ?? []) {
    const at = layout.position.get(id);
    const half = halfWidth(layout.nodes.get(id));
    if (at) spans.push({ left: at.x - half, right: at.x + half });
  }
  return spans.sort((a, b) => a.left - b.left);
}

/** The free centre nearest to `x` for a box of half width `half`; the right one of two equally near. */
function freePlace(taken, x, half) {
  let best = null;
  const offer = (centre) => {
    if (best === null || Math.abs(centre - x) < Math.abs(best - x) - EPS) best = centre;
  };
  for (let i = taken.length; i >= 0; i -= 1) {
    const from = (i === 0 ? -Infinity : taken[i - 1].right) + half;
    const to = (i === taken.length ? Infinity : taken[i].left) - half;
    if (from <= to + EPS) offer(Math.min(Math.max(x, from), Math.max(from, to)));
  }
  return best;
}

function middleOfParents(layout, node) {
  const at = parentsOf(layout, node.id).map((parent) => layout.position.get(parent)).filter(Boolean);
  return at.length ? at.reduce((sum, { x }) => sum + x, 0) / at.length : null;
}

/** The column of a lemma without uses: below its rollout's other lemmas, else below the problem. */
function homeOf(layout, node) {
  let sum = 0;
  let count = 0;
  for (const [id, { x }] of layout.position) {
    const other = layout.nodes.get(id);
    if (other.kind !== "problem" && other.kind !== "proof" && other.rollout === node.rollout) {
      sum += x;
      count += 1;
    }
  }
  return count ? sum / count : (layout.position.get("problem")?.x ?? 0);
}

/** Move `wanted` centres (ascending) as little as possible so that neighbours do not overlap: pool adjacent violators. */
export function separate(wanted, halves) {
  const offset = [0];
  for (let i = 1; i < wanted.length; i += 1) offset.push(offset[i - 1] + halves[i - 1] + halves[i]);
  const blocks = [];
  wanted.forEach((x, i) => {
    blocks.push({ sum: x - offset[i], count: 1 });
    while (blocks.length > 1) {
      const last = blocks.at(-1);
      const before = blocks.at(-2);
      if (before.sum / before.count <= last.sum / last.count) break;
      blocks.pop();
      before.sum += last.sum;
      before.count += last.count;
    }
  });
  const result = [];
  for (const block of blocks) {
    for (let k = 0; k < block.count; k += 1) result.push(block.sum / block.count + offset[result.length]);
  }
  return result;
}

/** Barycentre sweeps over the rows, down and up in turn. Returns the columns by id. */
function sweep(layout, rows) {
  const children = new Map();
  for (const id of layout.nodes.keys()) {
    for (const parent of parentsOf(layout, id)) {
      if (!children.has(parent)) children.set(parent, []);
      children.get(parent).push(id);
    }
  }
  const x = new Map();
  for (const row of rows) row.forEach((id, i) => x.set(id, (i - (row.length - 1) / 2) * PITCH_X));
  for (let turn = 0; turn < SWEEPS; turn += 1) {
    const down = turn % 2 === 0;
    const neighbours = (id) => (down ? parentsOf(layout, id) : children.get(id) ?? []);
    for (const row of down ? rows : [...rows].reverse()) settle(layout, row, neighbours, x);
  }
  return x;
}

function settle(layout, row, neighbours, x) {
  const wanted = new Map();
  for (const id of row) {
    const near = neighbours(id);
    wanted.set(id, near.length ? near.reduce((sum, other) => sum + x.get(other), 0) / near.length : x.get(id));
  }
  row.sort((a, b) => wanted.get(a) - wanted.get(b) || bySeq(layout.nodes.get(a), layout.nodes.get(b)));
  const at = separate(row.map((id) => wanted.get(id)), row.map((id) => halfWidth(layout.nodes.get(id))));
  row.forEach((id, i) => x.set(id, at[i]));
}
