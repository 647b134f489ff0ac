// The replay of a run that has ended: its events shown again on the run's page, at ×1 to ×200 of the recorded speed, with
// graph, streams and votes in step. No model is called. story.js folds its events.
import { nodeName } from "../graph/nouns.js";
import { KIND } from "./kinds.js";
import { Lanes } from "./lanes.js";
import { drawCards } from "./replay_cards.js";
import { countUntil, timesOf } from "./replay_clock.js";
import { graphAt } from "./replay_graph.js";
import { ReplayStreams } from "./replay_streams.js";
import { drawTimeline } from "./replay_timeline.js";
import { drawVotes } from "./replay_votes.js";
import { RunStory } from "./story.js";
import { compact, duration, showInherited } from "./words.js";

const DRAW_MS = 250;
const CALM_MS = 1000;
const ANNOUNCE_MS = 10_000;
/** Longest duration of a replay at its initial speed. */
const WHOLE_MS = 90_000;
/** Calls that would be visible for less than this get no line. */
const BRIEF_MS = 600;
const SOLUTION = /^c\d+\.\d+$/;

const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/**
 * `graph` is the result of mountLemmaGraph. Each drawing calls `moved(seq, passed)` with the current event and the events
 * passed since the last drawing, in either direction. `done()` returns the page to the end of the run.
 */
export function mountReplay(page, { graph, graphUrl, moved, done }) {
  const root = page.querySelector("[data-replay]");
  if (!root) return;
  const part = (name) => root.querySelector(`[data-part="${name}"]`);
  const replay = new Replay(page, root, { graph, graphUrl, moved, done });
  root.hidden = false;
  root.addEventListener("click", (event) => replay.act(event.target.closest("[data-action]")?.dataset.action));
  root.addEventListener("keydown", (event) => replay.key(event));
  part("scrub").addEventListener("input", () => replay.seek(Number(part("scrub").value)));
  part("speed").addEventListener("change", () => replay.showPosition());
  const asked = new URLSearchParams(location.search).get("at");
  if (asked && /^\d{1,9}$/.test(asked)) replay.start(Number(asked));
}

class Replay {
  constructor(page, root, { graph, graphUrl, moved, done }) {
    Object.assign(this, { page, root, graph, graphUrl, moved, done });
    this.part = (name) => root.querySelector(`[data-part="${name}"]`);
    this.votes = page.querySelector("#replay-votes");
    this.events = [];
    this.lanes = null;
    this.isOn = this.isPlaying = this.isLoading = false;
    this.clock = this.frame = this.drawnAt = this.announcedAt = this.drawnCount = 0;
  }

  get speed() {
    return Number(this.part("speed").value);
  }

  act(action) {
    if (action === "start") this.start();
    else if (action === "play") this.toggle();
    else if (action === "leave") this.leave();
  }

  /** Space, arrows, Home and End, [ and ], Escape. The slider handles its own keys. */
  key(event) {
    if (!this.isOn || event.ctrlKey || event.metaKey || event.altKey || event.target === this.part("speed")) return;
    const step = event.shiftKey ? 10 : 1;
    const to = {
      " ": () => this.toggle(),
      ArrowLeft: () => this.seek(this.at - step),
      ArrowRight: () => this.seek(this.at + step),
      Home: () => this.seek(1),
      End: () => this.seek(this.events.length),
      "[": () => this.shift(-1),
      "]": () => this.shift(1),
      Escape: () => this.leave(),
    }[event.key];
    if (!to) return;
    event.preventDefault();
    to();
  }

  async start(seq = 0) {
    if (this.isOn || this.isLoading) return;
    this.isLoading = true;
    this.part("trouble").hidden = true;
    try {
      await this.load();
    } catch (reason) {
      this.part("trouble").textContent = `The replay could not be loaded (${reason.message}). Try again.`;
      this.part("trouble").hidden = false;
      return;
    } finally {
      this.isLoading = false;
    }
    this.isOn = true;
    this.page.classList.add("run--replaying");
    this.root.querySelector('[data-action="start"]').hidden = true;
    for (const name of ["bar", "now"]) this.part(name).hidden = false;
    this.votes.hidden = false;
    this.seek(Math.max(1, seq));
    this.root.querySelector('[data-action="play"]').focus();
    if (!seq) this.play();
  }

