// Facts about the replay's story and streams, printed as JSON for test_replay_fold.py.
import { countUntil, timesOf } from "../../static/js/run/replay_clock.js";
import { RunStory } from "../../static/js/run/story.js";
import { graphAt } from "../../static/js/run/replay_graph.js";
import { barWords } from "../../static/js/run/replay_timeline.js";
import { ReplayStreams } from "../../static/js/run/replay_streams.js";

const node = (id, kind, first, more = {}) => ({ id, kind, first_seq: first, status: "verified", confidence: 1, passes: 2, valid: 2, total: 2, expected: 2, unscored: "", human: "", found_by: 2, ...more });
const edge = (source, target, seq) => ({ id: `${target}<${source}`, kind: "uses", source, target, seq });
const whole = {
  nodes: [node("problem", "problem", 0), node("a", "lemma", 2), node("b", "lemma", 3), node("c", "lemma", 4), node("proof/1", "proof", 9)],
  edges: [edge("a", "b", 5), edge("a", "c", 6), edge("b", "c", 7), edge("c", "proof/1", 10)],
  contributing: ["a", "b", "c", "proof/1"],
  redundant: ["c<a"],
};
const events = [
  [1, 0, "run.created", {}],
  [2, 10, "lemma.proposed", { lemma: "a" }],
  [3, 10, "lemma.proposed", { lemma: "b", rollout: 1 }],
  [4, 20, "lemma.proposed", { lemma: "c" }],
  [5, 20, "edge.added", {}],
  [6, 20, "edge.added", {}],
  [7, 30, "edge.added", {}],
  [8, 40, "vote.cast", { subject: "a", index: 1, of: 2, first_fault: -1 }],
  [9, 50, "proof.drafted", { proof: "proof/1" }],
  [10, 50, "edge.added", {}],
  [11, 60, "vote.cast", { subject: "a", index: 2, of: 2, first_fault: 3 }],
  [12, 60, "verdict.reached", { subject: "a", passes: 1, valid: 2, total: 2, confidence: 0.5, status: "verified" }],
  [13, 70, "lemma.merged", { lemma: "b", into: "a" }],
  [14, 80, "proof.selected", { proof: "proof/1", accepted: true }],
];

function at(count) {
  const fold = new RunStory();
  events.slice(0, count).forEach((event, place) => fold.take(event, place));
  const then = graphAt(whole, fold);
  return { fold, then, ids: [...then.nodes.keys()], a: then.nodes.get("a"), redundant: [...then.redundant], contributing: [...then.contributing], frontier: then.frontier };
}

const candidates = new RunStory();
[
  [1, 0, "candidate.drafted", { candidate: "c1.1" }],
  [2, 0, "candidate.scored", { candidate: "c1.1", index: 1, of: 3, scale: 7, score: 7, call: "x/1" }],
  [3, 0, "candidate.scored", { candidate: "c1.1", index: 2, of: 3, scale: 7, call: "x/2" }],
  [4, 0, "candidate.scored", { candidate: "c1.1", index: 3, of: 3, scale: 7, score: 0, call: "x/3" }],
  [5, 0, "candidate.judged", { candidate: "c1.2", index: 1, passed: false, call: "y/1" }],
  [6, 0, "candidate.judged", { candidate: "c1.2", index: 2, call: "y/2" }],
  [7, 0, "vote.cast", { subject: "proof/1", index: 1, of: 1, first_fault: 0 }],
  [8, 0, "pair.decided", { round: 1, pair: ["c1.1", "c1.2"], winner: "c1.1", by: "seed" }],
  [9, 0, "unheard.of", {}],
].forEach((event, place) => candidates.take(event, place));

const checked = { nodes: [{ ...node("a", "lemma", 1), check: "refuted" }], edges: [], contributing: [], redundant: [] };
const fold = new RunStory();
const checks = [
  [1, 0, "lemma.proposed", { lemma: "a" }],
  [2, 0, "formulas.checked", { subject: "a", outcome: "refuted" }],
].map((event, place) => {
  fold.take(event, place);
  return graphAt(checked, fold).nodes.get("a").check;
});

