// GraphView: the drawing of a lemma graph, a thin layer over Cytoscape's canvas. It knows nodes, edges and positions, and
// nothing of addresses, panels or the network. Nodes do not move once they have been shown for a moment (young.js), except when
// the shown part changes and by `tidy`.
import cytoscape from "../../vendor/cytoscape/cytoscape.esm.min.mjs";
import { arrange, prepare } from "./arrange.js";
import { clustersOf, gridOf } from "./clusters.js";
import { labelStep } from "./labels.js";
import { boxesOf, isClear } from "./clear.js";
import { adopt, bounds, createLayout, lineOf, place } from "./layout.js";
import { segmentsOf } from "./lines.js";
import { neighbours } from "./focus.js";
import { nodeClasses, nodeData, readTokens, styleSheet } from "./style.js";
import { reopen, Young } from "./young.js";

const PADDING = 14;
/** Room for the names of the rounds (lanes.js). */
export const GUTTER = 22;
const LARGEST_FIT = 1.15;
const LEAST_ZOOM = 0.01;
/** A layout by Graphviz is left out if it is smaller on the screen than this part of ours. */
const LEAST_GAIN = 0.75;
const FADE_MS = 200;
const PULSE_MS = 700;
/** More nodes than this appear at once. */
const MANY = 600;
const FEW_VOTES = 40;
/** Up to this size a drawing waits for Graphviz, so that it does not move after it has been seen. */
const SMALL = 120;
const WAIT_MS = 500;
/** Up to this size Graphviz is asked of itself, and by `tidy` always. */
const LARGE = 300;
const ARRANGE_MS = 6000;
const TIDY_MS = 30_000;

// Cytoscape adds a <style> element unless this id exists; our CSP forbids that, and graph.css says the same.
const OWN_STYLE = "__________cytoscape_stylesheet";

