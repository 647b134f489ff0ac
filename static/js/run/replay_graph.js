// The graph of a run as of any of its events. Pure: no DOM, no network. `story` is a RunStory of story.js.
import { fresh } from "./story.js";

/** The graph `whole` (docs/graph_data.md) as of the current event of `story`, without positions. */
export function graphAt(whole, story) {
  const nodes = new Map();
  for (const node of whole.nodes) if (node.kind === "problem" || node.first_seq <= story.seq) nodes.set(node.id, nodeAt(node, story));
  const edges = new Map();
  for (const edge of whole.edges) {
    const isThere = edge.kind === "merges" ? story.merged.has(edge.source) : (edge.first_seq ?? edge.seq) <= story.seq;
    const then = isThere ? edgeAt(edge, story) : edge;
    if (isThere && nodes.has(then.source) && nodes.has(then.target)) edges.set(then.id, then);
  }
  const next = new Map();
  for (const { source, target, kind } of edges.values()) {
    if (kind !== "uses") continue;
    if (!next.has(source)) next.set(source, []);
    next.get(source).push(target);
  }
  return {
    nodes,
    edges,
    contributing: new Set(story.selected ? whole.contributing.filter((id) => nodes.has(id)) : []),
    redundant: redundantAt(whole, edges, next, story.seq),
    frontier: frontierAt(nodes, next),
  };
}

/** As in the core (apps/reasoning/graph/lemma_graph.py): live lemmas that no live lemma uses; solutions without successors. */
function frontierAt(nodes, next) {
  const isLemma = ({ kind }) => kind === "lemma" || kind === "human";
  const isLive = (node) => isLemma(node) && !["merged", "retired", "rejected", "refuted"].includes(node.status);
  const isFrontier = (node) => {
    const users = next.get(node.id) ?? [];
    return node.kind === "candidate" ? !users.length : isLive(node) && !users.some((id) => isLive(nodes.get(id)));
  };
  return [...nodes.values()].filter(isFrontier).map((node) => node.id);
}

/** An edge with its source at the time: the lemma that the text names, until that lemma was merged. */
function edgeAt(edge, story) {
  const { source, named = source } = edge;
  return source === named ? edge : { ...edge, source: representativeAt(named, story) };
}

/** As in the core (`representatives`): the end of the chain of merges while it holds, else the last in the chain that does. */
function representativeAt(name, story) {
  const chain = [name];
  for (let into = story.merged.get(name); into && !chain.includes(into); into = story.merged.get(into)) chain.push(into);
  const holds = (id) => story.subjects.get(id)?.status === "verified" && !story.retired.has(id);
  return chain.findLast(holds) ?? chain.at(-1);
}

function nodeAt(node, story) {
  if (["problem", "pair", "memory"].includes(node.kind)) return node;
  const { scores, scale, judged: read, wanted, unread, ...then } = story.subjects.get(node.id) ?? fresh();
  const judged = then.status || (node.kind === "candidate" && story.kept.has(node.id) ? "kept" : "");
  const status = story.merged.has(node.id) ? "merged" : story.retired.has(node.id) ? "retired" : judged;
  return {
    ...node, ...then, status, human: story.wordOfPeople(node.id), found_by: story.finders.get(node.id)?.size ?? 1,
    merged_into: story.merged.get(node.id) ?? "", check: node.check ? story.checks.get(node.id) ?? "" : "",
    words: node.kind === "candidate" ? story.remembered.get(node.id) ?? candidateWords({ ...then, unread }, scores) : node.words,
  };
}

function candidateWords({ passes, valid, total, unread, confidence }, scores) {
  if (!total) return "not yet judged";
  const lost = unread ? `, ${unread} not read` : "";
  if (scores) return confidence === null ? "" : `mean ${Math.round(100 * confidence)} % of the full score, ${valid} report${valid === 1 ? "" : "s"}${lost}`;
  return `${passes} of ${valid} checks passed${lost}`;
}

/** The uses that were already redundant: a longer path existed, or the same edge under another name. */
function redundantAt(whole, edges, next, seq) {
  const drawn = new Set();
  const isRedundant = new Set(whole.redundant);
  const found = new Set();
  for (const edge of edges.values()) {
    if (edge.kind !== "uses") continue;
    const ends = `${edge.source}>${edge.target}`;
    if (isRedundant.has(edge.id) && (drawn.has(ends) || isImpliedAt(whole, edge, next, seq))) found.add(edge.id);
    drawn.add(ends);
  }
  return found;
}

/** Was the edge implied at `seq`? Implied edges stay implied, so the earliest such event is cached. */
function isImpliedAt(whole, edge, next, seq) {
  whole.impliedAt ??= new Map();
  if (whole.impliedAt.get(edge.id) <= seq) return true;
  const implied = isImplied(edge, next);
  if (implied) whole.impliedAt.set(edge.id, seq);
  return implied;
}

/** Does a longer path lead from `source` to `target` (`next`: id → ids of its users)? */
function isImplied({ source, target }, next) {
  const seen = new Set();
  const open = (next.get(source) ?? []).filter((id) => id !== target);
  for (let first = 0; first < open.length; first += 1) { // Breadth first: the paths are usually short.
    const id = open[first];
    if (id === target) return true;
    if (seen.has(id)) continue;
    seen.add(id);
    open.push(...(next.get(id) ?? []));
  }
  return false;
}
