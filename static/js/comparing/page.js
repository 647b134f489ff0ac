// The difference of two lemma graphs in one drawing, with a list of the changes as text.
//
// Change: sign, border and fill. + and solid: added. − and dashed: gone. → and double: another verdict. Plain: in both; filled
// and plain: in both from before the fork.
import cytoscape from "../../vendor/cytoscape/cytoscape.esm.min.mjs";
import { fetchPart } from "../fetch_part.js";
import { arrange } from "../graph/arrange.js";
import { fitted } from "../graph/labels.js";
import { adopt, createLayout, place } from "../graph/layout.js";
import { segmentsOf } from "../graph/lines.js";
import { sizeOf } from "../graph/sizes.js";

const SIGNS = { added: "+ ", gone: "− ", verdict: "→ ", same: "" };
const SHAPES = { problem: "rectangle", human: "cut-rectangle" };
const LABEL = { size: 12, lines: 2 };
const PADDING = 24;
const LARGEST_FIT = 1.2;
/** Up to this size Graphviz lays out the graph, as in graph/view.js. */
const LARGE = 300;
const ARRANGE_MS = 6000;
const OWN_STYLE = "__________cytoscape_stylesheet"; // Cytoscape would add a <style> element, which our CSP forbids.
const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

const nameOf = (node) => (node.kind === "lemma" || node.kind === "human" ? node.id.replace("before:", "") : node.label);

function labelOf(node) {
  const words = node.change === "verdict" ? node.now.split(",")[0] : node.title;
  return fitted(`${SIGNS[node.change]}${nameOf(node)} ${words ?? ""}`.trim(), sizeOf(node)[0], LABEL, token("sans"));
}

function styleSheet() {
  const [ink, muted, line, paper] = ["ink", "muted", "line", "paper"].map(token);
  const of = (selector, style) => ({ selector, style });
  const changed = (name, tint, border) => [
    of(`node.${name}`, { "background-color": token(`${tint}-tint`), "border-color": token(tint), "border-style": border, "border-width": border === "double" ? 5 : 2 }),
    of(`edge.${name}`, { "line-color": token(tint), "target-arrow-color": token(tint), "line-style": border === "dashed" ? "dashed" : "solid" }),
  ];
  return [
    of("node", { label: "data(label)", "text-wrap": "wrap", "text-valign": "center", "font-size": LABEL.size, "font-family": token("sans"), color: ink, shape: "round-rectangle", width: "data(width)", height: "data(height)", "background-color": paper, "border-width": 1, "border-color": muted }),
    ...Object.entries(SHAPES).map(([kind, shape]) => of(`node.${kind}`, { shape })),
    of("node.trunk", { "background-color": line }),
    of("edge", { width: 1.4, "line-color": muted, "curve-style": "straight", "target-arrow-shape": "triangle", "target-arrow-color": muted, "arrow-scale": 0.8, opacity: 0.7 }),
    of("edge.led", {
      "curve-style": "round-segments", "edge-distances": "node-position", "segment-radii": 10,
      "segment-weights": (edge) => edge.data("weights"), "segment-distances": (edge) => edge.data("distances"),
    }),
    ...changed("added", "good", "solid"),
    ...changed("gone", "bad", "dashed"),
    ...changed("verdict", "warn", "double"),
    of("edge.corrects, edge.revises", { "target-arrow-shape": "vee" }),
    of("edge.merges", { "line-style": "dotted" }),
    of("node:selected", { "overlay-color": token("accent"), "overlay-opacity": 0.2 }),
  ];
}

async function elementsOf(graph, room) {
  const known = new Set(graph.nodes.map(({ id }) => id));
  const edges = graph.edges.filter(({ source, target }) => known.has(source) && known.has(target));
  const layout = createLayout();
  place(layout, graph.nodes, edges);
  const found = graph.nodes.length <= LARGE ? await arrange(graph.nodes, edges, room, ARRANGE_MS) : null;
  if (found) adopt(layout, found, edges);
  const boxes = graph.nodes.map((node) => ({
    group: "nodes", data: { id: node.id, label: labelOf(node), width: sizeOf(node)[0], height: sizeOf(node)[1] }, position: { ...layout.position.get(node.id) },
    classes: [node.kind, node.change, node.trunk ? "trunk" : ""].filter(Boolean),
  }));
  const lines = edges.map((edge) => {
    const led = segmentsOf(layout, edge);
    return { group: "edges", data: { id: edge.id, source: edge.source, target: edge.target, ...led }, classes: [edge.kind, edge.change, ...(led ? ["led"] : [])] };
  });
  return [...boxes, ...lines];
}

