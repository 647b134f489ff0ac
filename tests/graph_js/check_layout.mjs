// Prints one JSON object of facts about the layout; test_layout.py asserts on them.
import { instance } from "../../static/vendor/viz/viz.js";
import { bestLayout } from "../../static/js/graph/best_layout.js";
import { boxesOf, isClear } from "../../static/js/graph/clear.js";
import { adopt, bounds, createLayout, lineOf, place, separate } from "../../static/js/graph/layout.js";
import { halfWidth } from "../../static/js/graph/sizes.js";
import { MOMENT_MS, reopen, Young } from "../../static/js/graph/young.js";
import { generate } from "./generator.mjs";

function overlaps(layout) {
  let found = 0;
  for (const ids of layout.rows.values()) {
    const spans = ids.map((id) => [layout.position.get(id).x, halfWidth(layout.nodes.get(id))]).sort((a, b) => a[0] - b[0]);
    for (let i = 1; i < spans.length; i += 1) {
      if (spans[i][0] - spans[i][1] < spans[i - 1][0] + spans[i - 1][1] - 0.001) found += 1;
    }
  }
  return found;
}

function upward(layout, edges) {
  return edges.filter((edge) => layout.position.get(edge.source).y >= layout.position.get(edge.target).y).length;
}

/** The number of lines that run through a box which is not at their end, among the first `most`. */
function blocked(layout, edges, most = 400) {
  const boxes = boxesOf([...layout.nodes.values()], positions(layout));
  return edges.slice(0, most).filter((edge) => {
    const [from, to] = [edge.source, edge.target].map((id) => layout.position.get(id));
    return !isClear(edge, [[from.x, from.y], ...lineOf(layout, edge), [to.x, to.y]], boxes);
  }).length;
}

function positions(layout) {
  return Object.fromEntries([...layout.position].map(([id, at]) => [id, [at.x, at.y]]));
}

// Nodes 1 + 6k come together, as the lemmas of one call do.
function grown(graph, step) {
  const layout = createLayout();
  let moved = 0;
  for (let end = 1; end < graph.nodes.length + step; end += step) {
    const nodes = graph.nodes.slice(0, end);
    const known = new Set(nodes.map((node) => node.id));
    const before = positions(layout);
    place(layout, nodes, graph.edges.filter((edge) => known.has(edge.source) && known.has(edge.target)));
    const after = positions(layout);
    for (const id of Object.keys(before)) if (before[id][0] !== after[id][0] || before[id][1] !== after[id][1]) moved += 1;
  }
  return { layout, moved };
}

const facts = { sizes: {}, arranged: {} };
for (const size of [50, 200, 1000, 5000]) {
  const graph = generate(size, { perRound: 6 });
  const { layout, moved } = grown(graph, 6 * Math.ceil(size / 120));
  const widest = Math.max(...[...layout.rows.values()].map((row) => row.length));
  facts.sizes[size] = { moved, overlaps: overlaps(layout), upward: upward(layout, graph.edges), placed: layout.position.size, widest,
    blocked: blocked(layout, graph.edges) };
}

const viz = await instance();
for (const size of [20, 60]) {
  const graph = generate(size, { perRound: 6 });
  const layout = createLayout();
  place(layout, graph.nodes, graph.edges);
  adopt(layout, bestLayout(viz, graph.nodes, graph.edges, { width: 860, height: 700 }), graph.edges);
  const arranged = { overlaps: overlaps(layout), upward: upward(layout, graph.edges), blocked: blocked(layout, graph.edges), placed: layout.position.size };
  const before = positions(layout);
  const more = generate(size + 12, { perRound: 6 });
  place(layout, more.nodes, more.edges);
  const after = positions(layout);
  facts.arranged[size] = { ...arranged, moved: Object.keys(before).filter((id) => String(before[id]) !== String(after[id])).length,
    later: { overlaps: overlaps(layout), upward: upward(layout, more.edges), placed: layout.position.size } };
}

const graph = generate(120);
const pictures = [6, 18, 600].map((step) => JSON.stringify(positions(grown(graph, step).layout)));
facts.same_by_batch = new Set(pictures).size === 1;
const circle = createLayout();
const three = generate(3).nodes;
place(circle, three, [["s0.1", "s0.2"], ["s0.2", "s0.3"], ["s0.3", "s0.1"]].map(([source, target]) => ({ source, target, kind: "uses" })));
facts.circle = circle.position.size;
facts.separated = separate([0, 0, 0, 100], [5, 5, 5, 5]);
facts.empty = bounds(createLayout());

// The last twelve nodes come first, what they use a moment later.
function withLateEdges(wait) {
  const late = generate(60, { perRound: 6 });
  const young = late.nodes.slice(-12).map((node) => node.id);
  const [early, after] = [late.edges.filter((edge) => !young.includes(edge.target)), late.edges.filter((edge) => young.includes(edge.target))];
  const whole = createLayout();
  place(whole, late.nodes, late.edges);
  const layout = createLayout();
  let now = 0;
  const watch = new Young(() => now);
  place(layout, late.nodes.slice(0, -12), early);
  watch.add(place(layout, late.nodes, early));
  const before = positions(layout);
  now = wait;
  reopen(layout, watch, after);
  place(layout, late.nodes, after);
  const moved = Object.entries(positions(layout)).filter(([id, at]) => String(at) !== String(before[id])).map(([id]) => id);
  return {
    moved: moved.length, onlyYoung: moved.every((id) => young.includes(id)), overlaps: overlaps(layout), upward: upward(layout, late.edges),
    same: JSON.stringify(positions(layout)) === JSON.stringify(positions(whole)), rows: [...layout.rows.values()].flat().length,
  };
}
facts.late = { soon: withLateEdges(MOMENT_MS / 2), never: withLateEdges(MOMENT_MS + 1) };
console.log(JSON.stringify(facts));
