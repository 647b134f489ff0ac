// The state of a run as of any of its events. Pure: no DOM, no network. Events are rows of replay.json:
// [seq, milliseconds, kind, fields] (apps/explorations/replay.py).

import { KIND } from "./kinds.js";

/** Longest idle wait in a replay; longer ones (a paused run, a night) are cut to this. */
const LONGEST_IDLE_MS = 2000;
const ENDS = /^(call|tool)\.(ended|failed)$/;
/** The role whose calls count rounds of the knock-out, not of the search (apps/explorations/timeline.py). */
const KNOCK_OUT_ROLE = "judge";

/** The time of each event on the replay's clock, in ms of recorded time. Waits without a running call or tool are shortened. */
export function timesOf(events) {
  const times = [];
  const open = new Set();
  let cut = 0;
  let before = 0;
  for (const [, at, kind, body] of events) {
    const gap = Math.max(0, at - before);
    if (!open.size && gap > LONGEST_IDLE_MS) cut += gap - LONGEST_IDLE_MS;
    before = Math.max(before, at);
    times.push(before - cut);
    if (kind === KIND.CALL_BEGAN || kind === KIND.TOOL_BEGAN) open.add(body.call);
    else if (ENDS.test(kind)) open.delete(body.call);
  }
  return times;
}

/** The number of `times` (ascending) up to `clock`. */
export function countUntil(times, clock) {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= clock) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The state of a subject before its first vote or report. */
export const fresh = () => ({ passes: 0, valid: 0, total: 0, expected: 0, confidence: null, low: null, high: null, unscored: "", status: "", scores: null, unread: 0 });

/** A fold over events; `take` adds one event. */
export class Fold {
  constructor() {
    this.seq = 0;
    this.subjects = new Map(); // lemma, proof or candidate → counts and verdict
    this.merged = new Map(); // lemma → the one it was merged into
    this.retired = new Set();
    this.finders = new Map(); // lemma → the rollouts that found it
    this.humans = new Map();
    this.asked = new Map();
    this.votes = new Map(); // subject → its votes in order, for the list of votes
    this.open = new Map(); // call → body of its beginning and its place in the list of events
    this.tools = new Map(); // tool calls that are open → job
    this.checks = new Map(); // subject → outcome of its formula check
    this.reached = new Set(); // moments that have passed: calls of judgements, candidates, pairs, states, turns, checks, memories
    this.judgements = { passed: 0, failed: 0, unread: 0 }; // all checks of candidates
    this.counts = new Map(); // name of a counter on the page → its text
    this.wanted = this.worked = 0; // tool calls in conversations
    this.kept = new Set();
    this.remembered = new Map(); // candidate → verdict of its reports
    this.selected = "";
    this.isOver = false;
    this.tokens = 0;
    this.calls = 0;
    this.inherited = { tokens: 0, calls: 0 }; // taken over by a fork; not included in the two above
    this.round = 0;
    this.isKnockOut = false;
    this.bars = new Map(); // place and role of a bar of the timeline → calls ended, failed and under way
  }

  /** The bars that count a call: those of its rollout, of all rollouts together, and of the phases after the rounds. */
  barsOf({ rollout = 0, round = 0, role }) {
    return [`${rollout}/${round}/${role}`, `*/${round}/${role}`, `last/${role}`].map((name) => {
      if (!this.bars.has(name)) this.bars.set(name, { done: 0, failed: 0, running: 0 });
      return this.bars.get(name);
    });
  }

  /** Close an open call. A call with attempt 0 was taken over from the parent run. */
  close({ call, attempt, tokens = 0 }, failed) {
    const { body } = this.open.get(call) ?? {};
    this.open.delete(call);
    const sums = attempt === 0 ? this.inherited : this;
    sums.calls += 1;
    sums.tokens += tokens;
    if (!body) return;
    for (const bar of this.barsOf(body)) {
      bar.running -= 1;
      bar.done += 1;
      bar.failed += Number(failed);
    }
  }

  subject(id) {
    if (!this.subjects.has(id)) this.subjects.set(id, fresh());
    return this.subjects.get(id);
  }

  vote(id, index, mark, words) {
    const row = this.votes.get(id) ?? [];
    row.push({ index, mark, words });
    this.votes.delete(id); // The newest subject comes last.
    this.votes.set(id, row);
  }