/** Words of a change, for the list and the panel. */
function wordsOf(node, before, after) {
  return {
    added: `added, only in ${after}: ${node.now}`, gone: `gone, only in ${before}: ${node.was}`,
    verdict: `${before}: ${node.was} → ${after}: ${node.now}`, same: `in both: ${node.now}`,
  }[node.change];
}

const capitalised = (words) => words[0].toUpperCase() + words.slice(1);

class DifferencePage {
  constructor(root) {
    this.root = root;
    this.part = (name) => root.querySelector(`[data-part="${name}"]`);
  }

  async open() {
    const answer = await fetch(this.root.dataset.url, { headers: { Accept: "application/json" } });
    const graph = await answer.json();
    if (!answer.ok) throw new Error(graph.detail ?? `the server answered ${answer.status}`);
    this.nodes = new Map(graph.nodes.map((node) => [node.id, node]));
    this.#count(graph);
    this.#list(graph);
    await this.#draw(graph);
  }

  #count({ counts }) {
    const of = (name) => (counts[name] ?? 0).toLocaleString("en");
    const { before, after } = this.root.dataset;
    this.part("counts").textContent = `Common trunk: ${of("trunk")}. In both: ${of("same")} unchanged, ${of("verdict")} with another verdict. `
      + `Only in ${after}: ${of("added")}. Only in ${before}: ${of("gone")}. Proofs are counted too.`;
  }

  #list(graph) {
    const { before, after } = this.root.dataset;
    const changed = graph.nodes.filter((node) => node.change !== "same");
    this.part("list").replaceChildren(...changed.map((node) => {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: nameOf(node) });
      button.addEventListener("click", () => this.choose(node.id, { reveal: true }));
      const item = document.createElement("li");
      item.append(button, ` ${wordsOf(node, before, after)}`);
      return item;
    }));
    if (!changed.length) this.part("list").textContent = "The graphs do not differ.";
  }

  async #draw(graph) {
    if (!document.getElementById(OWN_STYLE)) document.head.append(Object.assign(document.createElement("template"), { id: OWN_STYLE }));
    const canvas = this.part("canvas");
    const elements = await elementsOf(graph, { width: canvas.clientWidth - 2 * PADDING, height: canvas.clientHeight - 2 * PADDING });
    this.cy = cytoscape({
      container: canvas, elements, layout: { name: "preset" }, style: styleSheet(), autoungrabify: true,
      boxSelectionEnabled: false, minZoom: 0.05, maxZoom: 3,
    });
    this.cy.on("tap", "node", (event) => this.choose(event.target.id()));
    this.fit();
    document.addEventListener("themechange", () => this.cy.style().fromJson(styleSheet()).update());
    this.root.querySelector("[data-fit]").addEventListener("click", () => this.fit());
    for (const button of this.root.querySelectorAll("[data-zoom]")) {
      const middle = () => ({ x: this.cy.width() / 2, y: this.cy.height() / 2 });
      button.addEventListener("click", () => this.cy.zoom({ level: this.cy.zoom() * Number(button.dataset.zoom), renderedPosition: middle() }));
    }
  }

  fit() {
    this.cy.fit(undefined, PADDING);
    if (this.cy.zoom() > LARGEST_FIT) {
      this.cy.zoom(LARGEST_FIT);
      this.cy.center();
    }
  }

  /** Select a node and show its lemma or proof in the panel, under the words of its change. */
  async choose(id, { reveal = false } = {}) {
    const node = this.nodes.get(id);
    const drawn = this.cy.getElementById(id);
    this.cy.elements().unselect();
    drawn.select();
    const box = drawn.renderedBoundingBox();
    const isSeen = box.x1 >= 0 && box.y1 >= 0 && box.x2 <= this.cy.width() && box.y2 <= this.cy.height();
    if (reveal && !isSeen) this.cy.center(drawn);
    const { before, after } = this.root.dataset;
    const head = Object.assign(document.createElement("p"), { className: "notice", textContent: capitalised(wordsOf(node, before, after)) });
    if (node.change === "verdict") {
      head.append(" ", Object.assign(document.createElement("a"), { href: node.before_url, textContent: `Read it in ${before}` }));
    }
    const body = document.createElement("div");
    this.part("panel").replaceChildren(head, body);
    const url = node.url || node.before_url;
    if (url) await fetchPart(url, body).catch(() => {}); // The site's script reports an unreachable server.
  }
}

const root = document.querySelector("[data-difference]");
if (root) {
  const page = new DifferencePage(root);
  page.open().catch((reason) => {
    page.part("counts").textContent = `The difference could not be drawn (${reason.message}). Load the page again to retry.`;
  });
}
