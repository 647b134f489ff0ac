// The points of a line in the form that Cytoscape takes: parts of the way from end to end, and distances from the straight line.
import { lineOf } from "./layout.js";
import { sizeOf } from "./sizes.js";

const TOLERANCE = 0.5;
const MARGIN = 2;

/** `{weights, distances}` of the line of `edge` in `layout`; null for a straight line. */
export function segmentsOf(layout, edge) {
  const [from, to] = [layout.position.get(edge.source), layout.position.get(edge.target)];
  if (!from || !to) return null;
  // Cytoscape does not draw a line whose first or last point is inside the box at its end.
  const isOutside = (id, at) => {
    const [width, height] = sizeOf(layout.nodes.get(id));
    return ([x, y]) => Math.abs(x - at.x) > width / 2 + MARGIN || Math.abs(y - at.y) > height / 2 + MARGIN;
  };
  const points = lineOf(layout, edge).filter(isOutside(edge.source, from)).filter(isOutside(edge.target, to));
  if (!points.length) return null;
  const bends = simplified([from.x, from.y], points, [to.x, to.y]);
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  const weights = bends.map(([x, y]) => ((x - from.x) * dx + (y - from.y) * dy) / length ** 2);
  const distances = bends.map(([x, y]) => (-(x - from.x) * dy + (y - from.y) * dx) / length);
  return distances.every((distance) => Math.abs(distance) < TOLERANCE) ? null : { weights, distances };
}

/** Without points on the way between their neighbours: Cytoscape rounds such corners far away from the line. */
function simplified(start, points, end) {
  const kept = [start];
  points.forEach((point, at) => {
    const next = points[at + 1] ?? end;
    const [ax, ay] = kept.at(-1);
    const [dx, dy] = [next[0] - ax, next[1] - ay];
    const off = Math.abs((point[0] - ax) * dy - (point[1] - ay) * dx) / (Math.hypot(dx, dy) || 1);
    if (off >= TOLERANCE) kept.push(point);
  });
  return kept.slice(1);
}
