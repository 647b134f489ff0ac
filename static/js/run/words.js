// Numbers, times and states in the words of apps/ui/words.py and apps/explorations/liveness.py.

const SIZES = [
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];
const UNITS = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
  [1, "s"],
];

export function thousands(number) {
  return Math.round(number).toLocaleString("en-GB");
}

/** 12400 → "12.4k"; numbers below ten thousand are written out. */
export function compact(number) {
  if (Math.abs(number) < 10_000) return thousands(number);
  const [size, unit] = SIZES.find(([least]) => Math.abs(number) >= least);
  return (number / size).toFixed(1).replace(/\.0$/, "") + unit;
}

/** The two largest units: "0.4 s", "42 s", "3 min 20 s". */
export function duration(seconds) {
  if (seconds < 1) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  for (let at = 0; at < UNITS.length - 1; at++) {
    const [size, unit] = UNITS[at];
    const [smaller, smallerUnit] = UNITS[at + 1];
    if (whole < size) continue;
    const rest = Math.floor((whole % size) / smaller);
    return rest ? `${Math.floor(whole / size)} ${unit} ${rest} ${smallerUnit}` : `${Math.floor(whole / size)} ${unit}`;
  }
  return `${whole} s`;
}

const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

/**
 * The activity of a live run: `{state, words}`, or null for a run that has ended (the server's text is shown).
 * `generating` maps calls to `{n, rate}`; `open` is the number of calls that began and have not ended. `sure` is false
 * while the page has been live too briefly to know that no tokens arrive. `concluding`: the run has selected its result.
 */
export function liveness({ status, stalled = false }, generating = {}, open = 0, { sure = true, concluding = false } = {}) {
  if (stalled) return { state: "stalled", words: "stalled; another orchestrator will take it over soon" };
  if (status === "queued") return { state: "queued", words: "queued; waiting for an orchestrator" };
  const calls = Object.values(generating);
  const busy = calls.filter((call) => call.n > 0);
  const tokens = busy.reduce((sum, call) => sum + call.n, 0);
  const rate = busy.reduce((sum, call) => sum + call.rate, 0);
  if (status === "paused") {
    return { state: "paused", words: busy.length ? `paused; ${plural(busy.length, "call")} still under way` : "paused" };
  }
  if (status !== "running") return null;
  if (busy.length) {
    const speed = rate >= 0.5 ? ` at ${Math.round(rate)}/s` : ""; // The first token of a call gives no speed.
    const where = open > busy.length ? `${busy.length} of ${open} calls` : plural(busy.length, "call");
    return { state: "running", words: `generating ${compact(tokens)} tokens in ${where}${speed}` };
  }
  if (open) return { state: "running", words: `${sure ? "waiting for the model; " : ""}${plural(open, "call")} under way` };
  return { state: "running", words: concluding ? "running; checking the last formulas" : "running; between calls" };
}

/** Show in a budget's box in the header the amount that a fork took over. */
export function showInherited(box, amount = 0) {
  const place = box.querySelector('[data-part="inherited"]');
  place.hidden = !amount;
  place.textContent = `, ${compact(amount)} taken over`;
}
