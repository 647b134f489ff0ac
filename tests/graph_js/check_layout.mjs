// Prints one JSON object of facts about the layout; test_layout.py asserts on them.
import { createLayout, halfWidth, place, separate, tidy, bounds } from "../../static/js/graph/layout.js";
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

const facts = { sizes: {} };
for (const size of [50, 200, 1000, 5000]) {
  const graph = generate(size, { perRound: 6 });
  const { layout, moved } = grown(graph, 6 * Math.ceil(size / 120));
  const live = { moved, overlaps: overlaps(layout), upward: upward(layout, graph.edges), placed: layout.position.size };
  tidy(layout);
  const first = JSON.stringify(positions(layout));
  tidy(layout);
  facts.sizes[size] = { live, tidied: { overlaps: overlaps(layout), upward: upward(layout, graph.edges) },
    stable: first === JSON.stringify(positions(layout)), width: bounds(layout).right - bounds(layout).left };
}

const graph = generate(120);
const pictures = [6, 18, 600].map((step) => JSON.stringify(positions(grown(graph, step).layout)));
facts.same_by_batch = new Set(pictures).size === 1;
const circle = createLayout();
const three = generate(3).nodes;
place(circle, three, [["s0.1", "s0.2"], ["s0.2", "s0.3"], ["s0.3", "s0.1"]].map(([source, target]) => ({ source, target, kind: "uses" })));
facts.circle = circle.position.size;
tidy(circle);
facts.circle_tidied = [...circle.position.values()].every(({ x, y }) => Number.isFinite(x) && Number.isFinite(y));
facts.separated = separate([0, 0, 0, 100], [5, 5, 5, 5]);
facts.empty = bounds(createLayout());
console.log(JSON.stringify(facts));
