// The incremental layered layout of the lemma graph. Pure: no DOM, no drawing library, no randomness.
//
// A node's row is fixed when it is placed: below all it uses, not above the first row of its round, and not a full row. Its
// column is the free place nearest to the middle of its parents. `place` never moves a node that has a position. Nodes of one
// call (a round of a rollout) are placed as one group, so that the picture does not depend on how events were batched.
// `adopt` takes the positions and lines that Graphviz computed (arrange.js); later nodes are placed around them.
//
// node: {id, kind, round, rollout, call, first_seq}; edge: {id, source, target, kind, named}, `source` is drawn above `target`.
// Places follow `named`, the lemma that the text names, so that a merge, which changes `source`, moves nothing.
import { bySeq } from "./layers.js";
import { halfWidth, HEIGHT, PITCH_Y } from "./sizes.js";

const LEAST_WIDTH = 8;
/** A line leaves the width of its ends at most this far for a free column. */
const FARTHEST_DETOUR = 400;
/** Lines over more rows look for no free column. */
const MANY_ROWS = 20;
const EPS = 1e-6;

/** An empty layout, for `place` and `adopt`. `lines`: points of lines by edge, between its ends, as Graphviz led them. */
export function createLayout() {
  return {
    nodes: new Map(), position: new Map(), row: new Map(), rows: new Map(), roundStart: new Map(), parents: new Map(), lines: new Map(),
    spans: new Map(),
  };
}

/** The number of nodes that a row may have, so that the drawing of `count` nodes is about as wide as a screen. */
export const rowWidth = (count) => Math.max(LEAST_WIDTH, Math.ceil(Math.sqrt(0.45 * count)));

/** Place the nodes of `nodes` that have no position yet. Returns the ids that were placed, in order. */
export function place(layout, nodes, edges) {
  const fresh = nodes.filter((node) => !layout.position.has(node.id));
  for (const node of nodes) layout.nodes.set(node.id, node);
  addParents(layout, edges);
  layout.spans.clear();
  const width = rowWidth(layout.nodes.size);
  const placed = [];
  for (const group of groupsOf(fresh)) {
    assignRows(layout, group, width);
    for (const members of byRow(layout, group)) placeInRow(layout, members);
    placed.push(...group.map((node) => node.id));
  }
  return placed;
}

/** The box around all nodes and the lines that Graphviz led: {left, top, right, bottom}; zeros without nodes. */
export function bounds(layout) {
  const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const [id, { x, y }] of layout.position) {
    const half = halfWidth(layout.nodes.get(id));
    box.left = Math.min(box.left, x - half);
    box.right = Math.max(box.right, x + half);
    box.top = Math.min(box.top, y - HEIGHT / 2);
    box.bottom = Math.max(box.bottom, y + HEIGHT / 2);
  }
  for (const { points } of layout.lines.values()) {
    for (const [x] of points) {
      box.left = Math.min(box.left, x);
      box.right = Math.max(box.right, x);
    }
  }
  return layout.position.size ? box : { left: 0, top: 0, right: 0, bottom: 0 };
}

/** Take the layout that `arrange` found for all nodes placed so far, {positions, rows, lines} by id, from `edges`. */
export function adopt(layout, { positions, rows, lines }, edges) {
  layout.spans.clear();
  layout.row.clear();
  layout.rows.clear();
  layout.position.clear();
  layout.roundStart.clear();
  for (const node of [...layout.nodes.values()].sort((a, b) => (positions[a.id]?.[0] ?? 0) - (positions[b.id]?.[0] ?? 0))) {
    if (!positions[node.id]) continue;
    const row = rows[node.id];
    layout.row.set(node.id, row);
    layout.position.set(node.id, { x: positions[node.id][0], y: row * PITCH_Y });
    if (!layout.rows.has(row)) layout.rows.set(row, []);
    layout.rows.get(row).push(node.id);
    if (isLemma(node)) layout.roundStart.set(node.round, Math.min(row, layout.roundStart.get(node.round) ?? row));
  }
  layout.lines = new Map(edges.filter(({ id }) => lines[id]).map(({ id, source }) => [id, { source, points: lines[id] }]));
}

/**
 * The points of the line of `edge` between its ends, [[x, y], …]: as Graphviz led it, else straight where that is free, else
 * down a free column, else through the free places nearest to the straight line. No line runs through a node.
 */
