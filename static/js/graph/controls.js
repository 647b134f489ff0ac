// The controls above the graph: what is shown, search, and their part of the address. The markup is templates/lemmas/_graph.html.
import { HIDDEN, search, shownSet } from "./filters.js";
import { MODES } from "./focus.js";

/** From this number of nodes on, the first view is the overview, if it has far fewer boxes. */
const MANY = 300;
const FEWER = 3;
/** In the address: all nodes, although the first view would be the overview. */
const EVERYTHING = "everything";
const OF_NODE = ["ancestors", "descendants"];
const PARAMETERS = ["focus", "node", "depth", "round", "rollout", "hide"];

/** The parameters of the address that concern the graph. */
export function readAddress() {
  const query = new URLSearchParams(location.search);
  return Object.fromEntries(PARAMETERS.filter((name) => query.has(name)).map((name) => [name, query.get(name)]));
}

/** Set parameters of the address; an empty value, 0 and "all" remove one. */
export function writeAddress(changes) {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(changes)) {
    if (!value || value === "all") url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  history.replaceState(history.state, "", url);
}

/** `changed()` is called when another part of the graph is shown, `stay()` when the reader has gone to a lemma. */
export class Controls {
  constructor(root, view, { choose, changed, stay }) {
    this.part = (name) => root.querySelector(`[data-part="${name}"]`);
    Object.assign(this, { root, view, choose, changed, stay, noun: root.dataset.noun ?? "lemma" });
    this.focusing = { mode: "all" };
    this.hits = [];
    for (const name of ["focus", "depth", "round", "rollout"]) this.part(name).addEventListener("change", () => this.#take());
    for (const box of this.boxes) box.addEventListener("change", () => this.#take());
    this.part("offer").addEventListener("click", () => this.apply({ focus: this.focusing.mode === "overview" ? "all" : "overview" }));
    this.part("search").addEventListener("input", () => this.#search());
    this.part("search").addEventListener("keydown", (event) => this.#key(event));
  }

  get boxes() {
    return [...this.root.querySelectorAll("[data-hide]")];
  }

  get hide() {
    return this.boxes.filter((box) => box.checked).map((box) => box.dataset.hide);
  }

  /** Does what is shown depend on the selected node? */
  get followsChoice() {
    return OF_NODE.includes(this.focusing.mode);
  }

  /** What a reader sees who has asked for nothing. */
  get first() {
    const { nodes } = this.view.graph;
    const boxes = new Set([...nodes.values()].map(({ round, rollout }) => `${round}/${rollout}`)).size;
    return this.noun === "lemma" && this.view.rollouts > 1 && nodes.size > MANY && boxes * FEWER < nodes.size ? "overview" : "all";
  }

  /** Show a part: {focus, node, depth, round, rollout, hide} as in the address. Resolves when it is drawn. */
  async apply({ focus = "all", depth = 0, round = 0, rollout = 0, node = this.view.selected, hide = "" } = {}, { write = true } = {}) {
    const mode = Object.hasOwn(MODES, focus) ? focus : "all";
    const wanted = { mode, id: node, depth: Number(depth) || 0, round: Number(round) || (mode === "round" ? 1 : 0), rollout: Number(rollout) || 0 };
    this.focusing = wanted;
    const hidden = hide.split(",").filter((name) => Object.hasOwn(HIDDEN, name));
    for (const box of this.boxes) box.checked = hidden.includes(box.dataset.hide);
    this.part("focus").value = mode;
    this.part("depth").value = String(wanted.depth);
    this.part("round").value = String(wanted.round || 1);
    this.part("rollout").value = String(wanted.rollout);
    this.part("depth").closest("label").hidden = !OF_NODE.includes(mode);
    this.part("round").closest("label").hidden = mode !== "round" && mode !== "group";
    this.part("rollout").closest("label").hidden = mode !== "rollout" && mode !== "group";
    if (write) this.#write();
    await this.show();
  }

  /** Show what focus and filters say of the current graph. `hasGrown`: it has changed, and the reader has asked for nothing. */
  async show({ hasGrown = false } = {}) {
    if (this.focusing.mode === "overview") this.view.showOverview(shownSet(this.view.graph, { mode: "all" }, this.hide));
    else await this.view.show(shownSet(this.view.graph, this.focusing, this.hide), { hasGrown });
    this.count();
    this.changed({ hasGrown });
  }

  /** The graph has changed, or another moment of it is shown. */
  grown() {
    if (this.focusing.mode !== "all" || this.hide.length) this.show({ hasGrown: true });
    else this.count();
  }

  /** Another node was chosen. */
  chosen(id) {
    if (this.followsChoice && id && this.focusing.id !== id) {
      this.focusing = { ...this.focusing, id };
      this.show();
    } else this.count();
  }

  count() {
    const all = this.view.graph.nodes.size - 1;
    const { shown } = this.view;
    const needsNode = this.followsChoice && !this.focusing.id;
    const words = needsNode ? `choose a ${this.noun}` : shown === all ? `${all} ${all === 1 ? "node" : "nodes"}` : `${shown} of ${all}`;
    this.part("count").textContent = this.hits.length || this.part("search").value.trim() ? `${this.hits.length} found` : words;
    const isOverview = this.focusing.mode === "overview";
    const mayOffer = this.focusing.mode === "all" ? all >= MANY && shown === all : this.focusing.mode === "group" || isOverview;
    this.part("offer").hidden = this.view.rollouts < 2 || !mayOffer;
    this.part("offer").textContent = isOverview ? `All ${all.toLocaleString("en")} nodes` : "Overview";
    const hidden = this.hide.length;
    this.part("hidden-count").textContent = hidden ? ` ${hidden}` : "";
  }

  /** Offer all rounds, from 1, and rollouts, from 0. */
  fillNumbers({ rounds, rollouts }) {
    for (const [name, count, first] of [["round", rounds, 1], ["rollout", rollouts, 0]]) {
      const { options } = this.part(name);
      while (options.length < count) options.add(new Option(String(options.length + first)));
    }
    for (const mode of ["rollout", "group"]) {
      const option = this.part("focus").querySelector(`[value="${mode}"]`);
      if (option) option.hidden = rollouts < 2;
    }
  }

  #take() {
    const value = (name) => this.part(name).value;
    this.apply({ focus: value("focus"), depth: value("depth"), round: value("round"), rollout: value("rollout"), hide: this.hide.join() });
  }

  #write() {
    const { mode, depth, round, rollout } = this.focusing;
    writeAddress({
      focus: mode === "all" && this.first !== "all" ? EVERYTHING : mode, depth, hide: this.hide.join(), round: ["round", "group"].includes(mode) ? round : 0,
      rollout: ["rollout", "group"].includes(mode) ? String(rollout) : "",
    });
  }

  #search() {
    this.hits = search(this.view.graph, this.part("search").value);
    this.view.markFound(this.hits);
    this.at = -1;
    this.count();
  }

  /** Enter goes to the next lemma found, with Shift to the one before; Escape ends the search. */
  #key(event) {
    if (event.key === "Escape") {
      this.part("search").value = "";
      this.#search();
    } else if (event.key === "Enter" && this.hits.length) {
      this.at = (this.at + (event.shiftKey ? -1 : 1) + this.hits.length) % this.hits.length;
      const id = this.hits[this.at];
      this.#reach(id).then(() => {
        this.choose(id);
        this.view.goTo(id);
        this.stay();
      });
      this.part("count").textContent = `${this.at + 1} of ${this.hits.length} found`;
    } else return;
    event.preventDefault();
  }

  /** Show a lemma that was found: outside the part, everything but the sorts that stay hidden. */
  async #reach(id) {
    if (this.view.isShown(id)) return;
    const node = this.view.graph.nodes.get(id);
    await this.apply({ focus: "all", hide: this.hide.filter((name) => !HIDDEN[name](node)).join() });
  }
}