  async load() {
    if (this.events.length) return;
    const events = [];
    for (let after = 0, page; page?.next !== 0; after = page.next) {
      page = await json(`${this.root.dataset.url}?after=${after}`);
      events.push(...page.events);
    }
    this.whole = this.graphUrl ? await json(this.graphUrl) : null;
    this.names = new Map((this.whole?.nodes ?? []).map((node) => [node.id, node]));
    await this.graph.ready;
    this.times = timesOf(events);
    this.ends = new Map();
    events.forEach(([, , kind, body], place) => {
      if (kind === KIND.CALL_ENDED || kind === KIND.CALL_FAILED) this.ends.set(body.call, { at: this.times[place], body });
    });
    this.events = events;
    this.part("scrub").max = String(events.length);
    this.part("scrub").min = "1";
    const speeds = [...this.part("speed").options].map((option) => Number(option.value));
    const fits = speeds.find((speed) => this.length / speed <= WHOLE_MS) ?? speeds.at(-1);
    this.part("speed").value = String(fits);
  }

  get length() {
    return this.times.at(-1) ?? 0;
  }

  // --- time ---

  toggle() {
    if (this.isPlaying) this.pause();
    else this.play();
  }

  play() {
    if (this.at >= this.events.length) this.seek(1);
    this.isPlaying = true;
    this.before = performance.now();
    this.showPosition();
    this.frame = requestAnimationFrame(() => this.tick());
  }

  pause() {
    this.isPlaying = false;
    cancelAnimationFrame(this.frame);
    this.showPosition();
    this.write();
  }

  shift(by) {
    const { options } = this.part("speed");
    this.part("speed").selectedIndex = Math.max(0, Math.min(options.length - 1, this.part("speed").selectedIndex + by));
    this.showPosition();
  }

  tick() {
    if (!this.isPlaying) return;
    const now = performance.now();
    this.clock = Math.min(this.length, this.clock + (now - this.before) * this.speed);
    this.before = now;
    this.forward(countUntil(this.times, this.clock));
    if (now - this.drawnAt >= (calm() ? CALM_MS : DRAW_MS)) this.draw(now);
    else if (!calm()) this.streams.advance();
    if (this.at >= this.events.length) {
      this.draw(now);
      this.pause();
    } else this.frame = requestAnimationFrame(() => this.tick());
  }

  /** Move to the state after `count` events, in either direction. */
  seek(count) {
    const wanted = Math.max(1, Math.min(this.events.length, count));
    this.story = new RunStory();
    this.at = 0;
    if (!this.lanes) this.openLanes();
    this.lanes.clear();
    for (; this.at < wanted; this.at += 1) this.story.take(this.events[this.at], this.at);
    this.clock = this.times[wanted - 1];
    for (const { body } of this.story.open.values()) this.lanes.began(body);
    this.draw(performance.now());
    if (!this.isPlaying) this.write();
  }

  forward(count) {
    for (; this.at < count; this.at += 1) {
      const event = this.events[this.at];
      this.story.take(event, this.at);
      const [, , kind, body] = event;
      if (kind === KIND.CALL_BEGAN && !this.isBrief(body.call, this.times[this.at])) this.lanes.began(body);
      else if (kind === KIND.CALL_RETRIED) this.lanes.retried(body);
      else if (kind === KIND.CALL_ENDED || kind === KIND.CALL_FAILED) this.lanes.ended(body.call, body.reason ?? "");
    }
  }

  isBrief(call, began) {
    return ((this.ends.get(call)?.at ?? this.length) - began) / this.speed < BRIEF_MS;
  }

  // --- drawing ---

  openLanes() {
    const base = location.pathname.replace(/\/?$/, "/");
    const partOf = (call) => this.partOf(call);
    this.streams = new ReplayStreams({ base: this.root.dataset.texts, partOf, calm });
    const callUrl = (call) => `${base}calls/${call.split("/").map(encodeURIComponent).join("/")}/`;
    this.lanes = new Lanes(document.getElementById("lanes"), { stream: this.streams, callUrl });
    this.streams.lanes = this.lanes;
  }

  /** The share of a call's text that is written at the current time. */
  partOf(call) {
    const open = this.story.open.get(call);
    if (!open) return 1;
    const end = this.ends.get(call);
    if (!end) return 0;
    const first = this.times[open.place] + 1000 * (end.body.ttft_s ?? 0);
    return Math.max(0, Math.min(1, (this.clock - first) / Math.max(1, end.at - first)));
  }

