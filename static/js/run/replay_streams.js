// The streams of a replay: lanes receive calls as if they were live. The growth of a text is not recorded, only when its call
// began, gave its first token and ended. Text appears at an even pace between these, or at once with reduced motion.

const MOST_FETCHES = 3;
const MOST_TEXTS = 60;

/** A stream for `Lanes`. `partOf(call)` is the share of the text that has been written, 0 to 1. */
export class ReplayStreams {
  constructor({ base, partOf, calm = () => false, fetch = (...given) => globalThis.fetch(...given) }) {
    this.base = base;
    this.partOf = partOf;
    this.calm = calm;
    this.fetch = fetch;
    this.lanes = null;
    this.watched = new Map(); // call → code points shown of thinking and text together
    this.texts = new Map();
    this.wanted = [];
    this.fetching = 0;
  }

  watch(calls) {
    for (const call of [...this.watched.keys()]) if (!calls.includes(call)) this.watched.delete(call);
    for (const call of calls) if (!this.watched.has(call)) {
      this.watched.set(call, 0);
      this.askText(call);
    }
  }

  /** Show the whole text so far, once it is loaded. */
  askText(call) {
    if (this.texts.has(call)) queueMicrotask(() => this.#show(call));
    else if (!this.wanted.includes(call)) {
      this.wanted.push(call);
      this.#load();
    }
  }

  /** Send the text written since the last call. */
  advance() {
    if (this.calm()) return;
    for (const [call, shown] of this.watched) {
      const text = this.texts.get(call);
      if (!text) continue;
      const until = Math.floor(this.partOf(call) * (text.reasoning.length + text.text.length));
      if (until <= shown) continue;
      this.watched.set(call, until);
      this.#piece(call, "reasoning", text.reasoning, shown, until);
      this.#piece(call, "text", text.text, shown - text.reasoning.length, until - text.reasoning.length);
    }
  }

  #piece(call, ch, points, from, to) {
    const off = Math.max(0, from);
    const text = points.slice(off, Math.max(off, to)).join("");
    if (text) this.lanes.piece({ call, attempt: 1, ch, off, text });
  }

  #show(call) {
    const { text, reasoning } = this.texts.get(call);
    const part = this.partOf(call);
    const until = part >= 1 ? Infinity : this.calm() ? 0 : Math.floor(part * (reasoning.length + text.length));
    if (this.watched.has(call)) this.watched.set(call, Math.min(until, reasoning.length + text.length));
    const written = text.slice(0, Math.max(0, until - reasoning.length)).join("");
    this.lanes.snapshot({ call, attempt: 1, text: written, reasoning: reasoning.slice(0, until).join(""), ended: part >= 1 });
  }

  async #load() {
    if (this.fetching >= MOST_FETCHES || !this.wanted.length) return;
    const call = this.wanted.pop(); // The newest first: at high speed older calls end before their texts are loaded.
    this.wanted = this.wanted.slice(-MOST_FETCHES);
    this.fetching += 1;
    try {
      const response = await this.fetch(`${this.base}${call.split("/").map(encodeURIComponent).join("/")}/`);
      const found = response.ok ? await response.json() : { text: "", reasoning: "" };
      this.texts.set(call, { text: [...found.text], reasoning: [...found.reasoning] });
      if (this.texts.size > MOST_TEXTS) this.texts.delete(this.texts.keys().next().value);
      this.#show(call);
    } catch {
      // The replay continues without the text, which the page of the call shows.
    } finally {
      this.fetching -= 1;
      this.#load();
    }
  }
}