const agents = new RunStory();
const toolsAtWork = [];
[
  [1, 0, "turn.taken", { conversation: "solve/c1.1", turn: 1, succeeded: true, mended: true }],
  [2, 0, "tool.began", { call: "t", job: "python" }],
  [3, 0, "tool.ended", { call: "t" }],
  [4, 0, "turn.taken", { conversation: "solve/c1.1", turn: 2, succeeded: false }],
  [5, 0, "turn.taken", { conversation: "solve/c1.1", turn: 3 }],
  [6, 0, "memory.stored", { candidate: "c1.1" }],
  [7, 0, "tool.began", { call: "u", job: "search" }],
  [8, 0, "tool.failed", { call: "u" }],
].forEach((event, place) => {
  agents.take(event, place);
  toolsAtWork.push(agents.tools.size);
});

const duel = new RunStory();
[
  [1, 0, "call.began", { call: "x", role: "solver", round: 1 }],
  [2, 0, "call.began", { call: "y", role: "judge", round: 4 }],
  [3, 0, "candidate.scored", { candidate: "c1.1", index: 1, of: 1, scale: 7, score: 5, call: "z" }],
  [4, 0, "pair.judged", { round: 1, first: "c1.2", second: "c1.1", better: "c1.2" }],
  [5, 0, "pair.judged", { round: 1, first: "c1.1", second: "c1.2" }],
  [6, 0, "pair.decided", { round: 1, pair: ["c1.1", "c1.2"], winner: "c1.2", by: "seed" }],
].forEach((event, place) => duel.take(event, place));

const counting = new RunStory();
const bars = [
  [1, 0, "call.began", { call: "a", role: "verifier", rollout: 1, round: 2 }],
  [2, 0, "call.began", { call: "b", role: "verifier", rollout: 0, round: 2 }],
  [3, 0, "call.ended", { call: "a" }],
  [4, 0, "call.failed", { call: "b" }],
  [5, 0, "call.ended", { call: "never begun" }],
].map((event, place) => {
  counting.take(event, place);
  return ["1/2/verifier", "*/2/verifier", "last/verifier"].map((name) => barWords(counting.bars.get(name)).count);
});
counting.take([6, 0, "round.ended", { rollout: 0, round: 2 }], 5);

const evolution = { nodes: [node("c1.1", "candidate", 1), node("memory/1", "memory", 3)], edges: [], contributing: [], redundant: [] };
const kept = new RunStory();
[
  [1, 0, "candidate.drafted", { candidate: "c1.1" }],
  [2, 0, "memory.stored", { candidate: "c1.1", correct: true, ayes: 2, valid: 2 }],
  [3, 0, "pool.kept", { round: 1, kept: ["c1.1"] }],
].forEach((event, place) => kept.take(event, place));
const memory = graphAt(evolution, kept);

const computing = timesOf([
  [1, 0, "tool.began", { call: "t" }],
  [2, 20_000, "tool.ended", { call: "t" }],
  [3, 40_000, "tool.began", { call: "u" }],
  [4, 60_000, "tool.failed", { call: "u" }],
]);

// s0.5 is merged into s1.1 when a lemma uses it already; then the merged-into lemma falls.
const named = (id, from, target, seq, first) => ({ id, kind: "uses", source: "s1.1", named: from, target, seq, first_seq: first });
const twins = {
  nodes: [...["s1.1", "s0.5", "s0.7"].map((id, place) => node(id, "lemma", place + 1)), node("proof/1", "proof", 10)],
  edges: [
    named("uses:s0.5>s0.7", "s0.5", "s0.7", 7, 4), named("uses:s1.1>s0.7", "s1.1", "s0.7", 5, 5),
    { id: "merges:s0.5>s1.1", kind: "merges", source: "s0.5", target: "s1.1", seq: 99, first_seq: 99 },
  ],
  contributing: [], redundant: ["uses:s1.1>s0.7"],
};
const merging = [
  [1, 0, "lemma.proposed", { lemma: "s1.1", rollout: 1 }],
  [2, 0, "lemma.proposed", { lemma: "s0.5", rollout: 0 }],
  [3, 0, "lemma.proposed", { lemma: "s0.7", rollout: 0 }],
  [4, 0, "edge.added", {}],
  [5, 0, "edge.added", {}],
  [6, 0, "verdict.reached", { subject: "s0.5", status: "verified" }],
  [7, 0, "lemma.merged", { lemma: "s0.5", into: "s1.1" }],
  [8, 0, "verdict.reached", { subject: "s1.1", status: "verified" }],
  [9, 0, "lemma.retired", { lemma: "s1.1" }],
  [10, 0, "lemma.retired", { lemma: "s0.5" }],
];
const merge = new RunStory();
const mergedAt = merging.map((event, place) => {
  merge.take(event, place);
  const then = graphAt(twins, merge);
  return {
    source: then.edges.get("uses:s0.5>s0.7")?.source, merges: then.edges.has("merges:s0.5>s1.1"), redundant: [...then.redundant],
    frontier: then.frontier, status: then.nodes.get("s0.5")?.status, finders: then.nodes.get("s1.1").found_by,
  };
});

