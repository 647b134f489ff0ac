// GraphView: the drawing of a lemma graph, a thin layer over Cytoscape's canvas. It knows nodes, edges and positions, and
// nothing of addresses, panels or the network. Nodes never move once they have been shown for a moment (young.js), except by `tidy` and `untidy`.
import cytoscape from "../../vendor/cytoscape/cytoscape.esm.min.mjs";
import { focusSet, neighbours } from "./focus.js";
import { bow, createLayout, place, tidy } from "./layout.js";
import { labelSizeAt, nodeClasses, nodeData, readTokens, styleSheet } from "./style.js";
import { reopen, Young } from "./young.js";

const PADDING = 28;
const LARGEST_FIT = 1.15;
const READABLE = 0.5; // Labels are 8 px at this zoom.
const FEW = 40;
const TIDY_MS = 400;
const FADE_MS = 200;
const PULSE_MS = 700;
const MANY = 600;
const LARGE = 400;
const FAR_ZOOM = 0.5;

// Cytoscape adds a <style> element unless this id exists; our CSP forbids that, and graph.css says the same.
const OWN_STYLE = "__________cytoscape_stylesheet";

const DRAWN = ["status", "confidence", "passes", "valid", "total", "expected", "unscored", "human", "found_by", "check"];
/** Are two states of a node drawn alike? */
const sameDrawing = (node, other) => Boolean(other) && DRAWN.every((name) => node[name] === other[name]);

