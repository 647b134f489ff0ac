// Work that is asked for often and need not be done each time.

/** Each kind of work rests so many times as long as it took: on a slow machine a live page must stay usable. */
const REST = 4;
const LONGEST_REST_MS = 5000;

/** Calls `work` at most once per `ms`, never twice at a time, and once more where it was asked for meanwhile. `stop()` forgets what waits. */
export function throttled(ms, work, { clock = globalThis, now = () => performance.now() } = {}) {
  let timer = null;
  let running = false;
  let again = false;
  let rest = ms;
  async function run() {
    timer = null;
    running = true;
    const began = now();
    try {
      await work();
    } finally {
      running = false;
      rest = Math.max(ms, Math.min(REST * (now() - began), LONGEST_REST_MS));
      if (again) {
        again = false;
        timer = clock.setTimeout(run, rest);
      }
    }
  }
  const ask = () => {
    if (running) again = true;
    else timer ??= clock.setTimeout(run, rest);
  };
  ask.stop = () => {
    clock.clearTimeout(timer);
    again = false;
  };
  return ask;
}
