// How verdicts are drawn: one table of encodings for the Cytoscape style sheet and for the legend.
//
// Fill: confidence. Ring: votes, clockwise from the top: passed, failed, unread, still to come. Border: a person's verdict.
// Shape: kind. Faded: retired or merged. Thick accent path: what the selected proof rests on. Sign ≠: the formula check
// refuted a formula in it.

const RAMP = [0, 1, 2, 3, 4];
const SIZE = { lemma: [44, 44], human: [50, 46], problem: [124, 36], proof: [88, 36], candidate: [50, 50], pair: [56, 40], memory: [96, 34] };
const SHAPE = { lemma: "ellipse", human: "round-hexagon", problem: "rectangle", proof: "round-rectangle", candidate: "ellipse", pair: "diamond", memory: "round-rectangle" };
const RINGED = "node.lemma, node.human, node.candidate";

/** Label sizes from a zoom on: at a smaller zoom labels grow as far as a node has room. */
const LABEL_SIZES = [[0.66, 13], [0.5, 16], [0, 20]];
const SMALLEST_LABEL = 8; // Smaller labels are not drawn; the tooltip has their text.

/** The size of labels at a zoom, chosen to be readable on the screen. */
export function labelSizeAt(zoom) {
  return LABEL_SIZES.find(([least]) => zoom >= least)[1];
}

/** The class of the fill: a step of the ramp, `unread` where votes gave no result, `unverified` before. */
export function fillClass(node) {
  if (["problem", "pair", "memory"].includes(node.kind)) return "plain";
  if (node.confidence !== null) return `ramp${Math.min(4, Math.floor(node.confidence * 5))}`;
  return node.unscored ? "unread" : "unverified";
}

/** All classes of a node's drawing. */
export function nodeClasses(node) {
  const classes = [node.kind, fillClass(node)];
  if (node.human) classes.push(`human-${node.human}`);
  if (node.check === "refuted") classes.push("refuted");
  if (node.status === "retired" || node.status === "merged") classes.push("faded");
  return classes;
}

