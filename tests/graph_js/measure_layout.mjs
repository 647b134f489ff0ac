// Measures the layout of the graphs in a JSON file, [{name, nodes, edges}]: node measure_layout.mjs FILE WIDTH HEIGHT. Prints for
// each the crossings of our lines and of plain `dot`, the zoom at which it fits, the size of its titles, and the time taken.
import { readFileSync } from "node:fs";
import { instance } from "../../static/vendor/viz/viz.js";
import { bestLayout } from "../../static/js/graph/best_layout.js";
import { crossings } from "../../static/js/graph/crossings.js";
import { fitted, labelStep } from "../../static/js/graph/labels.js";
import { adopt, createLayout, lineOf, place } from "../../static/js/graph/layout.js";

const [file, width, height] = process.argv.slice(2);
const viz = await instance();
/** The lines of `dot` without any rows given. */
function plainDot(nodes, edges) {
  const drawn = viz.renderJSON({
    nodeAttributes: { shape: "box", fixedsize: true, width: 2, height: 0.44, label: "" }, edgeAttributes: { arrowhead: "none" },
    nodes: nodes.map(({ id }) => ({ name: id })),
    edges: edges.map(({ id, source, target }) => ({ tail: source, head: target, attributes: { comment: id } })),
  });
  const ends = new Map(edges.map((edge) => [edge.id, edge]));
  return (drawn.edges ?? []).map(({ pos, comment }) => {
    const p = pos.replace(/[es],/g, "").trim().split(/\s+/).map((point) => point.split(",").map(Number));
    const points = [p[0]];
    for (let at = 0; at + 3 < p.length; at += 3) {
      for (const t of [0.25, 0.5, 0.75, 1]) {
        const u = 1 - t;
        points.push([0, 1].map((k) => u ** 3 * p[at][k] + 3 * u * u * t * p[at + 1][k] + 3 * u * t * t * p[at + 2][k] + t ** 3 * p[at + 3][k]));
      }
    }
    return { ...ends.get(comment), points };
  });
}

const results = JSON.parse(readFileSync(file)).map(({ name, nodes, edges }) => {
  const layout = createLayout();
  place(layout, nodes, edges);
  const began = performance.now();
  const best = bestLayout(viz, nodes, edges, { width: Number(width), height: Number(height) });
  const ms = performance.now() - began;
  adopt(layout, best, edges);
  const at = (id) => Object.values(layout.position.get(id));
  const ours = crossings(edges.map((edge) => ({ ...edge, points: [at(edge.source), ...lineOf(layout, edge), at(edge.target)] })));
  const step = labelStep(best.scale);
  const text = step ? nodes.filter((node) => fitted(`${node.label ?? ""} ${node.title ?? ""}`.trim(), 146, step).replace("…", "").length >= Math.min(12, (node.title ?? "").length)) : [];
  return { name, size: nodes.length, ours, dot: crossings(plainDot(nodes, edges)), zoom: best.scale, pixels: step ? step.size * best.scale : 0, titled: text.length, ms };
});
console.log(JSON.stringify(results));
