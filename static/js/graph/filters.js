// The nodes that are shown: those of the focus, without the hidden sorts; and search. Pure: works on the maps of view.js.
import { focusSet } from "./focus.js";

/** Sorts of nodes that can be hidden, in the order of `_graph.html`. */
export const HIDDEN = {
  rejected: ({ status }) => ["rejected", "refuted", "doubtful"].includes(status),
  merged: ({ status }) => status === "merged" || status === "retired",
  open: ({ kind, status }) => isLemma(kind) && status === "proposed",
  held: ({ kind, status }) => isLemma(kind) && status === "verified",
  model: ({ kind }) => kind === "lemma",
  human: ({ kind }) => kind === "human",
};

const isLemma = (kind) => kind === "lemma" || kind === "human";

/** The ids to show, or null for all. `hide` lists names of `HIDDEN`. The problem is shown with every part. */
export function shownSet(graph, focus, hide = []) {
  const inFocus = focusSet(graph, focus);
  const sorts = hide.map((name) => HIDDEN[name]).filter(Boolean);
  if (!inFocus && !sorts.length) return null;
  const nodes = [...graph.nodes.values()].filter((node) => !inFocus || inFocus.has(node.id));
  return new Set(["problem", ...nodes.filter((node) => !sorts.some((isOfSort) => isOfSort(node))).map((node) => node.id)]);
}

/** Ids of the nodes whose name, title or statement contains every word of `text`, in the order of the graph. */
export function search(graph, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const found = [];
  for (const node of graph.nodes.values()) {
    const said = [node.id, node.label, node.title, node.statement].join(" ").toLowerCase();
    if (node.kind !== "problem" && words.every((word) => said.includes(word))) found.push(node.id);
  }
  return found;
}
