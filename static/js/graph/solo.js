// The graph on its own page: selected nodes open in the side panel, and links between lemmas stay in the drawing.
import { fetchPart } from "../fetch_part.js";
import { mountLemmaGraph } from "./page.js";
import { mountProofDiffs } from "../proof_diff.js";

const page = document.querySelector("[data-graph-page]");
const panel = page.querySelector("[data-panel]");

async function open(url) {
  await fetchPart(url, panel).catch(() => {}); // The site's script reports an unreachable server.
  panel.scrollTop = 0;
  if (getComputedStyle(panel).position === "static") panel.scrollIntoView({ block: "nearest" });
}

const graph = mountLemmaGraph(page.querySelector("[data-lemma-graph]"), {
  onSelect: (id, node, url) => {
    if (url) open(url);
  },
});

panel.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-node-link]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (graph.select(link.dataset.nodeLink)) {
    event.preventDefault();
    open(link.href);
  }
});
panel.addEventListener("htmx:afterSwap", () => mountProofDiffs(panel));
