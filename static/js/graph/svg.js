// The drawing as SVG: all kinds of lines, boxes with titles, colours of the current theme. Pure but for the view that it reads.
import { fitted, labelStep } from "./labels.js";
import { lineOf } from "./layout.js";
import { markOf, SIGN } from "./marks.js";
import { readTokens } from "./style.js";

const MARGIN = 20;
const DASHES = { corrects: "6 4", revises: "6 4", merges: "1.5 4", loses: "1.5 4" };
const VERDICTS = { accepted: "good", rejected: "bad", disputed: "warn" };
const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text) => text.replace(/[&<>"]/g, (sign) => ESCAPES[sign]);

/** SVG of what `view` shows, titles included, whatever the zoom. */
export function svgOf(view) {
  const t = readTokens();
  const nodes = view.cy.nodes(":visible").toArray();
  const box = view.cy.nodes(":visible").boundingBox({ includeLabels: false, includeUnderlays: false });
  const lines = view.cy.edges(":visible").map((edge) => lineSvg(view, edge, t));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${box.x1 - MARGIN} ${box.y1 - MARGIN} ${box.w + 2 * MARGIN} ${box.h + 2 * MARGIN}" font-family="${escaped(t.sans)}" font-size="12">`,
    `<rect x="${box.x1 - MARGIN}" y="${box.y1 - MARGIN}" width="100%" height="100%" fill="${t.paper}"/>`,
    `<defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="context-stroke"/></marker></defs>`,
    ...lines, ...nodes.map((node) => nodeSvg(view, node, t)), "</svg>",
  ].join("\n");
}

function lineSvg(view, edge, t) {
  const { id, source, target } = edge.data();
  const [from, to] = [edge.source().position(), edge.target().position()];
  const inner = [[from.x, from.y], ...lineOf(view.layout, { id, source, target })];
  const points = [...inner, atBorder(inner.at(-1), to, edge.target().data())];
  const kind = view.graph.edges.get(id)?.kind ?? "uses";
  const dash = DASHES[kind] ? ` stroke-dasharray="${DASHES[kind]}"` : "";
  const isPath = edge.hasClass("contributes");
  const path = points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
  return `<polyline points="${path}" fill="none" stroke="${isPath ? t.accent : t["line-strong"]}" stroke-width="${isPath ? 3 : 1.2}"${dash}${kind === "merges" ? "" : ' marker-end="url(#end)"'}><title>${escaped(`${source} ${kind} ${target}`)}</title></polyline>`;
}

/** Where the line from a point to the centre `to` meets the border of the box. */
function atBorder([x, y], to, { width, height }) {
  const [dx, dy] = [to.x - x, to.y - y];
  const part = Math.min(width / 2 / (Math.abs(dx) || 1e-9), height / 2 / (Math.abs(dy) || 1e-9), 1);
  return [to.x - dx * part, to.y - dy * part];
}

function nodeSvg(view, node, t) {
  const { id, text, width, height } = node.data();
  const { x, y } = node.position();
  const rows = fitted(text, width - SIGN * node.data("signed"), labelStep(1), t.sans).split("\n");
  const words = rows.map((row, at) => `<tspan x="${x + 3}" y="${(y + 4 + (at - (rows.length - 1) / 2) * 13).toFixed(1)}">${escaped(row)}</tspan>`);
  const [left, top] = [x - width / 2, y - height / 2];
  const verdict = Object.keys(VERDICTS).find((name) => node.hasClass(`human-${name}`));
  const border = verdict
    ? `stroke="${t[VERDICTS[verdict]]}" stroke-width="3"${verdict === "disputed" ? ' stroke-dasharray="5 3"' : ""}`
    : node.hasClass("contributes") ? `stroke="${t.accent}" stroke-width="2"` : `stroke="${t["line-strong"]}"`;
  return [
    `<g opacity="${node.hasClass("faded") ? 0.45 : 1}"><title>${escaped(view.graph.nodes.get(id)?.statement ?? text)}</title>`,
    `<rect x="${left}" y="${top}" width="${width}" height="${height}" rx="4" fill="${t.paper}" ${border}/>`,
    `<image x="${left}" y="${top}" width="${width}" height="${height}" href="${escaped(markOf(t, node.data()))}"/>`,
    `<text text-anchor="middle" fill="${t.ink}">${words.join("")}</text></g>`,
  ].join("");
}
