// Words of the page that depend on the kind of graph: lemmas, or solutions and the pairs of their knock-out.

const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Announcement of new nodes outside the visible part. */
export const pillWords = (noun, count) => `${plural(count, `new ${noun}`)} ↓`;

/** The tooltip of a node, first its name. */
export function nodeName(node, rollouts) {
  if (node.kind === "candidate") return node.id;
  if (node.kind !== "lemma" && node.kind !== "human") return node.kind === "pair" ? "Pair" : node.label;
  return `Lemma ${rollouts > 1 && node.kind === "lemma" ? `s${node.rollout}.` : ""}${node.label}`;
}

/** …then its verdict. */
export function nodeState(node) {
  if (node.words) return node.words;
  return node.confidence === null ? node.unscored || node.status : `${node.passes} of ${node.valid} votes`;
}
