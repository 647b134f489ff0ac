// Frames are applied once per animation frame, for at most 8 ms, so that sixteen agents do not block the page.
// A hidden page drops token frames and requests the texts of their calls later.

const WORK_MS = 8;
const HIDDEN_MS = 500;
/** Entries that wait longer than this are condensed and get more time per frame, so that a slow page catches up. */
const BEHIND_MS = 250;
const HURRY_MS = 40;
/** Frame types of which only the newest matters. */
const REPEATED = new Set(["state", "counters"]);

const lengthOf = (text) => [...text].length;

/** Join neighbouring pieces of the same stream. */
export function joinTokens(items) {
  const joined = [];
  for (const item of items) {
    const last = joined.at(-1);
    const follows = last && last.call === item.call && last.attempt === item.attempt && last.ch === item.ch && last.off + lengthOf(last.text) === item.off;
    if (follows) last.text += item.text;
    else joined.push({ ...item });
  }
  return joined;
}

/** Shorten a queue: join consecutive pieces of a stream and keep only the last of repeated states. */
export function condensed(queue) {
  const newest = new Map(queue.map(({ t }, i) => [t, i]));
  const streams = new Map();
  const shorter = [];
  queue.forEach((entry, i) => {
    if (entry.t === "piece") {
      const { call, attempt, ch, off, text } = entry.item;
      const name = JSON.stringify([call, attempt, ch]);
      const stream = streams.get(name);
      if (stream?.end === off) {
        stream.item.text += text;
        stream.end += lengthOf(text);
      } else {
        const item = { ...entry.item };
        streams.set(name, { item, end: off + lengthOf(text) });
        shorter.push({ ...entry, item });
      }
    } else if (!REPEATED.has(entry.t) || newest.get(entry.t) === i) {
      if (entry.t === "text" || entry.t === "resync") streams.clear(); // Earlier pieces must stay before it.
      shorter.push(entry);
    }
  });
  return shorter;
}

export class FrameLoop {
  /** `apply(item)` draws one piece of work; `dropped(calls)` gets calls whose tokens were dropped. */
  constructor({ apply, dropped = () => {}, isHidden = () => document.hidden, clock = globalThis, now = () => performance.now() }) {
    this.apply = apply;
    this.dropped = dropped;
    this.isHidden = isHidden;
    this.clock = clock;
    this.now = now;
    this.queue = [];
    this.scheduled = false;
  }

  push(frame) {
    if (frame.t === "tokens") {
      if (this.isHidden()) {
        this.dropped(new Set(frame.items.map((item) => item.call)));
        return;
      }
      for (const item of joinTokens(frame.items)) this.#add({ t: "piece", item });
    } else if (frame.t === "events") {
      for (const event of frame.events) this.#add({ t: "event", event });
    } else {
      this.#add(frame);
    }
    this.#schedule();
  }

  #add(entry) {
    this.queue.push({ ...entry, since: this.now() });
  }

  #schedule() {
    if (this.scheduled || !this.queue.length) return;
    this.scheduled = true;
    if (this.isHidden()) this.clock.setTimeout(() => this.#run(), HIDDEN_MS);
    else this.clock.requestAnimationFrame(() => this.#run());
  }

  #run() {
    const began = this.now();
    const isBehind = began - this.queue[0].since > BEHIND_MS;
    if (isBehind) this.queue = condensed(this.queue);
    const until = began + (isBehind ? HURRY_MS : WORK_MS);
    let done = 0;
    try {
      while (done < this.queue.length && (done === 0 || this.now() < until)) this.apply(this.queue[done++]);
    } finally {
      this.queue.splice(0, done);
      this.scheduled = false;
      this.#schedule(); // Also after an error, so that later frames are still applied.
    }
  }
}
