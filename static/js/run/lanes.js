// The agents at work: one line per running call. Open lines stream tokens, closed lines show counters.
// A line that is open when its call ends stays until it is closed, so that readers can finish the text.
import { StreamText } from "../stream_text.js";
import { compact } from "./words.js";

const MOST_STREAMS = 16;
const MOST_LINES = 60;
const AUTO_OPEN = 3;
const NEAR_BOTTOM = 30;
const LINGER_MS = 6000;

function element(tag, className = "", text = "") {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}

/** The body of an open line: thinking (collapsed) and text, in a box that scrolls with new text while scrolled to its end. */
class Pane {
  constructor(role, { onFollow }) {
    this.role = role;
    this.box = element("div", "lane__scroll");
    this.box.tabIndex = 0;
    this.pill = element("button", "button button--small lane__pill", "new ↓");
    this.pill.type = "button";
    this.pill.hidden = true;
    this.thinking = element("details", "disclosure lane__thinking");
    this.thinking.hidden = true;
    this.thinking.open = sessionStorage.getItem(`thinking:${role}`) === "open";
    this.summary = element("summary");
    this.label = element("span", "", "Thinking");
    this.preview = element("span", "lane__preview muted");
    this.summary.append(this.label, this.preview);
    const reasoning = element("div", "prose lane__reasoning");
    this.thinking.append(this.summary, reasoning);
    const text = element("div", "prose lane__text");
    this.box.append(this.thinking, text);
    this.streams = { text: new StreamText(text), reasoning: new StreamText(reasoning) };
    this.tail = "";
    this.hasText = false;
    this.follows = true;
    this.box.addEventListener("scroll", () => {
      this.follows = this.#isNearBottom();
      if (this.follows) this.pill.hidden = true;
      onFollow();
    });
    this.box.addEventListener("streamdrawn", () => this.scroll());
    this.pill.addEventListener("click", () => {
      this.follows = true;
      this.pill.hidden = true;
      this.scroll();
    });
    this.thinking.addEventListener("toggle", () => {
      sessionStorage.setItem(`thinking:${role}`, this.thinking.open ? "open" : "closed");
      this.scroll();
    });
  }

  #isNearBottom() {
    return this.box.scrollHeight - this.box.scrollTop - this.box.clientHeight <= NEAR_BOTTOM;
  }

  /** Append a piece; false if an earlier piece is missing. */
  append(channel, off, text) {
    if (!this.streams[channel].append(off, text)) return false;
    this.#noteTail(channel, text);
    return true;
  }

  reset(text, reasoning) {
    this.streams.text.reset(text);
    this.streams.reasoning.reset(reasoning);
    this.tail = "";
    this.hasText = Boolean(text);
    if (reasoning) this.#noteTail("reasoning", reasoning);
  }

  #noteTail(channel, text) {
    if (channel === "text") {
      this.hasText = true;
      return;
    }
    this.thinking.hidden = false;
    this.tail = (this.tail + text).slice(-400);
    const lines = this.tail.split("\n").filter((line) => line.trim());
    this.preview.textContent = (lines.at(-1) ?? "").slice(-120);
  }

  seal() {
    this.streams.text.seal();
    this.streams.reasoning.seal();
  }

  /** After each drawing. */
  scroll() {
    if (this.follows) this.box.scrollTop = this.box.scrollHeight;
    else this.pill.hidden = false;
  }
}

export class Lanes {
  /** `stream` has `watch(calls)` and `askText(call)`; `callUrl(call)` is the permalink of a call. */
  constructor(root, { stream, callUrl, clock = globalThis }) {
    this.root = root;
    this.roleWords = JSON.parse(root.dataset.roleWords);
    this.stream = stream;
    this.callUrl = callUrl;
    this.clock = clock;
    this.list = root.querySelector('[data-part="lanes"]');
    this.followNew = root.querySelector('[data-part="follow-new"]');
    this.lanes = new Map();
    this.isOver = false;
    this.followNew.checked = localStorage.getItem("lanes:follow-new") !== "no";
    this.followNew.addEventListener("change", () => {
      localStorage.setItem("lanes:follow-new", this.followNew.checked ? "yes" : "no");
      if (this.followNew.checked) this.#openSome();
    });
    for (const line of this.list.querySelectorAll("[data-call]")) this.#adopt(line);
    this.#openSome();
    this.#count();
  }

  get running() {
    return [...this.lanes.values()].filter((lane) => !lane.ended).length;
  }

  began(body) {
    if (this.lanes.has(body.call)) return;
    const line = element("details", "lane");
    line.dataset.call = body.call;
    line.dataset.role = body.role;
    const summary = element("summary");
    const place = body.subject ? `${body.subject}${body.index ? ` · ${body.index}` : ""}` : `rollout ${body.rollout}, round ${body.round}`;
    summary.append(element("span", "lane__name", this.roleWords[body.role] ?? body.role), " ", element("span", "lane__place", place), " ", element("span", "lane__count num muted", "waiting for the model"));
    const about = element("p", "small muted");
    const link = element("a", "", body.call);
    link.href = this.callUrl(body.call);
    about.append(link, ` to ${body.alias}`);
    line.append(summary, about);
    this.list.append(line);
    this.#adopt(line);
    this.#openSome();
    this.#count();
  }