const motionReduced = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export class GraphView {
  /** Draw into `container`, an element with a size. */
  constructor(container) {
    this.graph = { nodes: new Map(), edges: new Map(), contributing: new Set(), redundant: new Set(), frontier: [] };
    this.layout = createLayout();
    this.young = new Young();
    this.rollouts = 1;
    this.selected = "";
    this.focusing = { mode: "all" };
    this.far = false;
    this.labelSize = labelSizeAt(1);
    this.listeners = { select: [], hover: [], viewport: [] };
    if (!document.getElementById(OWN_STYLE)) {
      document.head.append(Object.assign(document.createElement("template"), { id: OWN_STYLE }));
    }
    this.cy = cytoscape({
      container, style: styleSheet(readTokens()), autoungrabify: true, boxSelectionEnabled: false, selectionType: "single",
      minZoom: 0.04, maxZoom: 3, pixelRatio: "auto", hideEdgesOnViewport: false,
    });
    this.#listen(container);
  }

  /** Show `data` in an empty view. `tidied` lays it out as a whole instead of step by step. */
  setGraph(data, { tidied = false } = {}) {
    this.cy.elements().remove();
    this.graph = { nodes: new Map(), edges: new Map(), contributing: new Set(), redundant: new Set(), frontier: [] };
    this.layout = createLayout();
    this.#merge(data);
    this.young.clear();
    place(this.layout, [...this.graph.nodes.values()], data.edges);
    if (tidied) tidy(this.layout);
    this.#detail(this.graph.nodes.size > LARGE);
    this.cy.batch(() => this.cy.add(this.#elements([...this.graph.nodes.keys()], [...this.graph.edges.keys()])));
    this.#mark();
    this.fit();
  }

  /** Apply changes. Returns the ids of new nodes and of nodes whose verdict changed. */
  applyDelta(data) {
    const changed = data.nodes.filter((node) => this.graph.nodes.has(node.id)).map((node) => node.id);
    const voted = changed.filter((id) => this.graph.nodes.get(id).total !== data.nodes.find((node) => node.id === id).total);
    const newEdges = data.edges.filter((edge) => !this.graph.edges.has(edge.id));
    this.#merge(data);
    reopen(this.layout, this.young, newEdges);
    const placed = place(this.layout, [...this.graph.nodes.values()], data.edges);
    const added = placed.filter((id) => this.cy.getElementById(id).empty());
    this.young.add(added);
    this.cy.batch(() => {
      for (const id of placed) this.cy.getElementById(id).position({ ...this.layout.position.get(id) });
      this.cy.add(this.#elements(added, newEdges.map((edge) => edge.id)));
      this.#route(data.edges);
      if (placed.length > added.length) this.#bendAll();
      for (const id of changed) this.#redraw(id);
    });
    this.#mark();
    this.#appear(added);
    if (!motionReduced()) for (const id of voted) this.cy.getElementById(id).flashClass("pulse", PULSE_MS);
    return { added, voted };
  }

  /**
   * Show the graph at an earlier event: `then` has `nodes` and `edges` by id, `contributing`, `redundant` and `frontier`; null shows
   * the current graph. Every node keeps its place; later nodes are not drawn.
   */
  asOf(then) {
    this.present ??= this.graph;
    const before = this.graph.nodes;
    this.graph = then ?? this.present;
    if (!then) this.present = null;
    const voted = [];
    this.cy.batch(() => {
      for (const id of (this.present ?? this.graph).nodes.keys()) {
        const node = this.graph.nodes.get(id);
        this.cy.getElementById(id).toggleClass("unborn", !node);
        if (!node || sameDrawing(node, before.get(id))) continue;
        this.#redraw(id);
        if (before.has(id) && before.get(id).total < node.total) voted.push(id);
      }
      this.#route(this.graph.edges.values());
      this.cy.edges().forEach((edge) => {
        edge.toggleClass("unborn", !this.graph.edges.has(edge.id()));
      });
    });
    if (this.selected && !this.graph.nodes.has(this.selected)) this.selected = "";
    this.#mark();
    if (!motionReduced() && voted.length < FEW) for (const id of voted) this.cy.getElementById(id).flashClass("pulse", PULSE_MS);
  }

  /** Bring a part to the fore: `{mode, id, depth, round}` as in focus.js. Nodes keep their places. */
  focus(wanted = { mode: "all" }) {
    this.focusing = wanted;
    this.#mark();
  }

  /** The number of nodes in focus, without the problem. */
  get shown() {
    const inside = focusSet(this.graph, this.focusing);
    return inside ? inside.size - Number(inside.has("problem")) : this.graph.nodes.size - 1;
  }

  /** Select a node; listeners are called only if `notify` is set. */
  select(id, { notify = false, reveal = true } = {}) {
    if (id && !this.graph.nodes.has(id)) return false;
    this.selected = id;
    this.#mark();
    if (id && reveal) this.#reveal(id);
    if (notify) for (const listener of this.listeners.select) listener(id, this.graph.nodes.get(id));
    return true;
  }

  onSelect(listener) {
    this.listeners.select.push(listener);
  }

  /** `listener(node, place)` when the pointer is over a node, `listener(null)` when it has left. */
  onHover(listener) {
    this.listeners.hover.push(listener);
  }

  /** `listener()` when a person moved or zoomed the drawing. */
  onViewport(listener) {
    this.listeners.viewport.push(listener);
  }

  /** Lay out the whole graph again; the selected node keeps its place on the screen. `untidy` undoes it. */
  tidy() {
    tidy(this.layout);
    this.#move();
  }

  /** The layout as it grew, step by step: the same for all viewers. */
  untidy() {
    this.layout = createLayout();
    place(this.layout, [...this.graph.nodes.values()], [...this.graph.edges.values()]);
    this.#move();
  }

  /** Show all that is in focus. */
  fit(ids = null) {
    const focused = ids ?? focusSet(this.graph, this.focusing);
    const wanted = focused ? this.cy.nodes().filter((node) => focused.has(node.id())) : this.cy.nodes();
    this.cy.resize();
    if (!wanted.length || !this.cy.width()) return;
    this.cy.fit(wanted, PADDING);
    const least = wanted.length <= FEW ? READABLE : 0;
    const level = Math.max(least, Math.min(LARGEST_FIT, this.cy.zoom()));
    if (level !== this.cy.zoom()) {
      this.cy.zoom(level);
      this.cy.center(wanted);
    }
  }

  zoomBy(factor) {
    const middle = { x: this.cy.width() / 2, y: this.cy.height() / 2 };
    this.cy.zoom({ level: this.cy.zoom() * factor, renderedPosition: middle });
  }

  /** A PNG of the whole drawing, as a Blob. */
  exportPng() {
    return this.cy.png({ full: true, scale: 2, bg: readTokens().paper, output: "blob", maxWidth: 8000, maxHeight: 8000 });
  }

  /** Ids that `id` uses and that use it. */
  neighbours(id) {
    return neighbours(this.graph, id);
  }

  /** The next node of the same row, `step` to the right (or left); the node itself at the end. */
  inSameRow(id, step) {
    const at = this.layout.position.get(id);
    const row = [...(this.layout.rows.get(this.layout.row.get(id)) ?? [])].filter((other) => this.layout.position.has(other));
    row.sort((a, b) => this.layout.position.get(a).x - this.layout.position.get(b).x);
    return at ? (row[row.indexOf(id) + step] ?? id) : id;
  }

  /** The position of every node: {id: [x, y]}. */
  positions() {
    return Object.fromEntries(this.cy.nodes().map((node) => [node.id(), [node.position("x"), node.position("y")]]));
  }

  destroy() {
    document.removeEventListener("themechange", this.recolour);
    this.cy.destroy();
  }

  #listen(container) {
    this.cy.on("tap", (event) => this.select(event.target === this.cy || event.target.isEdge() ? "" : event.target.id(), {
      notify: true, reveal: false,
    }));
    this.cy.on("mouseover", "node", ({ target }) => {
      target.addClass("hover");
      container.style.cursor = "pointer";
      const node = this.graph.nodes.get(target.id());
      for (const listener of this.listeners.hover) listener(node, target.renderedBoundingBox());
    });
    this.cy.on("mouseout", "node", ({ target }) => {
      target.removeClass("hover");
      container.style.cursor = "";
      for (const listener of this.listeners.hover) listener(null);
    });
    this.cy.on("dragpan scrollzoom pinchzoom", () => {
      for (const listener of this.listeners.viewport) listener();
    });
    this.cy.on("zoom", () => this.#detail(this.cy.zoom() < FAR_ZOOM && this.graph.nodes.size > LARGE));
    this.recolour = () => this.cy.style().fromJson(styleSheet(readTokens(), this)).update();
    document.addEventListener("themechange", this.recolour);
  }

  /** Large graphs seen from far away are drawn without rings, hatching, labels and arrowheads; labels grow with the distance. */
  #detail(far) {
    const labelSize = labelSizeAt(this.cy.zoom());
    if (far === this.far && labelSize === this.labelSize) return;
    this.far = far;
    this.labelSize = labelSize;
    this.recolour();
  }

  #merge(data) {
    const several = data.rollouts > 1 !== this.rollouts > 1;
    this.rollouts = data.rollouts ?? this.rollouts;
    for (const node of data.nodes) this.graph.nodes.set(node.id, node);
    for (const edge of data.edges) this.graph.edges.set(edge.id, edge);
    this.graph.contributing = new Set(data.contributing);
    this.graph.redundant = new Set(data.redundant);
    this.graph.frontier = data.frontier;
    if (several) this.cy.batch(() => this.cy.nodes().forEach((node) => this.#redraw(node.id())));
  }

  #elements(nodeIds, edgeIds) {
    const nodes = nodeIds.map((id) => {
      const node = this.graph.nodes.get(id);
      return { group: "nodes", data: nodeData(node, this), classes: nodeClasses(node), position: { ...this.layout.position.get(id) } };
    });
    const edges = edgeIds.map((id) => this.graph.edges.get(id)).filter(
      (edge) => this.graph.nodes.has(edge.source) && this.graph.nodes.has(edge.target),
    );
    return [...nodes, ...edges.map(({ id, source, target, kind }) => {
      const bend = this.#bend(source, target);
      return { group: "edges", data: { id, source, target, bend }, classes: bend ? [kind, "bent"] : [kind] };
    })];
  }

  /** The distance of the control point, as Cytoscape counts it: twice the bow, positive to the left of a line going down. */
  #bend(source, target) {
    return Math.round(-2 * bow(this.layout, source, target));
  }

  /** Draw `edges` from their current sources: a lemma may have been merged since. */
  #route(edges) {
    for (const { id, source } of edges) {
      const drawn = this.cy.getElementById(id);
      if (drawn.empty() || drawn.data("source") === source) continue;
      drawn.move({ source });
      this.#bendOne(drawn);
    }
  }

  #bendAll() {
    this.cy.edges().forEach((edge) => this.#bendOne(edge));
  }

  #bendOne(edge) {
    const bend = this.#bend(edge.data("source"), edge.data("target"));
    edge.data("bend", bend).toggleClass("bent", Boolean(bend));
  }

  #redraw(id) {
    const node = this.graph.nodes.get(id);
    const drawn = this.cy.getElementById(id);
    const data = nodeData(node, this);
    if (drawn.data("label") === data.label) {
      drawn.data(data).classes(nodeClasses(node));
      return;
    }
    // Cytoscape caches the image of a label in the size of the old text; a new node has no cache.
    const replacement = { ...drawn.json(), data, classes: nodeClasses(node) };
    const edges = drawn.connectedEdges().jsons();
    drawn.remove();
    this.cy.add([replacement, ...edges]);
  }

  /** Classes that follow from the whole graph, the focus and the choice. */
  #mark() {
    const inside = focusSet(this.graph, this.focusing);
    const { contributing, redundant } = this.graph;
    this.cy.batch(() => {
      this.cy.nodes().forEach((node) => {
        const id = node.id();
        node.toggleClass("contributes", contributing.has(id));
        node.toggleClass("outside", Boolean(inside) && !inside.has(id));
        node.toggleClass("chosen", id === this.selected);
      });
      this.cy.edges().forEach((edge) => {
        const { id, source, target } = edge.data();
        edge.toggleClass("redundant", redundant.has(id));
        edge.toggleClass("contributes", edge.hasClass("uses") && contributing.has(target));
        edge.toggleClass("outside", Boolean(inside) && !(inside.has(source) && inside.has(target)));
        edge.toggleClass("near", Boolean(this.selected) && (source === this.selected || target === this.selected));
      });
    });
  }

  #appear(ids) {
    if (motionReduced() || !ids.length || ids.length > MANY) return;
    const fresh = this.cy.nodes().filter((node) => ids.includes(node.id())).addClass("fresh");
    setTimeout(() => fresh.removeClass("fresh"), FADE_MS / 4);
  }

  #move() {
    const held = this.cy.getElementById(this.selected);
    const pan = this.cy.pan();
    const to = this.layout.position;
    if (held.length) {
      const [old, now] = [held.position(), to.get(this.selected)];
      const by = { x: (old.x - now.x) * this.cy.zoom(), y: (old.y - now.y) * this.cy.zoom() };
      this.cy.pan({ x: pan.x + by.x, y: pan.y + by.y });
    }
    const animate = !motionReduced() && to.size <= MANY;
    const options = { name: "preset", positions: (node) => to.get(node.id()), fit: false, animate, animationDuration: TIDY_MS };
    this.cy.batch(() => this.#bendAll());
    this.cy.layout(options).run();
    if (!held.length) this.fit();
  }

  #reveal(id) {
    const box = this.cy.getElementById(id).renderedBoundingBox();
    const seen = box.x1 >= 0 && box.y1 >= 0 && box.x2 <= this.cy.width() && box.y2 <= this.cy.height();
    if (!seen) this.cy.center(this.cy.getElementById(id));
  }
}