const DRAWN = ["status", "confidence", "passes", "valid", "total", "expected", "unscored", "human", "found_by", "check"];
/** Are two states of a node drawn alike? */
const sameDrawing = (node, other) => Boolean(other) && DRAWN.every((name) => node[name] === other[name]);
const emptyGraph = () => ({ nodes: new Map(), edges: new Map(), contributing: new Set(), redundant: new Set(), frontier: [] });
/** Cytoscape's own `toggleClass` computes the style again even if nothing changes. */
const setClass = (element, name, wanted) => {
  if (element.hasClass(name) !== wanted) element.toggleClass(name, wanted);
};
/** Cytoscape may keep what it knew of the visibility of elements while their style was computed. */
const forgetVisibility = (cy) => {
  cy.elements().forEach((element) => element.style("display"));
  cy.elements().dirtyStyleCache();
};
const motionReduced = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export class GraphView {
  /** Draw into `container`, an element with a size. */
  constructor(container) {
    this.graph = emptyGraph();
    this.whole = createLayout();
    /** The shown part if it is not the whole: {ids, layout}. */
    this.part = null;
    this.overview = null;
    this.young = new Young();
    this.rollouts = 1;
    this.stage = "Round";
    this.selected = "";
    this.found = new Set();
    this.step = labelStep(1);
    this.turn = 0;
    this.listeners = { select: [], hover: [], viewport: [], draw: [] };
    if (!document.getElementById(OWN_STYLE)) {
      document.head.append(Object.assign(document.createElement("template"), { id: OWN_STYLE }));
    }
    this.cy = cytoscape({
      container, style: styleSheet(readTokens()), autoungrabify: true, boxSelectionEnabled: false, selectionType: "single",
      minZoom: LEAST_ZOOM, maxZoom: 4, pixelRatio: "auto", hideEdgesOnViewport: false,
    });
    this.#listen(container);
    prepare();
  }

  /** The layout of what is shown. */
  get layout() {
    return this.overview?.layout ?? this.part?.layout ?? this.whole;
  }

  /** Show `data` in an empty view. Resolves when it is drawn. `linked`: the node that the address chooses. */
  async setGraph(data, linked = "") {
    this.turn += 1;
    this.cy.elements().remove();
    Object.assign(this, { graph: emptyGraph(), whole: createLayout(), part: null, overview: null });
    this.#merge(data);
    this.young.clear();
    place(this.whole, [...this.graph.nodes.values()], data.edges);
    const { size } = this.graph.nodes;
    const better = size > 1 && size <= LARGE ? this.#arranged() : Promise.resolve(null);
    const first = size <= SMALL ? await Promise.race([better, new Promise((resolve) => setTimeout(resolve, WAIT_MS))]) : null;
    if (first) this.whole = first;
    this.cy.batch(() => this.cy.add(this.#elements([...this.graph.nodes.keys()], [...this.graph.edges.keys()])));
    this.#mark();
    this.fit();
    this.improved = first ? null : this.#improve(better, linked);
  }

  /** Apply changes. Returns the ids of new nodes and of nodes whose verdict changed. */
  applyDelta(data) {
    const changed = data.nodes.filter((node) => this.graph.nodes.has(node.id)).map((node) => node.id);
    const voted = changed.filter((id) => this.graph.nodes.get(id).total !== data.nodes.find((node) => node.id === id).total);
    const newEdges = data.edges.filter((edge) => !this.graph.edges.has(edge.id));
    this.#merge(data);
    reopen(this.whole, this.young, newEdges);
    const placed = place(this.whole, [...this.graph.nodes.values()], data.edges);
    const added = placed.filter((id) => this.cy.getElementById(id).empty());
    this.young.add(added);
    this.cy.batch(() => {
      this.cy.add(this.#elements(added, newEdges.map((edge) => edge.id)));
      if (!this.part) for (const id of placed) this.cy.getElementById(id).position({ ...this.whole.position.get(id) });
      this.#route(data.edges);
      if (placed.length > added.length) this.cy.edges().forEach((edge) => this.#leadOne(edge));
      for (const id of changed) this.#redraw(id);
    });
    this.#unblock(added);
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
        setClass(this.cy.getElementById(id), "unborn", !node);
        if (!node || sameDrawing(node, before.get(id))) continue;
        this.#redraw(id);
        if (before.has(id) && before.get(id).total < node.total) voted.push(id);
      }
      this.#route(this.graph.edges.values());
      this.cy.edges().forEach((edge) => {
        setClass(edge, "unborn", !this.graph.edges.has(edge.id()));
      });
    });
    if (this.selected && !this.graph.nodes.has(this.selected)) this.selected = "";
    forgetVisibility(this.cy);
    this.#mark();
    if (!motionReduced() && voted.length < FEW_VOTES) for (const id of voted) this.cy.getElementById(id).flashClass("pulse", PULSE_MS);
  }

  /**
   * Show only the nodes of `ids`, laid out for themselves; null shows all at their places. With `hasGrown` the graph has changed:
   * the part keeps its layout, and new nodes are placed in it. Resolves to whether another part is shown.
   */
  async show(ids, { hasGrown = false } = {}) {
    const isSame = ids ? this.part && ids.size === this.part.ids.size && [...ids].every((id) => this.part.ids.has(id)) : !this.part;
    const isInPlace = !this.part || (this.part.layout === this.whole) === Boolean(this.present);
    if (!this.overview && isSame && isInPlace) return false;
    this.#leaveOverview();
    this.turn += 1;
    const { turn } = this;
    if (!ids) this.part = null;
    else if (this.present) this.part = { ids, layout: this.whole }; // A replay has the places of the whole run.
    else if (hasGrown && this.part) {
      this.part.ids = ids;
      place(this.part.layout, this.#nodes(ids), this.#edges(ids));
    } else {
      const layout = createLayout();
      place(layout, this.#nodes(ids), this.#edges(ids));
      if (ids.size > 1 && ids.size <= LARGE) await this.#arrange(layout, ids, ARRANGE_MS);
      if (turn !== this.turn) return false;
      this.part = { ids, layout };
    }
    this.#mark();
    forgetVisibility(this.cy);
    this.#move();
    return true;
  }

  /** Show one node for the lemmas of each rollout in each round (null: of all lemmas), as a grid; `show` leaves this. */
  showOverview(ids = null) {
    this.turn += 1;
    const data = clustersOf(this.graph, { stage: this.stage, ids });
    const layout = createLayout();
    place(layout, data.nodes, data.edges);
    adopt(layout, gridOf(data.nodes), []);
    this.#leaveOverview();
    this.overview = { ids, layout, nodes: new Map(data.nodes.map((node) => [node.id, node])) };
    const fresh = data.nodes.filter(({ id }) => this.cy.getElementById(id).empty());
    const elements = (node) => ({ group: "nodes", data: nodeData(node), classes: nodeClasses(node), position: { ...layout.position.get(node.id) } });
    this.cy.batch(() => this.cy.add([...fresh.map(elements), ...data.edges.map((edge) => this.#edgeElement(edge, ["of-clusters", ...(edge.contributes ? ["on-the-way"] : [])]))]));
    this.#mark();
    forgetVisibility(this.cy);
    this.#move();
  }

  #leaveOverview() {
    if (!this.overview) return;
    this.cy.remove("node.cluster, edge.of-clusters");
    this.overview = null;
  }

  /** Mark the nodes that a search has found; an empty list marks none. */
  markFound(ids) {
    this.found = new Set(ids);
    this.#mark();
  }

  /** The number of shown nodes, without the problem. */
  get shown() {
    const { ids } = this.overview ?? this.part ?? {};
    return ids ? [...ids].filter((id) => id !== "problem" && this.graph.nodes.has(id)).length : this.graph.nodes.size - 1;
  }

  /** Is a node drawn at present? */
  isShown(id) {
    if (this.overview) return this.overview.nodes.has(id) && this.graph.nodes.has(id);
    return this.graph.nodes.has(id) && (!this.part || this.part.ids.has(id));
  }

  /** Is a node or a box of the overview drawn? */
  isDrawn(id) {
    return this.overview ? this.overview.nodes.has(id) : this.isShown(id);
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

  /** `listener(id, node)` when a person has chosen a node or a cluster, or nothing (""). */
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

  /** `listener()` when the drawing has changed, at most once a frame. */
  onDraw(listener) {
    this.listeners.draw.push(listener);
  }

  /** Lay out again what is shown. Resolves to null if Graphviz had no answer in time: then the layout is ours. */
  async tidy() {
    if (this.overview) return true;
    this.turn += 1;
    const { turn } = this;
    const ids = this.part?.ids ?? null;
    const layout = createLayout();
    const all = ids ?? new Set(this.graph.nodes.keys());
    place(layout, this.#nodes(all), this.#edges(all));
    const isDone = await this.#arrange(layout, ids, TIDY_MS);
    if (turn !== this.turn) return true;
    if (this.part) this.part.layout = layout;
    else this.whole = layout;
    this.#move();
    this.fit();
    return isDone;
  }

  /** Show all that is shown, right of the names of the rounds; during a replay also the places of later nodes. */
  fit() {
    this.cy.resize();
    const [width, height] = [this.cy.width() - GUTTER, this.cy.height()];
    if (!this.layout.position.size || width <= 0) return;
    const { left, right, top, bottom } = bounds(this.layout);
    const zoom = Math.min((width - 2 * PADDING) / (right - left), (height - 2 * PADDING) / (bottom - top), LARGEST_FIT);
    const pan = { x: GUTTER + width / 2 - (zoom * (left + right)) / 2, y: height / 2 - (zoom * (top + bottom)) / 2 };
    this.cy.viewport({ zoom: Math.max(zoom, LEAST_ZOOM), pan });
  }

  zoomBy(factor) {
    const middle = { x: this.cy.width() / 2, y: this.cy.height() / 2 };
    this.cy.zoom({ level: this.cy.zoom() * factor, renderedPosition: middle });
  }

  /** Go to a node at a zoom at which its title can be read. */
  goTo(id) {
    const node = this.cy.getElementById(id);
    if (node.empty()) return;
    this.cy.zoom(Math.max(this.cy.zoom(), 1));
    this.cy.center(node);
  }

  /** A PNG of the whole drawing, as a Blob. */
  exportPng() {
    return this.cy.png({ full: true, scale: 2, bg: readTokens().paper, output: "blob", maxWidth: 8000, maxHeight: 8000 });
  }

  /** Ids that `id` uses and that use it. */
  neighbours(id) {
    return neighbours(this.graph, id);
  }

  /** The shown nodes of the row of `id`, from left to right. */
  rowOf(id) {
    const row = [...(this.layout.rows.get(this.layout.row.get(id)) ?? [])].filter((other) => this.layout.position.has(other));
    return row.sort((a, b) => this.layout.position.get(a).x - this.layout.position.get(b).x);
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
    this.cy.on("tap", (event) => {
      const id = event.target === this.cy || event.target.isEdge() ? "" : event.target.id();
      const cluster = this.overview?.nodes.get(id);
      if (cluster?.members) for (const listener of this.listeners.select) listener(id, cluster);
      else this.select(id, { notify: true, reveal: false });
    });
    this.cy.on("mouseover", "node", ({ target }) => {
      target.addClass("hover");
      container.style.cursor = "pointer";
      const node = this.graph.nodes.get(target.id());
      if (node) for (const listener of this.listeners.hover) listener(node, target.renderedBoundingBox({ includeUnderlays: false }));
    });
    this.cy.on("mouseout", "node", ({ target }) => {
      target.removeClass("hover");
      container.style.cursor = "";
      for (const listener of this.listeners.hover) listener(null);
    });
    this.cy.on("dragpan scrollzoom pinchzoom", () => {
      for (const listener of this.listeners.viewport) listener();
    });
    this.cy.on("render", () => {
      for (const listener of this.listeners.draw) listener();
    });
    this.cy.on("zoom", () => {
      const step = labelStep(this.cy.zoom());
      if (step?.least === this.step?.least) return;
      this.step = step;
      this.recolour();
    });
    this.recolour = () => this.cy.style().fromJson(styleSheet(readTokens(), this.cy.zoom())).update();
    document.addEventListener("themechange", this.recolour);
  }

  #merge(data) {
    const several = data.rollouts > 1 !== this.rollouts > 1;
    this.rollouts = data.rollouts ?? this.rollouts;
    this.stage = data.stage === "level" ? "Level" : "Round";
    for (const node of data.nodes) this.graph.nodes.set(node.id, node);
    for (const edge of data.edges) this.graph.edges.set(edge.id, edge);
    this.graph.contributing = new Set(data.contributing);
    this.graph.redundant = new Set(data.redundant);
    this.graph.frontier = data.frontier;
    if (several) this.cy.batch(() => this.cy.nodes().forEach((node) => this.#redraw(node.id())));
  }

  #nodes(ids) {
    return [...this.graph.nodes.values()].filter(({ id }) => ids.has(id));
  }

  /** The edges among `ids` that are drawn. */
  #edges(ids) {
    return [...this.graph.edges.values()].filter(({ id, source, target }) => ids.has(source) && ids.has(target) && !this.graph.redundant.has(id));
  }

  /** Let Graphviz lay out the nodes of `layout`. Resolves to null without an answer within `limitMs`, to false if it is no better. */
  async #arrange(layout, ids, limitMs) {
    const all = ids ?? new Set(this.graph.nodes.keys());
    const [nodes, edges] = [this.#nodes(all), this.#edges(all)];
    const room = { width: this.cy.width() - GUTTER - 2 * PADDING, height: this.cy.height() - 2 * PADDING };
    const found = await arrange(nodes, edges, room, limitMs);
    const { left, right, top, bottom } = bounds(layout);
    const scale = Math.min(room.width / (right - left), room.height / (bottom - top), LARGEST_FIT);
    if (!found) return null;
    if (found.scale < LEAST_GAIN * scale) return false;
    adopt(layout, found, edges);
    return true;
  }

  /** The whole graph as Graphviz lays it out; null without an answer. */
  async #arranged() {
    const layout = createLayout();
    place(layout, [...this.graph.nodes.values()], [...this.graph.edges.values()]);
    return (await this.#arrange(layout, null, ARRANGE_MS)) ? layout : null;
  }

  /**
   * Move a graph that was drawn before Graphviz had laid it out, unless a person has begun to look around in it. A node that only the address
   * chooses (`linked`) is no such beginning.
   */
  async #improve(better, linked) {
    const { turn } = this;
    let touched = false;
    this.onViewport(() => {
      touched = true;
    });
    const layout = await better;
    const hasChosen = this.selected && this.selected !== linked;
    if (!layout || touched || turn !== this.turn || hasChosen || layout.nodes.size !== this.graph.nodes.size) return;
    this.whole = layout;
    this.#move();
    this.fit();
  }

  #elements(nodeIds, edgeIds) {
    const nodes = nodeIds.map((id) => {
      const node = this.graph.nodes.get(id);
      return { group: "nodes", data: nodeData(node, this), classes: nodeClasses(node), position: { ...this.whole.position.get(id) } };
    });
    const edges = edgeIds.map((id) => this.graph.edges.get(id)).filter(
      (edge) => this.graph.nodes.has(edge.source) && this.graph.nodes.has(edge.target),
    );
    return [...nodes, ...edges.map((edge) => this.#edgeElement(edge))];
  }

  #edgeElement(edge, classes = []) {
    const { id, source, target, kind } = edge;
    const led = segmentsOf(this.layout, edge);
    return { group: "edges", data: { id, source, target, ...led }, classes: [kind, ...classes, ...(led ? ["led"] : [])] };
  }

  /** Draw `edges` from their current sources: a lemma may have been merged since. */
  #route(edges) {
    for (const { id, source } of edges) {
      const drawn = this.cy.getElementById(id);
      if (drawn.empty() || drawn.data("source") === source) continue;
      drawn.move({ source });
      this.#leadOne(drawn);
    }
  }

  #leadOne(edge) {
    if (edge.empty()) return;
    const { id, source, target } = edge.data();
    const led = segmentsOf(this.layout, { id, source, target });
    if (led) edge.data(led);
    setClass(edge, "led", Boolean(led));
  }

  /** Lead the lines again that may run through boxes which have been added. */
  #unblock(added) {
    const { layout } = this;
    const ids = added.filter((id) => layout.position.has(id));
    if (!ids.length || this.overview) return;
    const rows = ids.map((id) => layout.row.get(id));
    const point = (id) => [layout.position.get(id).x, layout.position.get(id).y];
    const boxes = boxesOf(ids.map((id) => layout.nodes.get(id)), Object.fromEntries(ids.map((id) => [id, point(id)])));
    this.cy.batch(() => {
      for (const edge of this.graph.edges.values()) {
        const [from, to] = [layout.row.get(edge.source), layout.row.get(edge.target)].sort((one, other) => one - other);
        if (!rows.some((row) => row >= from && row <= to)) continue;
        const isLed = layout.lines.get(edge.id)?.source === edge.source;
        if (isLed && isClear(edge, [point(edge.source), ...lineOf(layout, edge), point(edge.target)], boxes)) continue;
        layout.lines.delete(edge.id);
        this.#leadOne(this.cy.getElementById(edge.id));
      }
    });
  }

  #redraw(id) {
    const node = this.graph.nodes.get(id);
    const drawn = this.cy.getElementById(id);
    if (!node || drawn.empty()) return;
    const data = nodeData(node, this);
    if (drawn.data("text") === data.text) {
      drawn.data(data).classes(nodeClasses(node));
      return;
    }
    // Cytoscape caches the image of a label in the size of the old text; a new node has no cache.
    const replacement = { ...drawn.json(), data, classes: nodeClasses(node) };
    const edges = drawn.connectedEdges().jsons();
    drawn.remove();
    this.cy.add([replacement, ...edges]);
  }

  /** Classes that follow from the whole graph, the shown part, the search and the choice. */
  #mark() {
    const { contributing, redundant } = this.graph;
    const isHidden = (id) => (this.overview ? !this.overview.nodes.has(id) : Boolean(this.part) && !this.part.ids.has(id));
    this.cy.batch(() => {
      this.cy.nodes().forEach((node) => {
        const id = node.id();
        const members = this.overview?.nodes.get(id)?.members;
        setClass(node, "contributes", members ? members.some((member) => contributing.has(member)) : contributing.has(id));
        setClass(node, "hidden", isHidden(id));
        setClass(node, "found", this.found.has(id));
        setClass(node, "outside", this.found.size > 0 && !this.found.has(id));
        setClass(node, "chosen", id === this.selected);
      });
      this.cy.edges().forEach((edge) => {
        const { id, source, target } = edge.data();
        setClass(edge, "redundant", redundant.has(id));
        setClass(edge, "contributes", edge.hasClass("on-the-way") || (edge.hasClass("uses") && contributing.has(target)));
        setClass(edge, "hidden", (Boolean(this.overview) && !edge.hasClass("of-clusters")) || isHidden(source) || isHidden(target));
        setClass(edge, "near", Boolean(this.selected) && (source === this.selected || target === this.selected));
      });
    });
  }

  #appear(ids) {
    if (motionReduced() || !ids.length || ids.length > MANY) return;
    const fresh = this.cy.nodes().filter((node) => ids.includes(node.id())).addClass("fresh");
    setTimeout(() => fresh.removeClass("fresh"), FADE_MS / 4);
  }

  /** Move all nodes to their places in the current layout. */
  #move() {
    const to = this.layout.position;
    this.cy.batch(() => {
      this.cy.nodes().forEach((node) => {
        if (to.has(node.id())) node.position({ ...to.get(node.id()) });
      });
      this.cy.edges().forEach((edge) => this.#leadOne(edge));
    });
  }

  #reveal(id) {
    const node = this.cy.getElementById(id);
    const box = node.renderedBoundingBox();
    const isSeen = box.x1 >= 0 && box.y1 >= 0 && box.x2 <= this.cy.width() && box.y2 <= this.cy.height();
    if (!isSeen) this.cy.center(node);
  }
}
