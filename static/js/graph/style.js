// How nodes and lines are drawn, as a Cytoscape style sheet.
//
// From far away a node is a mark filled with its confidence. Nearer it is a box with its title, a stripe for the confidence and a
// bar for the votes (marks.js). Border: a person's verdict. Shape: kind. Faded: retired or merged. Thick accent path: what the
// selected proof rests on. Signs: ✕ rejected, ≠ the formula check refuted a formula in it.
import { fitted, labelStep, NEAR } from "./labels.js";
import { markOf, SIGN } from "./marks.js";
import { HEIGHT, sizeOf } from "./sizes.js";

const RAMP = [0, 1, 2, 3, 4];
const KINDS = ["lemma", "human", "problem", "proof", "cluster", "candidate", "pair", "memory"];
const SHAPE = { human: "cut-rectangle", problem: "rectangle", pair: "diamond" };
/** Lines with more points have plain corners. */
const MOST_ROUND = 24;
const WITHOUT_VOTES = ["problem", "pair", "memory"];

/** The class of the fill: a step of the ramp, `unread` where votes gave no result, `unverified` before. */
export function fillClass(node) {
  if (WITHOUT_VOTES.includes(node.kind)) return "plain";
  if (node.confidence !== null) return `ramp${Math.min(4, Math.floor(node.confidence * 5))}`;
  return node.unscored ? "unread" : "unverified";
}

/** All classes of a node's drawing. */
export function nodeClasses(node) {
  const classes = [node.kind, fillClass(node)];
  if (node.human) classes.push(`human-${node.human}`);
  if (node.status === "retired" || node.status === "merged") classes.push("faded");
  return classes;
}

/** Cytoscape's data of a node; `pass`, `fail` and `unread` are parts of the votes in percent. */
export function nodeData(node, { rollouts = 1 } = {}) {
  const of = Math.max(node.expected, node.total, 1);
  const [width, height] = sizeOf(node);
  const signs = [node.status === "rejected" ? "rejected" : "", node.check === "refuted" ? "refuted" : ""].filter(Boolean);
  return {
    id: node.id, width, height, signs: signs.join(" "), signed: signs.length, fill: fillClass(node), text: textOf(node, rollouts),
    pass: (100 * node.passes) / of, fail: (100 * (node.valid - node.passes)) / of, unread: (100 * (node.total - node.valid)) / of,
  };
}

function textOf(node, rollouts) {
  const name = node.kind === "lemma" && rollouts > 1 ? `s${node.rollout}.${node.label}` : node.label;
  return [name, node.found_by > 1 ? `×${node.found_by}` : "", node.title].filter(Boolean).join(" ");
}

/** Colours and fonts of the current theme's tokens. */
export function readTokens(element = document.documentElement) {
  const style = getComputedStyle(element);
  const token = (name) => style.getPropertyValue(`--${name}`).trim();
  const names = ["paper", "surface", "ink", "muted", "line", "line-strong", "accent", "accent-tint", "hatch-line", "good", "warn",
    "bad", "sans"];
  for (const step of RAMP) names.push(`ramp-${step}`, `on-ramp-${step}`);
  return Object.fromEntries(names.map((name) => [name, token(name)]));
}

/** The Cytoscape style sheet for the colours in `tokens`, at a zoom. */
export function styleSheet(tokens, zoom = 1) {
  const step = labelStep(zoom);
  return [...(step ? boxStyles(tokens, step) : farStyles(tokens)), ...nodeStyles(tokens), ...edgeStyles(tokens, !step ? 1.6 : step.least >= NEAR ? 0.5 : 1, !step), ...stateStyles(tokens)];
}

function boxStyles(t, step) {
  const label = (node) => fitted(node.data("text"), node.data("width") - SIGN * node.data("signed"), step, t.sans);
  const mark = (node) => markOf(t, node.data());
  const base = {
    label, "text-wrap": "wrap", "text-valign": "center", "text-halign": "center", "text-justification": "left", "text-margin-x": (node) => 2 - (SIGN / 2) * node.data("signed"),
    "text-margin-y": -1, "font-size": step.size, "font-family": t.sans, color: t.ink, "line-height": 1.08,
    "background-color": t.paper, "background-image": mark, "background-fit": "none", "background-width": "100%",
    "background-height": "100%", "background-clip": "node",
  };
  return [{ selector: "node", style: { ...base, ...shared(t) } }];
}