const fork = new RunStory();
[
  [1, 0, "call.ended", { call: "a", attempt: 0, tokens: 100 }],
  [2, 0, "call.failed", { call: "b", attempt: 0 }],
  [3, 0, "call.ended", { call: "c", attempt: 2, tokens: 7 }],
  [4, 0, "call.failed", { call: "d" }],
].forEach((event, place) => fork.take(event, place));

const idle = [
  [1, 0, "run.created", {}],
  [2, 100, "call.began", { call: "x" }],
  [3, 600_100, "call.ended", { call: "x", tokens: 7 }],
  [4, 9_600_100, "call.began", { call: "y" }],
  [5, 9_600_000, "call.failed", { call: "y" }],
];
const times = timesOf(idle);

const heard = { pieces: [], snapshots: [] };
let part = 0.25;
let asked = 0;
const streams = new ReplayStreams({
  base: "/texts/",
  partOf: () => part,
  fetch: async (url) => {
    asked += 1;
    return { ok: true, json: async () => ({ text: "αβγδεζηθ", reasoning: "1234", url }) };
  },
});
streams.lanes = { piece: (item) => heard.pieces.push(item), snapshot: (frame) => heard.snapshots.push(frame) };
const soon = () => new Promise((resolve) => { setTimeout(resolve, 5); });
streams.watch(["s0/r1/reason"]);
await soon();
part = 0.5;
streams.advance();
part = 1;
streams.advance();
streams.askText("s0/r1/reason");
await soon();

const early = at(6);
console.log(JSON.stringify({
  early: early.ids, unverified: early.a.confidence === null && early.a.found_by === 1, notYetImplied: early.redundant,
  implied: at(7).redundant,
  oneVote: [at(8).a.passes, at(8).a.valid, at(8).a.total, at(8).a.expected, at(8).a.confidence],
  verdict: [at(12).a.confidence, at(12).a.status],
  merged: [at(13).then.nodes.get("b").status, at(13).a.found_by],
  contributing: [at(13).contributing, at(14).contributing],
  frontier: at(6).frontier, mergedAt, fork: [fork.calls, fork.tokens, fork.inherited],
  votes: at(11).fold.votes.get("a").map(({ mark }) => mark),
  scored: [candidates.subjects.get("c1.1").confidence, candidates.subjects.get("c1.1").valid, candidates.subjects.get("c1.1").total],
  reached: [...candidates.reached], judged: candidates.votes.get("c1.2").map(({ mark }) => mark), newest: [...candidates.votes.keys()].at(-1),
  tally: candidates.counts.get("checks"), unplaced: candidates.votes.get("proof/1")[0].words,
  words: ["c1.1", "c1.2"].map((id) => graphAt({ ...checked, nodes: [node(id, "candidate", 1)] }, candidates).nodes.get(id).words),
  checks, toolsAtWork, agents: [...agents.reached], counts: Object.fromEntries(agents.counts), computing,
  bars, barStates: [{ done: 0, failed: 0, running: 1 }, { done: 2, failed: 2, running: 0 }, { done: 1, failed: 0, running: 0 }].map((bar) => barWords(bar).state),
  known: barWords({ done: 1, failed: 0, running: 1 }, 8), ended: counting.reached.has("round 0/2"),
  memory: [memory.nodes.get("c1.1").words, memory.nodes.get("c1.1").status, memory.nodes.has("memory/1"), kept.reached.has("memory/1")],
  knockOut: [duel.round, duel.isKnockOut], partly: duel.votes.get("c1.1")[0].mark,
  pair: duel.votes.get("pair/1/c1.2/c1.1").map(({ mark }) => mark), pairs: duel.votes.size,
  times, counted: [countUntil(times, -1), countUntil(times, 0), countUntil(times, 100), countUntil(times, 1e9)],
  asked, pieces: heard.pieces.map(({ ch, off, text }) => [ch, off, text]), snapshots: heard.snapshots.map(({ text, reasoning, ended }) => [text, reasoning, ended]),
}));
