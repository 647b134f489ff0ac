// Frames are applied once per animation frame and for at most 8 ms of it, so that sixteen agents do not stop the page.
// While the page is hidden only state is kept: token frames are dropped, and their calls' texts are asked for again later.

const WORK_MS = 8;
const HIDDEN_MS = 500;

/** Neighbouring pieces of the same stream become one piece. */
export function joinTokens(items) {
  const joined = [];
  for (const item of items) {
    const last = joined.at(-1);
    const follows = last && last.call === item.call && last.attempt === item.attempt && last.ch === item.ch && last.off + [...last.text].length === item.off;
    if (follows) last.text += item.text;
    else joined.push({ ...item });
  }
  return joined;
}

export class FrameLoop {
  /** `apply(item)` draws one piece of work; `dropped(calls)` hears of calls whose tokens were not drawn. */
  constructor({ apply, dropped = () => {}, isHidden = () => document.hidden, clock = globalThis }) {
    this.apply = apply;
    this.dropped = dropped;
    this.isHidden = isHidden;
    this.clock = clock;
    this.queue = [];
    this.scheduled = false;
  }

  push(frame) {
    if (frame.t === "tokens") {
      if (this.isHidden()) {
        this.dropped(new Set(frame.items.map((item) => item.call)));
        return;
      }
      for (const item of joinTokens(frame.items)) this.queue.push({ t: "piece", item });
    } else if (frame.t === "events") {
      for (const event of frame.events) this.queue.push({ t: "event", event });
    } else {
      this.queue.push(frame);
    }
    this.#schedule();
  }

  #schedule() {
    if (this.scheduled || !this.queue.length) return;
    this.scheduled = true;
    if (this.isHidden()) this.clock.setTimeout(() => this.#run(), HIDDEN_MS);
    else this.clock.requestAnimationFrame(() => this.#run());
  }

  #run() {
    const until = performance.now() + WORK_MS;
    let done = 0;
    while (done < this.queue.length && (done === 0 || performance.now() < until)) this.apply(this.queue[done++]);
    this.queue.splice(0, done);
    this.scheduled = false;
    this.#schedule();
  }
}

/** Calls `work` at most once per `ms`, never twice at a time, and once more where it was asked for meanwhile. */
export function throttled(ms, work, clock = globalThis) {
  let timer = null;
  let running = false;
  let again = false;
  async function run() {
    timer = null;
    running = true;
    try {
      await work();
    } finally {
      running = false;
      if (again) {
        again = false;
        timer = clock.setTimeout(run, ms);
      }
    }
  }
  return () => {
    if (running) again = true;
    else timer ??= clock.setTimeout(run, ms);
  };
}
