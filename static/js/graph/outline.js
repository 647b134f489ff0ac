// The outline of a graph on a page: the same information as text. It is fetched again when the graph changes.
import { fetchPart } from "../fetch_part.js";
import { moveInOutline } from "./keys.js";
import { nodeState } from "./nouns.js";

const OPEN_MS = 1500;
const FOLDED_MS = 3000;

/** `root` is the element of `_graph.html`; `choose(id)` selects a node and answers whether it exists. */
export class Outline {
  constructor(root, choose) {
    this.list = root.querySelector('[data-part="outline"]');
    this.frame = this.list.closest("details");
    this.url = root.dataset.outlineUrl;
    this.timer = 0;
    this.chosen = "";
    this.list.addEventListener("keydown", (event) => moveInOutline(event, choose));
    this.list.addEventListener("click", (event) => {
      const row = event.target.closest("[data-node]");
      if (row && !event.ctrlKey && !event.metaKey && choose(row.dataset.node)) event.preventDefault();
    });
    this.frame.addEventListener("toggle", () => this.#open());
    this.mark("");
  }

  /** The graph has changed: fetch the rows soon. */
  refresh() {
    if (!this.url || this.timer) return;
    this.timer = setTimeout(() => this.#fetch(), this.frame.open ? OPEN_MS : FOLDED_MS);
  }

  stop() {
    clearTimeout(this.timer);
  }

  /** Mark the row of the chosen node. */
  mark(id) {
    this.chosen = id;
    const rows = [...this.list.querySelectorAll("[data-node]")];
    const chosen = rows.find((row) => row.dataset.node === id) ?? rows[0];
    for (const row of rows) {
      row.tabIndex = row === chosen ? 0 : -1;
      row.toggleAttribute("aria-current", row.dataset.node === id && Boolean(id));
    }
    if (id && this.frame.open && !this.list.contains(document.activeElement)) chosen?.scrollIntoView({ block: "nearest" });
  }

  /** Show only rows of nodes for which `isShown(id)` holds. */
  filter(isShown) {
    this.isShown = isShown;
    this.#hide();
  }

  /** Show the rows as of an earlier event (`then.nodes` by id), or now for null. */
  asOf(then) {
    this.then = then;
    for (const row of this.list.querySelectorAll("[data-node]")) {
      const node = then?.nodes.get(row.dataset.node);
      const state = row.querySelector(".outline__state");
      state.dataset.now ??= state.textContent;
      state.textContent = then ? (node ? nodeState(node) : "") : state.dataset.now;
    }
    this.#hide();
  }

  #hide() {
    for (const row of this.list.querySelectorAll("[data-node]")) {
      const id = row.dataset.node;
      const isBorn = !this.then || this.then.nodes.has(id);
      row.closest("li").hidden = !isBorn || !(this.isShown?.(id) ?? true);
    }
    for (const level of this.list.querySelectorAll(".outline")) level.hidden = !level.querySelector("li:not([hidden])");
  }

  async #fetch() {
    this.timer = 0;
    try {
      const held = this.list.contains(document.activeElement) ? document.activeElement.dataset.node : "";
      await fetchPart(this.url, this.list);
      this.mark(this.chosen);
      this.#hide();
      if (held) this.list.querySelector(`[data-node="${CSS.escape(held)}"]`)?.focus();
    } catch {
      this.refresh();
    }
  }

  /** The reader opens the outline: fetch waiting rows now. */
  #open() {
    if (this.frame.open) this.mark(this.chosen);
    if (!this.timer || !this.frame.open) return;
    clearTimeout(this.timer);
    this.#fetch();
  }
}