export function lineOf(layout, { id, source, target }) {
  const led = layout.lines.get(id);
  if (led?.source === source) return led.points;
  const [from, to] = [layout.position.get(source), layout.position.get(target)];
  const [top, bottom] = [layout.row.get(source), layout.row.get(target)];
  if (!from || !to) return [];
  if (top === bottom) return aroundRow(layout, top, from, to);
  const step = top < bottom ? 1 : -1;
  const rows = Array.from({ length: Math.abs(bottom - top) - 1 }, (_, at) => top + step * (at + 1));
  if (isStraightFree(layout, [top, ...rows, bottom], from, to)) return [];
  const column = rows.length <= MANY_ROWS ? freeColumn(layout, rows, from.x, to.x) : null;
  const leave = from.y + (step * PITCH_Y) / 2;
  const arrive = to.y - (step * PITCH_Y) / 2;
  if (column !== null) return [[from.x, leave], [column, leave], [column, arrive], [to.x, arrive]];
  let x = from.x;
  const through = rows.flatMap((row) => {
    x = freePoint(spansOf(layout, row), x + (to.x - x) / (Math.abs(bottom - row) + 1));
    return [[x, row * PITCH_Y - (step * PITCH_Y) / 2], [x, row * PITCH_Y + (step * PITCH_Y) / 2]];
  });
  return [[from.x, leave], ...through, [to.x, arrive]];
}

/** Does the straight line pass all boxes of `rows` but those at its ends? */
function isStraightFree(layout, rows, from, to) {
  const x = (y) => from.x + ((to.x - from.x) * (y - from.y)) / (to.y - from.y);
  const [top, bottom] = [Math.min(from.y, to.y), Math.max(from.y, to.y)];
  return rows.every((row) => {
    const y = row * PITCH_Y;
    const ends = [y - HEIGHT / 2, y + HEIGHT / 2].map((edge) => x(Math.min(Math.max(edge, top), bottom)));
    const [least, most] = [Math.min(...ends), Math.max(...ends)];
    const spans = spansOf(layout, row);
    const isEnd = ({ left, right }) => (y === from.y && left < from.x && right > from.x) || (y === to.y && left < to.x && right > to.x);
    for (let at = firstAfter(spans, least); at < spans.length && spans[at].left < most - EPS; at += 1) if (!isEnd(spans[at])) return false;
    return true;
  });
}

/** The place of the first of the sorted `spans` that ends right of `x`. */
function firstAfter(spans, x) {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle].right > x + EPS) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The free point nearest to `x`: between two boxes there is always one. */
function freePoint(spans, x) {
  const span = spans[firstAfter(spans, x)];
  if (!span || span.left >= x - EPS) return x;
  return x - span.left < span.right - x ? span.left : span.right;
}

/** A column that is free in all `rows`, nearest to the way from `from` to `to`; null if it would be far off. */
function freeColumn(layout, rows, from, to) {
  const blocked = [];
  for (const { left, right } of rows.flatMap((row) => spansOf(layout, row)).sort((a, b) => a.left - b.left)) {
    const last = blocked.at(-1);
    if (last && left < last.right - EPS) last.right = Math.max(last.right, right);
    else blocked.push({ left, right });
  }
  const found = freePoint(blocked, (from + to) / 2);
  const detour = Math.max(0, Math.min(from, to) - found, found - Math.max(from, to));
  return detour > FARTHEST_DETOUR ? null : found;
}

/** A line within one row passes below the nodes between its ends. */
function aroundRow(layout, row, from, to) {
  const isBetween = (id) => (layout.position.get(id)?.x - from.x) * (layout.position.get(id)?.x - to.x) < 0;
  if (!(layout.rows.get(row) ?? []).some(isBetween)) return [];
  const y = from.y + PITCH_Y / 2;
  return [[from.x, y], [to.x, y]];
}

const isLemma = ({ kind }) => kind !== "problem" && kind !== "proof";

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

/** Give each node of `group` its row: below its parents, not above its round's first row, not full. Cycles are cut where they close. */
function assignRows(layout, group, width) {
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
    while ((layout.rows.get(row)?.length ?? 0) >= width) row += 1;
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

/** `occupied` of a row, kept until nodes are placed again. */
function spansOf(layout, row) {
  if (!layout.spans.has(row)) layout.spans.set(row, occupied(layout, row));
  return layout.spans.get(row);
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
    if (isLemma(other) && other.rollout === node.rollout) {
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

