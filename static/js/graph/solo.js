// The graph alone on its page: choices open in the panel beside it, and links between lemmas stay in the drawing.
import { mountLemmaGraph } from "./page.js";
import { mountProofDiffs } from "../proof_diff.js";

const page = document.querySelector("[data-graph-page]");
const panel = page.querySelector("[data-panel]");

const graph = mountLemmaGraph(page.querySelector("[data-lemma-graph]"), {
  onSelect: (id, node, url) => {
    if (url) globalThis.htmx.ajax("GET", url, { target: panel, swap: "innerHTML" });
  },
});

panel.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-node-link]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (graph.select(link.dataset.nodeLink)) {
    event.preventDefault();
    globalThis.htmx.ajax("GET", link.href, { target: panel, swap: "innerHTML" });
  }
});
panel.addEventListener("htmx:afterSwap", () => mountProofDiffs(panel));
