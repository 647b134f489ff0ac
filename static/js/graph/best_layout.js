// The best layout by Graphviz among rows of several widths: large on the screen, with few crossings. Pure but for `viz`.
import { boxesOf, isClear } from "./clear.js";
import { crossings } from "./crossings.js";
import { dotLayout } from "./graphviz.js";
import { layersOf } from "./layers.js";
import { sizeOf } from "./sizes.js";

/** Numbers of nodes in a row that are tried: the first, then narrower rows for a wide drawing and wider rows for a high one. */
const FIRST = 6;
const NARROWER = [4, 3];
const WIDER = [9, 14];
/** Larger graphs are tried with one width, because Graphviz takes about a second for 200 nodes. */
const FEW = 90;
const WIDTH_OF_MANY = 12;
const LARGEST_SCALE = 1.15;
/** How much twice as many crossings count against the scale. */
const WEIGHT = 0.6;
/** Crossings up to this number count as few. */
const FEW_CROSSINGS = 4;

/** `room`: {width, height}. Returns `{positions, lines, rows, scale}`, or null without nodes. */
export function bestLayout(viz, nodes, edges, room) {
  if (!nodes.length) return null;
  const tried = (width, lowered) => {
    const rows = layersOf(nodes, edges, { width, lowered });
    const found = dotLayout(viz, nodes.map((node) => ({ ...node, row: rows.get(node.id) })), edges, { effort: nodes.length > FEW ? 1 : 4 });
    return { ...found, ...scaleOf(found.positions, nodes, room), rows: Object.fromEntries(rows) };
  };
  if (nodes.length > FEW) return onlyClear(tried(WIDTH_OF_MANY, true), nodes, edges);
  const first = [true, false].map((lowered) => tried(FIRST, lowered));
  const others = (first[0].isWide ? NARROWER : WIDER).flatMap((width) => [true, false].map((lowered) => tried(width, lowered)));
  return onlyClear(choose([...first, ...others], edges), nodes, edges);
}

function choose(layouts, edges) {
  const counts = layouts.map(({ positions, lines }) =>
    crossings(edges.map((edge) => ({ ...edge, points: [positions[edge.source], ...(lines[edge.id] ?? []), positions[edge.target]] }))));
  const least = Math.max(FEW_CROSSINGS, Math.min(...counts));
  const worth = ({ scale }, at) => scale / (1 + WEIGHT * (Math.max(counts[at], least) / least - 1));
  return layouts.reduce((best, layout, at) => (worth(layout, at) > worth(best, layouts.indexOf(best)) ? layout : best));
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
