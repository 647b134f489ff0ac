// The story of a run as of any of its events, as in apps/reasoning/story; a test holds the two equal over runs of every
// scaffold. Pure: no DOM, no network. Events are rows of replay.json: [seq, milliseconds, kind, fields]
// (apps/explorations/replay.py).
import { KIND } from "./kinds.js";

/** The role whose calls count rounds of the knock-out, not of the search (apps/explorations/timeline.py). */
const KNOCK_OUT_ROLE = "judge";

/** The state of a subject before its first vote or report. */
export const fresh = () => ({ passes: 0, valid: 0, total: 0, expected: 0, confidence: null, low: null, high: null, unscored: "", status: "", scores: null, scale: 1, judged: 0, wanted: 0, unread: 0 });

/** A run so far; `take` adds one event. */
export class RunStory {
  constructor() {
    this.seq = 0;
    this.subjects = new Map(); // lemma, proof or candidate → counts and verdict
    this.merged = new Map(); // lemma → the one it was merged into
    this.retired = new Set();
    this.finders = new Map(); // lemma → the rollouts that found it
    this.people = new Map(); // lemma → person → accepted
    this.asked = new Map(); // command → what a person asked for
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

  /** `accepted`, `rejected`, or `disputed` if people disagree about a lemma; "" without a verdict of people. */
  wordOfPeople(lemma) {
    const said = new Set(this.people.get(lemma)?.values());
    return said.size > 1 ? "disputed" : said.has(true) ? "accepted" : said.has(false) ? "rejected" : "";
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
  [KIND.RUN_FINISHED]: (story) => {
    story.isOver = true;
    story.reached.add("run ended");
  },
  [KIND.ROUND_BEGAN]: (story, { round }) => { story.round = Math.max(story.round, round ?? 0); },
  [KIND.ROUND_ENDED]: (story, { rollout = 0, round = 0 }) => { story.reached.add(`round ${rollout}/${round}`); },
  [KIND.CALL_BEGAN]: (story, body, place) => {
    if (!story.open.has(body.call)) for (const bar of story.barsOf(body)) bar.running += 1;
    story.open.set(body.call, { body, place });
    if (body.role === KNOCK_OUT_ROLE) story.isKnockOut = true;
    else story.round = Math.max(story.round, body.round ?? 0);
  },
  [KIND.CALL_ENDED]: (story, body) => { story.close(body, false); },
  [KIND.CALL_FAILED]: (story, body) => { story.close(body, true); },
  [KIND.OUTPUT_UNREAD]: (story, { call }) => { story.reached.add(`unread ${call}`); },
  [KIND.LEMMA_PROPOSED]: (story, { lemma, rollout = 0 }) => {
    story.subject(lemma).status ||= "proposed";
    story.finders.set(lemma, new Set([rollout]));
  },
  [KIND.LEMMA_MERGED]: (story, { lemma, into }) => {
    story.merged.set(lemma, into);
    story.finders.set(into, new Set([...(story.finders.get(into) ?? []), ...(story.finders.get(lemma) ?? [])]));
  },
  [KIND.LEMMA_RETIRED]: (story, { lemma }) => { story.retired.add(lemma); },
  [KIND.LEMMA_RESTORED]: (story, { lemma }) => { story.retired.delete(lemma); },
  [KIND.VOTE_CAST]: (story, { subject, index, of = 0, first_fault: fault, wrong_lemma: wrong, unscored }) => {
    const row = story.subject(subject);
    const passed = !unscored && !wrong && fault === -1;
    row.total += 1;
    row.expected = Math.max(of, row.total);
    row.valid += Number(!unscored);
    row.passes += Number(passed);
    const words = unscored ? "could not be read" : passed ? "no fault" : wrong ? `wrong lemma ${wrong}` : fault ? `fault in step ${fault}` : "fault at no step of the text";
    story.vote(subject, index, unscored ? "unread" : passed ? "pass" : "fault", words);
  },
  [KIND.VERDICT_REACHED]: (story, { subject, ...verdict }) => {
    const row = story.subject(subject);
    Object.assign(row, { confidence: null, low: null, high: null, unscored: "" }, verdict);
    row.expected = Math.max(row.expected, row.total);
  },
  [KIND.PROOF_DRAFTED]: (story, { proof }) => { story.subject(proof); },
  [KIND.PROOF_SELECTED]: (story, { proof }) => {
    story.selected = proof;
    story.reached.add("end");
  },
  [KIND.CANDIDATE_DRAFTED]: (story, { candidate }) => {
    story.subject(candidate);
    story.reached.add(candidate);
  },
  [KIND.CANDIDATE_SCORED]: (story, { candidate, index, of = 0, scale = 1, score, call }) => {
    const row = story.subject(candidate);
    row.scores ??= new Map();
    row.scale = scale;
    row.wanted = Math.max(row.wanted, of);
    story.reached.add(call);
    if (score !== undefined) row.scores.set(index, score);
    else row.unread += 1;
    recount(row);
    const mark = score === undefined ? "unread" : score === scale ? "pass" : score === 0 ? "fault" : "part";
    story.vote(candidate, index, mark, score === undefined ? "could not be read" : `${score} of ${scale}`);
  },
  [KIND.CANDIDATE_SCORE_DROPPED]: (story, { candidate, index }) => {
    const row = story.subject(candidate);
    row.scores?.delete(index);
    recount(row);
  },
  [KIND.CANDIDATE_JUDGED]: (story, { candidate, index, passed, call }) => {
    const row = story.subject(candidate);
    story.reached.add(call);
    row.judged += Number(passed !== undefined);
    row.passes += Number(passed ?? false);
    row.unread += Number(passed === undefined);
    recount(row);
    story.judgements[passed === undefined ? "unread" : passed ? "passed" : "failed"] += 1;
    story.counts.set("checks", checksWords(story.judgements));
    story.vote(candidate, index, passed === undefined ? "unread" : passed ? "pass" : "fault", passed === undefined ? "could not be read" : passed ? "pass" : "fail");
  },
  [KIND.POOL_KEPT]: (story, { round, kept }) => {
    for (const name of kept) story.kept.add(name);
    story.reached.add(`memory/${round}`);
  },
  [KIND.POOL_GROUPED]: (story) => { story.reached.add("groups"); },
  [KIND.PAIR_JUDGED]: (story, { round, first, second, better }) => {
    story.votePair(round, [first, second], 1, better ? "pass" : "unread", `${first} shown first: ${better ? `${better} is better` : "could not be read"}`);
  },
  [KIND.PAIR_DECIDED]: (story, { round, pair, winner, by }) => {
    story.reached.add(`pair/${round}/${pair[0]}/${pair[1]}`);
    story.votePair(round, pair, 1, "pass", `${winner} wins by ${by}`);
  },
  [KIND.STATE_WRITTEN]: (story, { turn }) => { story.reached.add(`state ${turn}`); },
  [KIND.TURN_TAKEN]: (story, { conversation, turn, succeeded, mended }) => {
    story.reached.add(`talk ${conversation}`).add(`turn ${turn} of ${conversation}`);
    story.counts.set(`turns of ${conversation}`, String(turn));
    if (mended) {
      story.reached.add("mended");
      story.counts.set("mended", String(Number(story.counts.get("mended") ?? 0) + 1));
    }
    if (succeeded === undefined) return;
    story.reached.add("tools");
    story.wanted += 1;
    story.worked += Number(succeeded);
    story.counts.set("tools", `${story.worked} of ${story.wanted}`);
    story.counts.set("rate", `${Math.round((100 * story.worked) / story.wanted)} %`);
  },
  [KIND.MEMORY_STORED]: (story, { candidate, correct, ayes = 0, valid = 0 }) => {
    story.reached.add(`memory ${candidate}`);
    const verdict = correct === undefined ? "undecided" : correct ? "judged correct" : "judged incorrect";
    story.remembered.set(candidate, valid ? `${verdict}, ${ayes} of ${valid}` : "no report could be read");
  },
  [KIND.TOOL_BEGAN]: (story, { call, job }) => { story.tools.set(call, job); },
  [KIND.TOOL_ENDED]: (story, { call }) => { story.tools.delete(call); },
  [KIND.TOOL_FAILED]: (story, { call }) => { story.tools.delete(call); },
  [KIND.FORMULAS_CHECKED]: (story, { subject, outcome }) => {
    story.reached.add(`check ${subject}`);
    story.checks.set(subject, outcome);
  },
  [KIND.CONTROL_REQUESTED]: (story, { command, by = "", args }) => { story.asked.set(command, { by, lemma: args?.lemma }); },
  [KIND.CONTROL_APPLIED]: (story, { command, name }) => {
    if (name === "hint") story.reached.add(`hint ${command}`);
    const { lemma, by } = story.asked.get(command) ?? {};
    if (!lemma || (name !== "accept_lemma" && name !== "reject_lemma")) return;
    if (!story.people.has(lemma)) story.people.set(lemma, new Map());
    story.people.get(lemma).set(by, name === "accept_lemma");
  },
};

/** Count the reports on a candidate, as `Candidate` of the core does. */
function recount(row) {
  const scores = [...(row.scores?.values() ?? [])];
  row.valid = row.scores ? scores.length : row.judged;
  if (row.scores) row.passes = scores.filter((score) => score === row.scale).length;
  row.total = row.valid + row.unread;
  row.expected = Math.max(row.wanted, row.total);
  const points = row.scores ? scores.reduce((sum, score) => sum + score, 0) / scores.length / row.scale : row.passes / row.valid;
  row.confidence = row.valid ? points : null;
}

/** As `Exchange.tally` in apps/explorations/candidates/exchange.py. */
function checksWords({ passed, failed, unread }) {
  const all = passed + failed + unread;
  return `${all} check${all === 1 ? "" : "s"}: ${passed} passed, ${failed} failed${unread ? `, ${unread} could not be read` : ""}`;
}
