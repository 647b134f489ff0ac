// Active time on a script, and the heartbeat that renews its lease.

const IDLE_MS = 30_000;
const BEAT_MS = 30_000;
const TICK_MS = 1_000;

export class Activity {
  /** `beat(seconds)` sends the heartbeat; `seconds` is the total active time on this script. */
  constructor(beat, { now = Date.now, every = setInterval, stopEvery = clearInterval, before = 0 } = {}) {
    Object.assign(this, { beat, now, stopEvery });
    this.seconds = before;
    this.last = now();
    this.active = now();
    this.touched = () => { this.active = this.now(); };
    this.timers = [every(() => this.#tick(), TICK_MS), every(() => this.beat(this.rounded), BEAT_MS)];
    this.kinds = ["keydown", "pointerdown", "pointermove", "wheel", "scroll"];
    for (const kind of this.kinds) globalThis.addEventListener?.(kind, this.touched, { passive: true, capture: true });
  }

  get rounded() {
    return Math.round(this.seconds * 10) / 10;
  }

  #tick() {
    const now = this.now();
    const isSeen = globalThis.document?.visibilityState !== "hidden";
    if (isSeen && now - this.active < IDLE_MS) this.seconds += Math.min(now - this.last, 5 * TICK_MS) / 1000;
    this.last = now;
  }

  stop() {
    this.timers.forEach(this.stopEvery);
    for (const kind of this.kinds) globalThis.removeEventListener?.(kind, this.touched, { capture: true });
  }
}
