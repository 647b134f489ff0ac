// Throttling of work that is requested often.

/** After each run, wait this many times its duration, so that a live page stays usable on a slow machine. */
const REST = 4;
const LONGEST_REST_MS = 5000;

/** Call `work` at most once per `ms`, never concurrently, and once more after requests during a run. `stop()` cancels the next run. */
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