  draw(now) {
    this.drawnAt = now;
    if (this.whole) this.graph.asOf(graphAt(this.whole, this.story));
    drawVotes(this.votes.querySelector('[data-part="votes"]'), this.story.votes, (subject) => this.nameOf(subject));
    drawCards(this.page, this.story);
    this.streams.advance();
    const calls = Object.fromEntries([...this.story.open.keys()].map((call) => {
      const { at = 0, body = {} } = this.ends.get(call) ?? {};
      const seconds = (at - this.times[this.story.open.get(call).place]) / 1000 - (body.ttft_s ?? 0);
      const rate = seconds > 0 ? (body.completion ?? 0) / seconds : 0;
      return [call, { n: Math.round(this.partOf(call) * (body.completion ?? 0)), rate, attempt: 1 }];
    }));
    this.lanes.generating(calls);
    const liveness = this.page.querySelector('#run-header [data-part="liveness"]');
    if (liveness) Object.assign(liveness, { textContent: "replay", className: "status status--ended" });
    this.meter("tokens", this.story.tokens + Object.values(calls).reduce((sum, { n }) => sum + n, 0));
    this.meter("calls", this.story.calls);
    this.meter("seconds", this.clock / 1000, duration);
    drawTimeline(this.page, this.story);
    const [from, to] = [this.drawnCount, this.at].sort((one, other) => one - other);
    this.drawnCount = this.at;
    this.moved(this.events[this.at - 1][0], this.events.slice(from, to));
    this.showPosition();
  }

  /** Show the amount used so far, as text and as a bar. The time is that of the replay, which shortens idle waits. */
  meter(name, amount, words = compact) {
    const budget = this.page.querySelector(`#run-header [data-meter="${name}"]`);
    if (!budget) return;
    budget.querySelector('[data-part="used"]').textContent = words(amount);
    showInherited(budget, this.story.inherited[name]);
    const bar = budget.querySelector(".meter");
    if (!bar) return;
    bar.setAttribute("aria-valuenow", String(Math.round(amount)));
    const share = String(Math.min(1, amount / Number(budget.dataset.limit)));
    for (const name of ["--value", "--reach"]) bar.style.setProperty(name, share);
  }

  /** The name of a subject in the graph. */
  nameOf(subject) {
    if (subject.startsWith("pair/")) return `Pair ${subject.split("/").slice(2).join(" – ")}`;
    const node = this.names.get(subject);
    if (SOLUTION.test(subject) || node?.kind === "candidate") return `Solution ${subject}`;
    return !node ? subject : nodeName(node, this.whole.rollouts);
  }

  showPosition() {
    if (!this.isOn) return;
    this.part("scrub").value = String(this.at);
    const play = this.root.querySelector('[data-action="play"]');
    play.textContent = this.isPlaying ? "Pause" : this.at >= this.events.length ? "Play again" : "Play";
    this.part("where").textContent = `${duration(this.clock / 1000)} of ${duration(this.length / 1000)}`;
    const [seq, , kind] = this.events[this.at - 1];
    this.part("scrub").setAttribute("aria-valuetext", `event ${seq} of ${this.events.at(-1)[0]}: ${kind}`);
    const words = [`Event ${seq} of ${this.events.at(-1)[0]}: ${kind.replace(".", " ").replaceAll("_", " ")}`, ...this.about()].join(", ");
    this.part("now").textContent = words;
    if (performance.now() - this.announcedAt < ANNOUNCE_MS) return;
    this.announcedAt = performance.now();
    this.part("live").textContent = words;
  }

  /** The current phase of the run and the number of running tools, which have no lanes. */
  about() {
    const { isKnockOut, round, tools } = this.story;
    const where = isKnockOut ? ["knock-out"] : round ? [`round ${round}`] : [];
    return tools.size ? [...where, `${tools.size} tool${tools.size === 1 ? "" : "s"} at work`] : where;
  }

  /** Write the position into the address, so that links lead to it. */
  write() {
    const url = new URL(location.href);
    if (this.isOn) url.searchParams.set("at", String(this.at));
    else url.searchParams.delete("at");
    history.replaceState(history.state, "", url);
  }

  leave() {
    if (!this.isOn) return;
    if (this.isPlaying) this.pause();
    this.isOn = false;
    this.story.isOver = true;
    drawCards(this.page, this.story);
    this.page.classList.remove("run--replaying");
    if (this.whole) this.graph.asOf(null);
    this.lanes.clear();
    this.lanes.root.hidden = this.votes.hidden = true;
    for (const name of ["bar", "now"]) this.part(name).hidden = true;
    const start = this.root.querySelector('[data-action="start"]');
    start.hidden = false;
    start.focus();
    this.write();
    this.done();
  }
}

async function json(url) {
  const response = await fetch(url, { headers: { Accept: "application/json" } });
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  return response.json();
}