function farStyles(t) {
  const ramp = RAMP.map((step) => ({ selector: `node.ramp${step}`, style: { "background-color": t[`ramp-${step}`] } }));
  return [
    { selector: "node", style: { "background-color": t.line, ...shared(t) } },
    ...ramp,
    { selector: "node.problem, node.proof", style: { "background-color": t.ink } },
  ];
}

const shared = (t) => ({
  shape: "round-rectangle", width: "data(width)", height: HEIGHT, "border-width": 1, "border-color": t["line-strong"],
  "transition-property": "opacity", "transition-duration": 120,
});

function nodeStyles(t) {
  const shapes = KINDS.filter((kind) => SHAPE[kind]).map((kind) => ({ selector: `node.${kind}`, style: { shape: SHAPE[kind] } }));
  return [
    ...shapes,
    { selector: "node.problem", style: { "border-width": 2, "border-color": t.ink } },
    { selector: "node.proof", style: { "border-width": 2, "border-color": t.accent } },
    { selector: "node.cluster", style: { "border-width": 3, "border-style": "double" } },
    { selector: "node.unread", style: { "border-style": "dotted", "border-width": 2 } },
    { selector: "node.human-accepted", style: { "border-width": 3, "border-style": "solid", "border-color": t.good } },
    { selector: "node.human-rejected", style: { "border-width": 5, "border-style": "double", "border-color": t.bad } },
    { selector: "node.human-disputed", style: { "border-width": 3, "border-style": "dashed", "border-color": t.warn } },
    { selector: "node.faded", style: { opacity: 0.45 } },
  ];
}

/** `thick` scales the lines against the zoom. */
function edgeStyles(t, thick, isFar) {
  const base = {
    width: 1.2 * thick, "line-color": t["line-strong"], "curve-style": "straight", "target-arrow-shape": isFar ? "none" : "triangle",
    "target-arrow-color": t["line-strong"], "arrow-scale": 0.7 * Math.max(0.7, thick), opacity: isFar ? 0.35 : 0.75,
  };
  const accent = { width: 3 * thick, "line-color": t.accent, "target-arrow-color": t.accent, opacity: 1, "z-index": 5 };
  return [
    { selector: "edge", style: base },
    { selector: "edge.led", style: {
      // Cytoscape rounds sharp turns far away from the line, and lines with many points have such turns.
      "curve-style": (edge) => (edge.data("weights").length > MOST_ROUND ? "segments" : "round-segments"),
      "edge-distances": "node-position", "segment-radii": 10,
      "segment-weights": (edge) => edge.data("weights"), "segment-distances": (edge) => edge.data("distances"),
    } },
    { selector: "edge.corrects, edge.revises", style: { "line-style": "dashed" } },
    { selector: "edge.loses", style: { "line-style": "dotted", opacity: 0.6 } },
    { selector: "edge.merges", style: { "line-style": "dotted", "target-arrow-shape": "none" } },
    { selector: "edge.redundant", style: { display: "none" } },
    { selector: "edge.contributes", style: accent },
    { selector: "node.contributes", style: { "underlay-color": t.accent, "underlay-opacity": 0.28, "underlay-padding": 4 * thick } },
  ];
}

function stateStyles(t) {
  const selected = { "outline-width": 3, "outline-color": t.accent, "outline-offset": 3, "z-index": 10 };
  const near = { display: "element", "line-color": t.ink, "target-arrow-color": t.ink, width: 2, opacity: 1, "z-index": 8 };
  return [
    { selector: "edge.near", style: near },
    { selector: "edge.contributes.near", style: { "line-color": t.accent, "target-arrow-color": t.accent, width: 4 } },
    { selector: "node.found", style: { "outline-width": 3, "outline-color": t.warn, "outline-offset": 2 } },
    { selector: ".outside", style: { opacity: 0.16 } },
    { selector: "node.hover", style: { "outline-width": 1, "outline-color": t.muted, "outline-offset": 3 } },
    { selector: "node.pulse", style: { "outline-width": 6, "outline-color": t.accent, "outline-opacity": 0.5 } },
    { selector: "node.chosen", style: selected },
    { selector: "node.fresh", style: { opacity: 0 } },
    { selector: ".unborn, .hidden", style: { display: "none" } },
  ];
}
