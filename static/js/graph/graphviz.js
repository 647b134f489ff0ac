// A layered layout by Graphviz `dot`, whose rows are given: it orders the rows, sets the columns, and leads lines around nodes.
// Pure but for `viz`, an instance of @viz-js/viz. Lengths are pixels; y grows downwards from the first row.
import { GAP, HEIGHT, PITCH_Y, sizeOf } from "./sizes.js";

const INCH = 72;
const GUIDE = "row/";
const SAMPLES = [0.2, 0.4, 0.6, 0.8, 1];

/**
 * `nodes` with a `row`, `edges`: {id, source, target}. Returns `{positions, lines}`: the centre of each node as [x, y], and the
 * points of each line between its ends, from source to target. `effort` scales the time spent on avoiding crossings.
 */
export function dotLayout(viz, nodes, edges, { effort = 1 } = {}) {
  const drawn = viz.renderJSON(graphOf(nodes, edges, effort));
  const top = Math.max(...drawn.objects.filter(({ pos }) => pos).map(({ pos }) => pair(pos)[1]));
  const placed = ([x, y]) => [x, top - y];
  const positions = {};
  for (const { name, pos } of drawn.objects) if (pos && !name.startsWith(GUIDE)) positions[name] = placed(pair(pos));
  const lines = {};
  for (const { pos, comment } of drawn.edges ?? []) if (comment) lines[comment] = sampled(pos, placed);
  return { positions, lines };
}

function graphOf(nodes, edges, effort) {
  const rows = new Map();
  for (const node of nodes) rows.set(node.row, [...(rows.get(node.row) ?? []), node]);
  const order = [...rows.keys()].sort((a, b) => a - b);
  const guide = { style: "invis", width: 0.01, height: 0.01, fixedsize: true };
  const steps = order.slice(1).map((row, at) => ({
    tail: `${GUIDE}${order[at]}`, head: `${GUIDE}${row}`, attributes: { style: "invis", weight: 1 },
  }));
  const at = new Map(order.map((row, place) => [row, place]));
  const ties = tops(nodes, edges).filter(({ row }) => at.get(row) > 0).map(({ id, row }) => ({
    tail: `${GUIDE}${order[at.get(row) - 1]}`, head: id, attributes: { style: "invis", weight: 1 },
  }));
  const box = (node) => {
    const [width, height] = sizeOf(node);
    return { name: node.id, attributes: { width: width / INCH, height: height / INCH } };
  };
  return {
    graphAttributes: { nodesep: GAP / INCH, ranksep: (PITCH_Y - HEIGHT) / INCH, mclimit: effort },
    nodeAttributes: { shape: "box", fixedsize: true, label: "" },
    edgeAttributes: { arrowhead: "none" },
    nodes: [...nodes.map(box), ...order.map((row) => ({ name: `${GUIDE}${row}`, attributes: guide }))],
    edges: [...edges.map(({ id, source, target }) => ({ tail: source, head: target, attributes: { comment: id } })), ...steps, ...ties],
    subgraphs: order.map((row) => ({
      graphAttributes: { rank: "same" }, nodes: [{ name: `${GUIDE}${row}` }, ...rows.get(row).map(({ id }) => ({ name: id }))],
    })),
  };
}

/** The top node of each connected part. Graphviz would set parts that nothing ties together far apart. */
function tops(nodes, edges) {
  const into = new Map(nodes.map(({ id }) => [id, id]));
  const root = (id) => {
    let end = id;
    while (into.get(end) !== end) end = into.get(end);
    into.set(id, end);
    return end;
  };
  for (const { source, target } of edges) into.set(root(source), root(target));
  const found = new Map();
  for (const node of nodes) {
    const part = root(node.id);
    if (!found.has(part) || node.row < found.get(part).row) found.set(part, node);
  }
  return [...found.values()];
}

const pair = (text) => text.split(",").map(Number);

/** Points of a spline that is written as cubic Béziers, without its ends. */
function sampled(pos, placed) {
  const points = pos.trim().split(/\s+/).filter((point) => !/^[es],/.test(point)).map(pair).map(placed);
  const found = [points[0]];
  for (let at = 0; at + 3 < points.length; at += 3) {
    const [a, b, c, d] = points.slice(at, at + 4);
    for (const t of SAMPLES) {
      const u = 1 - t;
      found.push([0, 1].map((axis) => u ** 3 * a[axis] + 3 * u * u * t * b[axis] + 3 * u * t * t * c[axis] + t ** 3 * d[axis]));
    }
  }
  return found;
}