  /** Add a vote on a pair, under the order of its first vote. */
  votePair(round, [one, two], index, mark, words) {
    const turned = `pair/${round}/${two}/${one}`;
    this.vote(this.votes.has(turned) ? turned : `pair/${round}/${one}/${two}`, index, mark, words);
  }

  /** Add one event; `place` is its position in the list of events. */
  take([seq, , kind, body], place) {
    this.seq = seq;
    TAKERS[kind]?.(this, body, place);
  }
}

const TAKERS = {
  [KIND.RUN_FINISHED]: (fold) => {
    fold.isOver = true;
    fold.reached.add("run ended");
  },
  [KIND.ROUND_BEGAN]: (fold, { round }) => { fold.round = Math.max(fold.round, round ?? 0); },
  [KIND.ROUND_ENDED]: (fold, { rollout = 0, round = 0 }) => { fold.reached.add(`round ${rollout}/${round}`); },
  [KIND.CALL_BEGAN]: (fold, body, place) => {
    if (!fold.open.has(body.call)) for (const bar of fold.barsOf(body)) bar.running += 1;
    fold.open.set(body.call, { body, place });
    if (body.role === KNOCK_OUT_ROLE) fold.isKnockOut = true;
    else fold.round = Math.max(fold.round, body.round ?? 0);
  },
  [KIND.CALL_ENDED]: (fold, body) => { fold.close(body, false); },
  [KIND.CALL_FAILED]: (fold, body) => { fold.close(body, true); },
  [KIND.OUTPUT_UNREAD]: (fold, { call }) => { fold.reached.add(`unread ${call}`); },
  [KIND.LEMMA_PROPOSED]: (fold, { lemma, rollout = 0 }) => {
    fold.subject(lemma).status ||= "proposed";
    fold.finders.set(lemma, new Set([rollout]));
  },
  [KIND.LEMMA_MERGED]: (fold, { lemma, into }) => {
    fold.merged.set(lemma, into);
    fold.finders.set(into, new Set([...(fold.finders.get(into) ?? []), ...(fold.finders.get(lemma) ?? [])]));
  },
  [KIND.LEMMA_RETIRED]: (fold, { lemma }) => { fold.retired.add(lemma); },
  [KIND.LEMMA_RESTORED]: (fold, { lemma }) => { fold.retired.delete(lemma); },
  [KIND.VOTE_CAST]: (fold, { subject, index, of = 0, first_fault: fault, wrong_lemma: wrong, unscored }) => {
    const row = fold.subject(subject);
    const passed = !unscored && !wrong && fault === -1;
    row.total += 1;
    row.expected = Math.max(of, row.total);
    row.valid += Number(!unscored);
    row.passes += Number(passed);
    const words = unscored ? "could not be read" : passed ? "no fault" : wrong ? `wrong lemma ${wrong}` : fault ? `fault in step ${fault}` : "fault at no step of the text";
    fold.vote(subject, index, unscored ? "unread" : passed ? "pass" : "fault", words);
  },
  [KIND.VERDICT_REACHED]: (fold, { subject, ...verdict }) => {
    Object.assign(fold.subject(subject), { confidence: null, low: null, high: null, unscored: "" }, verdict);
  },
  [KIND.PROOF_SELECTED]: (fold, { proof }) => {
    fold.selected = proof;
    fold.reached.add("end");
  },
  [KIND.CANDIDATE_DRAFTED]: (fold, { candidate }) => {
    fold.subject(candidate);
    fold.reached.add(candidate);
  },
  [KIND.CANDIDATE_SCORED]: (fold, { candidate, index, of = 0, scale = 1, score, call }) => {
    const row = fold.subject(candidate);
    row.scores ??= new Map();
    row.total += 1;
    row.expected = Math.max(of, row.total);
    fold.reached.add(call);
    if (score !== undefined) row.scores.set(index, score / scale);
    else row.unread += 1;
    recount(row);
    const mark = score === undefined ? "unread" : score === scale ? "pass" : score === 0 ? "fault" : "part";
    fold.vote(candidate, index, mark, score === undefined ? "could not be read" : `${score} of ${scale}`);
  },
  [KIND.CANDIDATE_SCORE_DROPPED]: (fold, { candidate, index }) => {
    const row = fold.subject(candidate);
    row.scores?.delete(index);
    recount(row);
  },
  [KIND.CANDIDATE_JUDGED]: (fold, { candidate, index, passed, call }) => {
    const row = fold.subject(candidate);
    row.total += 1;
    row.expected = row.total;
    fold.reached.add(call);
    if (passed !== undefined) {
      row.valid += 1;
      row.passes += Number(passed);
      row.confidence = row.passes / row.valid;
    }
    row.unread += Number(passed === undefined);
    fold.judgements[passed === undefined ? "unread" : passed ? "passed" : "failed"] += 1;
    fold.counts.set("checks", checksWords(fold.judgements));
    fold.vote(candidate, index, passed === undefined ? "unread" : passed ? "pass" : "fault", passed === undefined ? "could not be read" : passed ? "pass" : "fail");
  },
  [KIND.POOL_KEPT]: (fold, { round, kept }) => {
    for (const name of kept) fold.kept.add(name);
    fold.reached.add(`memory/${round}`);
  },
  [KIND.POOL_GROUPED]: (fold) => { fold.reached.add("groups"); },
  [KIND.PAIR_JUDGED]: (fold, { round, first, second, better }) => {
    fold.votePair(round, [first, second], 1, better ? "pass" : "unread", `${first} shown first: ${better ? `${better} is better` : "could not be read"}`);
  },
  [KIND.PAIR_DECIDED]: (fold, { round, pair, winner, by }) => {
    fold.reached.add(`pair/${round}/${pair[0]}/${pair[1]}`);
    fold.votePair(round, pair, 1, "pass", `${winner} wins by ${by}`);
  },
  [KIND.STATE_WRITTEN]: (fold, { turn }) => { fold.reached.add(`state ${turn}`); },
  [KIND.TURN_TAKEN]: (fold, { conversation, turn, succeeded, mended }) => {
    fold.reached.add(`talk ${conversation}`).add(`turn ${turn} of ${conversation}`);
    fold.counts.set(`turns of ${conversation}`, String(turn));
    if (mended) {
      fold.reached.add("mended");
      fold.counts.set("mended", String(Number(fold.counts.get("mended") ?? 0) + 1));
    }
    if (succeeded === undefined) return;
    fold.reached.add("tools");
    fold.wanted += 1;
    fold.worked += Number(succeeded);
    fold.counts.set("tools", `${fold.worked} of ${fold.wanted}`);
    fold.counts.set("rate", `${Math.round((100 * fold.worked) / fold.wanted)} %`);
  },
  [KIND.MEMORY_STORED]: (fold, { candidate, correct, ayes = 0, valid = 0 }) => {
    fold.reached.add(`memory ${candidate}`);
    const verdict = correct === undefined ? "undecided" : correct ? "judged correct" : "judged incorrect";
    fold.remembered.set(candidate, valid ? `${verdict}, ${ayes} of ${valid}` : "no report could be read");
  },
  [KIND.TOOL_BEGAN]: (fold, { call, job }) => { fold.tools.set(call, job); },
  [KIND.TOOL_ENDED]: (fold, { call }) => { fold.tools.delete(call); },
  [KIND.TOOL_FAILED]: (fold, { call }) => { fold.tools.delete(call); },
  [KIND.FORMULAS_CHECKED]: (fold, { subject, outcome }) => {
    fold.reached.add(`check ${subject}`);
    fold.checks.set(subject, outcome);
  },
  [KIND.CONTROL_REQUESTED]: (fold, { command, name, args }) => { fold.asked.set(command, { name, lemma: args?.lemma }); },
  [KIND.CONTROL_APPLIED]: (fold, { command, name }) => {
    if (name === "hint") fold.reached.add(`hint ${command}`);
    const { lemma } = fold.asked.get(command) ?? {};
    if (!lemma || (name !== "accept_lemma" && name !== "reject_lemma")) return;
    const word = name === "accept_lemma" ? "accepted" : "rejected";
    const before = fold.humans.get(lemma);
    fold.humans.set(lemma, before && before !== word ? "disputed" : word);
  },
};

function recount(row) {
  const scores = [...row.scores.values()];
  row.valid = scores.length;
  row.passes = scores.filter((score) => score === 1).length;
  row.confidence = scores.length ? scores.reduce((sum, score) => sum + score, 0) / scores.length : null;
}

/** As `Exchange.tally` in apps/explorations/exchange.py. */
function checksWords({ passed, failed, unread }) {
  const all = passed + failed + unread;
  return `${all} check${all === 1 ? "" : "s"}: ${passed} passed, ${failed} failed${unread ? `, ${unread} could not be read` : ""}`;
}