/** Cytoscape's data of a node; `pass`, `fail` and `unread` are parts of the ring in percent. */
export function nodeData(node, { rollouts = 1 } = {}) {
  const of = Math.max(node.expected, node.total, 1);
  const name = node.kind === "lemma" && rollouts > 1 ? `s${node.rollout}.${node.label}` : node.label;
  const label = node.found_by > 1 ? `${name}\n×${node.found_by}` : name;
  return {
    id: node.id,
    label,
    pass: (100 * node.passes) / of,
    fail: (100 * (node.valid - node.passes)) / of,
    unread: (100 * (node.total - node.valid)) / of,
  };
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

function hatch(tokens) {
  const lines = `<path d="M-2 2 2-2M0 8 8 0M6 10 10 6" stroke="${tokens["hatch-line"]}" stroke-width="1.2"/>`;
  const tile = `<pattern id="h" width="8" height="8" patternUnits="userSpaceOnUse">${lines}</pattern>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="96" height="96"><defs>${tile}</defs><rect width="96" height="96" fill="url(#h)"/></svg>`;
  return `data:image/svg+xml;utf8,${encodeURIComponent(svg)}`;
}

/** The place of a sign: over the upper right edge of a node. */
const CORNER = {
  "background-position-x": "100%", "background-position-y": "0%", "background-width": "18px", "background-height": "18px",
  "background-offset-x": "5px", "background-offset-y": "-5px", "background-fit": "none", "background-clip": "none",
  "background-image-containment": "over", "bounds-expansion": 6,
};
const OF_THE_HATCH = {
  "background-position-x": "50%", "background-position-y": "50%", "background-width": "auto", "background-height": "auto",
  "background-offset-x": "0px", "background-offset-y": "0px", "background-fit": "none", "background-clip": "node",
  "background-image-containment": "inside",
};

/** The style of a second image on top of the hatching. */
function overHatch(style) {
  const both = Object.entries(OF_THE_HATCH).map(([name, value]) => [name, [value, style[name]]]);
  return { ...style, ...Object.fromEntries(both) };
}

/** The sign ≠ on a disc. */
function badge(tokens) {
  const disc = `<circle cx="10" cy="10" r="9" fill="${tokens.paper}" stroke="${tokens.bad}" stroke-width="1.6"/>`;
  const sign = `<path d="M5.5 8h9M5.5 12h9M12.6 5 7.4 15" stroke="${tokens.bad}" stroke-width="1.6" fill="none"/>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20">${disc}${sign}</svg>`;
  return `data:image/svg+xml;utf8,${encodeURIComponent(svg)}`;
}

/** The Cytoscape style sheet for the colours in `tokens`; `far` leaves out what is too small to see and slow to draw. */
export function styleSheet(tokens, { far = false, labelSize = LABEL_SIZES[0][1] } = {}) {
  const sheet = [...nodeStyles(tokens, labelSize), ...edgeStyles(tokens)];
  if (!far) return [...sheet, ...stateStyles(tokens)];
  const plain = [
    { selector: RINGED, style: { "pie-size": 0, label: "" } },
    { selector: "node.unverified, node.unverified.refuted", style: { "background-image": "none", "background-color": tokens.line } },
    { selector: "edge", style: { "target-arrow-shape": "none", opacity: 1 } },
  ];
  return [...sheet.filter(({ style }) => !("pie-hole" in style)), ...plain, ...stateStyles(tokens)];
}

function nodeStyles(t, labelSize) {
  const base = {
    label: "data(label)", "text-wrap": "wrap", "text-valign": "center", "text-halign": "center", "font-size": labelSize,
    "font-family": t.sans, "min-zoomed-font-size": SMALLEST_LABEL, color: t.ink, width: SIZE.lemma[0], height: SIZE.lemma[1],
    "background-color": t.surface, "border-width": 1, "border-color": t["line-strong"], "line-height": 1.05,
    "transition-property": "opacity", "transition-duration": 120,
  };
  const ring = {
    "pie-size": "100%", "pie-hole": "84%", "pie-1-background-size": "data(pass)", "pie-1-background-color": t.ink,
    "pie-2-background-size": "data(fail)", "pie-2-background-color": t["line-strong"],
    "pie-3-background-size": "data(unread)", "pie-3-background-color": t.line,
  };
  const styles = [{ selector: "node", style: base }, { selector: RINGED, style: ring }];
  for (const [kind, [width, height]] of Object.entries(SIZE)) {
    styles.push({ selector: `node.${kind}`, style: { shape: SHAPE[kind], width, height } });
  }
  for (const step of RAMP) {
    styles.push({ selector: `node.ramp${step}`, style: { "background-color": t[`ramp-${step}`], color: t[`on-ramp-${step}`] } });
  }
  const image = { "background-image": hatch(t), "background-fit": "none", "background-clip": "node" };
  const sign = badge(t);
  return [
    ...styles,
    { selector: "node.plain", style: { "background-color": t.paper, "font-size": Math.max(14, labelSize) } },
    { selector: "node.unverified", style: { "background-color": t.paper, ...image } },
    { selector: "node.unread", style: { "background-color": t.line, "border-style": "dotted", "border-width": 2 } },
    { selector: "node.refuted", style: { ...CORNER, "background-image": sign } },
    { selector: "node.unverified.refuted", style: { ...overHatch(CORNER), "background-image": [image["background-image"], sign] } },
    { selector: "node.human-accepted", style: { "border-width": 3, "border-style": "solid", "border-color": t.good } },
    { selector: "node.human-rejected", style: { "border-width": 5, "border-style": "double", "border-color": t.bad } },
    { selector: "node.human-disputed", style: { "border-width": 3, "border-style": "dashed", "border-color": t.warn } },
    { selector: "node.faded", style: { opacity: 0.45 } },
  ];
}

function edgeStyles(t) {
  const base = {
    width: 1.2, "line-color": t["line-strong"], "curve-style": "straight", "target-arrow-shape": "triangle",
    "target-arrow-color": t["line-strong"], "arrow-scale": 0.7, opacity: 0.75,
  };
  const accent = { width: 3, "line-color": t.accent, "target-arrow-color": t.accent, opacity: 1, "z-index": 5 };
  return [
    { selector: "edge", style: base },
    { selector: "edge.bent", style: {
      "curve-style": "unbundled-bezier", "control-point-distances": "data(bend)", "control-point-weights": 0.5,
    } },
    { selector: "edge.corrects, edge.revises", style: { "line-style": "dashed", "target-arrow-shape": "vee" } },
    { selector: "edge.loses", style: { "line-style": "dotted", opacity: 0.6 } },
    { selector: "edge.merges", style: { "line-style": "dotted", "target-arrow-shape": "none" } },
    { selector: "edge.redundant", style: { display: "none" } },
    { selector: "edge.contributes", style: accent },
    { selector: "node.contributes", style: { "underlay-color": t.accent, "underlay-opacity": 0.28, "underlay-padding": 6 } },
    { selector: "node.contributes.lemma, node.contributes.human, node.contributes.candidate", style: { "underlay-shape": "ellipse" } },
  ];
}

function stateStyles(t) {
  const selected = { "outline-width": 3, "outline-color": t.accent, "outline-offset": 3, "z-index": 10 };
  const near = { display: "element", "line-color": t.ink, "target-arrow-color": t.ink, width: 2, opacity: 1, "z-index": 8 };
  return [
    { selector: "edge.near", style: near },
    { selector: "edge.contributes.near", style: { "line-color": t.accent, "target-arrow-color": t.accent, width: 4 } },
    { selector: ".outside", style: { opacity: 0.14, "text-opacity": 0, "underlay-opacity": 0 } },
    { selector: "edge.outside.near", style: { opacity: 0.4, width: 1.2 } },
    { selector: "node.hover", style: { "outline-width": 1, "outline-color": t.muted, "outline-offset": 3 } },
    { selector: "node.pulse", style: { "outline-width": 6, "outline-color": t.accent, "outline-opacity": 0.5 } },
    { selector: "node.chosen", style: selected },
    { selector: "node.fresh", style: { opacity: 0 } },
    { selector: ".unborn", style: { display: "none" } },
  ];
}

// The legend uses the same classes; graph.css gives the swatches the same tokens.
export const LEGEND = [
  ["Confidence (fill)", [
    ["ramp ramp--0", "0–20 %"], ["ramp ramp--1", "20–40 %"], ["ramp ramp--2", "40–60 %"], ["ramp ramp--3", "60–80 %"],
    ["ramp ramp--4", "80–100 %"], ["ramp ramp--none", "not yet verified"], ["key key--unread", "votes could not be read"],
  ]],
  ["Votes (ring)", [["key key--ring", "passed, failed, unread; the gap is still to come"]]],
  ["A person's verdict (border)", [
    ["key key--accepted", "accepted"], ["key key--rejected", "rejected"], ["key key--disputed", "disputed"],
  ]],
  ["Formula check (sign)", [["key key--refuted", "a formula in it is refuted; not part of the confidence"]]],
  ["Kind (shape)", [
    ["key key--lemma", "lemma; 1.7: lemma 7 of rollout 1; ×2: found by two rollouts; 7′: a correction"], ["key key--human", "lemma a person put in"],
    ["key key--box", "problem"], ["key key--proof", "proof version"], ["key key--faded", "retired or merged"],
  ]],
  ["Lines", [
    ["key key--uses", "is used by"], ["key key--path", "the selected proof rests on it"],
    ["key key--corrects", "corrected or revised to"], ["key key--merges", "merged into"],
  ]],
];

const FILL = LEGEND[0][1].slice(0, 5);
const LINEAGE_LEGEND = [
  ["Mean score, or share of passed checks (fill)", [...FILL, ["ramp ramp--none", "not yet judged"], ["key key--unread", "could not be read"]]],
  ["Reports and checks (ring)", [["key key--ring", "full score or passed, less or failed, unread; the gap is still to come"]]],
  ["Kind (shape)", [["key key--lemma", "solution; 2.5: the fifth of round 2"], ["key key--pair", "pair of the knock-out, with its winner"], ["key key--box", "problem"], ["key key--proof", "what is remembered after a round of evolution"]]],
  ["Lines", [["key key--uses", "went into, or was shown to"], ["key key--path", "the result comes from it"], ["key key--merges", "lost the pair"]]],
];

/** Fill `element` with the legend of a graph of lemmas, or of solutions. */
export function drawLegend(element, noun = "lemma") {
  const groups = (noun === "solution" ? LINEAGE_LEGEND : LEGEND).map(([title, entries]) => {
    const group = document.createElement("div");
    const heading = document.createElement("p");
    heading.className = "legend__title";
    heading.textContent = title;
    const list = document.createElement("ul");
    for (const [swatch, words] of entries) {
      const item = document.createElement("li");
      const mark = document.createElement("span");
      mark.className = swatch;
      item.append(mark, ` ${words}`);
      list.append(item);
    }
    group.append(heading, list);
    return group;
  });
  element.replaceChildren(...groups);
}