  ended(call, failure = "") {
    const lane = this.lanes.get(call);
    if (!lane || lane.ended) return;
    lane.ended = true;
    this.#say(lane, failure ? "failed" : "ended");
    lane.line.classList.add("lane--ended");
    if (lane.pane) this.#ask(lane); // The last tokens may not have arrived; the record has the whole text.
    if (!lane.line.open) this.#remove(lane);
    else if (lane.autoOpened) this.clock.setTimeout(() => this.#leave(lane), LINGER_MS);
    this.#watch();
    this.#openSome();
    this.#count();
  }

  retried(body) {
    const lane = this.lanes.get(body.call);
    if (!lane) return;
    lane.attempt = body.attempt;
    lane.pane?.reset("", "");
    this.#say(lane, `attempt ${body.attempt}: ${body.reason}`);
  }

  /** Counters of all running calls, about once a second. */
  generating(calls) {
    for (const [call, { n, rate, attempt }] of Object.entries(calls)) {
      const lane = this.lanes.get(call);
      if (!lane || lane.ended) continue;
      if (attempt > lane.attempt) {
        lane.attempt = attempt;
        lane.pane?.reset("", "");
      }
      this.#say(lane, n ? `${compact(n)} tokens · ${Math.round(rate)}/s` : "waiting for the model");
      if (lane.pane && !lane.pane.hasText && n) lane.pane.label.textContent = `Thinking, ${compact(n)} tokens`;
    }
  }

  piece({ call, attempt, ch, off, text }) {
    const lane = this.lanes.get(call);
    if (!lane?.pane || lane.ended || attempt < lane.attempt) return;
    if (attempt > lane.attempt) {
      lane.attempt = attempt;
      lane.pane.reset("", "");
    }
    if (lane.asked) return;
    if (!lane.pane.append(ch, off, text)) this.#ask(lane);
  }

  snapshot({ call, attempt, text, reasoning, ended }) {
    const lane = this.lanes.get(call);
    if (!lane?.pane) return;
    lane.asked = false;
    lane.attempt = Math.max(lane.attempt, attempt);
    lane.pane.reset(text, reasoning);
    if (ended) lane.pane.seal();
  }

  /** Request the texts of calls whose tokens were lost or dropped. */
  resync(calls) {
    for (const call of calls) {
      const lane = this.lanes.get(call);
      if (lane?.pane && !lane.ended) this.#ask(lane);
    }
  }

  /** End all lines: the run is over. */
  closeAll() {
    this.isOver = true;
    for (const lane of [...this.lanes.values()]) {
      if (!lane.ended) this.ended(lane.line.dataset.call);
      else if (lane.autoOpened) this.clock.setTimeout(() => this.#leave(lane), LINGER_MS);
    }
    this.#count();
  }

  /** Remove all lines, when a replay jumps to another event. */
  clear() {
    this.isOver = false;
    for (const { line } of this.lanes.values()) line.remove();
    this.lanes.clear();
    this.#watch();
    this.#count();
  }

  #ask(lane) {
    lane.asked = true;
    this.stream.askText(lane.line.dataset.call);
  }

  #adopt(line) {
    const lane = { line, attempt: 1, ended: false, asked: false, pane: null, autoOpened: false };
    this.lanes.set(line.dataset.call, lane);
    line.querySelector("summary").addEventListener("click", () => {
      lane.autoOpened = false;
    });
    line.addEventListener("toggle", () => this.#toggled(lane));
  }

  #toggled(lane) {
    const { line } = lane;
    if (line.open && !lane.pane) {
      const pane = new Pane(line.dataset.role, { onFollow: () => { lane.autoOpened = lane.autoOpened && pane.follows; } });
      lane.pane = pane;
      lane.asked = true; // The server answers a new watch with the text so far.
      const frame = element("div", "lane__frame");
      frame.append(pane.box, pane.pill);
      line.append(frame);
    } else if (!line.open) {
      lane.pane?.box.parentElement.remove();
      lane.pane = null;
      if (lane.ended) this.#remove(lane);
    }
    this.#watch();
  }

  #openSome() {
    if (!this.followNew.checked) return;
    let open = [...this.lanes.values()].filter((lane) => lane.line.open && !lane.ended).length;
    for (const lane of this.lanes.values()) {
      if (open >= AUTO_OPEN) return;
      if (lane.ended || lane.line.open) continue;
      lane.autoOpened = true;
      lane.line.open = true;
      open += 1;
    }
  }

  #leave(lane) {
    if (lane.autoOpened && lane.ended && (this.running || this.isOver)) lane.line.open = false;
  }

  #watch() {
    const open = [...this.lanes.values()].filter((lane) => lane.line.open && !lane.ended);
    this.stream.watch(open.slice(0, MOST_STREAMS).map((lane) => lane.line.dataset.call));
  }

  #remove(lane) {
    lane.line.remove();
    this.lanes.delete(lane.line.dataset.call);
    this.#count();
  }

  #say(lane, words) {
    const count = lane.line.querySelector(".lane__count");
    if (count.textContent !== words) count.textContent = words;
  }

  #count() {
    const part = (name) => this.root.querySelector(`[data-part="${name}"]`);
    const { running } = this;
    part("lane-count").textContent = String(running);
    this.root.hidden = this.isOver;
    part("lanes-empty").hidden = this.lanes.size > 0;
    let shown = 0;
    for (const lane of this.lanes.values()) lane.line.hidden = !lane.line.open && shown++ >= MOST_LINES;
    const more = Math.max(0, shown - MOST_LINES);
    part("lanes-more").hidden = more === 0;
    part("lanes-more").textContent = `and ${more} more`;
  }
}
