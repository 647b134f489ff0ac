// Lays out graphs outside the page's thread, because Graphviz takes seconds for large ones. Message: {number, nodes, edges, room}; answer:
// {number, positions, lines, rows}, or {number, trouble}.
import { instance } from "../../vendor/viz/viz.js";
import { bestLayout } from "./best_layout.js";

const started = instance();

self.onmessage = async ({ data: { number, nodes, edges, room } }) => {
  try {
    self.postMessage({ number, ...bestLayout(await started, nodes, edges, room) });
  } catch (reason) {
    self.postMessage({ number, trouble: reason.message });
  }
};
