// What a graph is of: lemmas, or solutions and the pairs of their knock-out. The words of the page that depend on it.

const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** What waits below while a person looks elsewhere. */
export const pillWords = (noun, count) => `${plural(count, `new ${noun}`)} ↓`;

/** What the pointer says of a node, first its name. */
export function nodeName(node, rollouts) {
  if (node.kind === "candidate") return node.id;
  if (node.kind !== "lemma" && node.kind !== "human") return node.kind === "pair" ? "Pair" : node.label;
  return `Lemma ${rollouts > 1 && node.kind === "lemma" ? `s${node.rollout}.` : ""}${node.label}`;
}

/** …then what is thought of it. */
export function nodeState(node) {
  if (node.words) return node.words;
  return node.confidence === null ? node.unscored || node.status : `${node.passes} of ${node.valid} votes`;
}

/** The outline as it was once (`then.nodes` by id), or as it is for null: rows of what was not there yet are hidden. */
export function outlineAsOf(outline, then) {
  for (const row of outline.querySelectorAll("[data-node]")) {
    const node = then?.nodes.get(row.dataset.node);
    const state = row.querySelector(".outline__state");
    state.dataset.now ??= state.textContent;
    state.textContent = then ? (node ? nodeState(node) : "") : state.dataset.now;
    row.closest("li").hidden = Boolean(then) && !node;
  }
}
