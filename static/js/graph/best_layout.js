// The layout by Graphviz that fits a room at the largest scale, among rows of several widths. Pure but for `viz`.
import { boxesOf, isClear } from "./clear.js";
import { dotLayout } from "./graphviz.js";
import { layersOf } from "./layers.js";
import { sizeOf } from "./sizes.js";

/** Nodes in a row: the first width tried, then narrower ones while the drawing is too wide, or wider ones while it is too high. */
const FIRST = 6;
const NARROWER = [4, 3, 2];
const WIDER = [9, 14];
/** Larger graphs are tried with one width, because Graphviz takes seconds for narrow rows. */
const FEW = 90;
const LARGEST_SCALE = 1.15;

/** `room`: {width, height}. Returns `{positions, lines, rows, scale}`, or null without nodes. */
export function bestLayout(viz, nodes, edges, room) {
  if (!nodes.length) return null;
  const tried = (width) => {
    const rows = layersOf(nodes, edges, { width });
    const found = dotLayout(viz, nodes.map((node) => ({ ...node, row: rows.get(node.id) })), edges);
    return { ...found, ...scaleOf(found.positions, nodes, room), rows: Object.fromEntries(rows) };
  };
  if (nodes.length > FEW) return onlyClear(tried(Infinity), nodes, edges);
  let best = tried(FIRST);
  const { isWide } = best;
  for (const width of isWide ? NARROWER : WIDER) {
    if (best.scale >= LARGEST_SCALE) break;
    const other = tried(width);
    if (other.scale > best.scale) best = other;
  }
  return onlyClear(best, nodes, edges);
}

/** Without the lines that touch a box after all; layout.js leads those. */
function onlyClear(found, nodes, edges) {
  const boxes = boxesOf(nodes, found.positions);
  const lines = edges.filter(({ id }) => found.lines[id]).filter((edge) => {
    const [from, to] = [found.positions[edge.source], found.positions[edge.target]];
    return isClear(edge, [from, ...found.lines[edge.id], to], boxes);
  });
  return { ...found, lines: Object.fromEntries(lines.map(({ id }) => [id, found.lines[id]])) };
}

/** The scale at which the drawing fits, and whether its width is what limits it. */
function scaleOf(positions, nodes, room) {
  const extent = (axis) => {
    const all = nodes.flatMap((node) => [positions[node.id][axis] - sizeOf(node)[axis] / 2, positions[node.id][axis] + sizeOf(node)[axis] / 2]);
    return Math.max(...all) - Math.min(...all);
  };
  const [across, down] = [room.width / extent(0), room.height / extent(1)];
  return { scale: Math.min(across, down, LARGEST_SCALE), isWide: across < down };
}
