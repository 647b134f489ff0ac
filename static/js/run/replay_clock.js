// The clock of a replay: recorded times, without long waits. Pure: no DOM, no network.
import { KIND } from "./kinds.js";

/** Longest idle wait in a replay; longer ones (a paused run, a night) are cut to this. */
const LONGEST_IDLE_MS = 2000;
const ENDS = /^(call|tool)\.(ended|failed)$/;

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
