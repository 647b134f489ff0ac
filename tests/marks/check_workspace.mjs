// Runs the pure parts of the workspace and prints JSON for test_workspace_scripts.py.
import { readFileSync } from "node:fs";
import { aligned, codePoints, codeUnits, placeOf, shownOf } from "../../static/js/marking/anchors.js";
import { bindings, isSingle, keyName, matching } from "../../static/js/marking/keys.js";
import { CommandQueue } from "../../static/js/marking/queue.js";
import { EMPTY, applied, digitPoints, firstError, halved, pointsShown, pointsWords } from "../../static/js/marking/sheet.js";

class Store {
  setItem(key, value) { this[key] = value; }
  getItem(key) { return this[key] ?? null; }
  removeItem(key) { delete this[key]; }
}

const pass = async () => { for (let index = 0; index < 20; index += 1) await Promise.resolve(); };
const state = (version, sheet = EMPTY) => ({ row_version: version, sheet, saved_at: null, computed: null });

/** A queue with an in-memory server that knows command ids, and a manual clock. */
function bench({ store = new Store(), answer, tab = "one", version = 0 } = {}) {
  const log = { statuses: [], refused: [], conflicts: 0, gone: "", sent: [] };
  const clock = { now: 0, timers: [] };
  const known = new Map();
  const server = { version };
  const usual = ({ id }, based) => {
    if (!known.has(id)) {
      if (based !== server.version) return { status: 409, body: { ...state(server.version), fields: [] } };
      server.version += 1;
      known.set(id, true);
    }
    return { status: 200, body: state(server.version) };
  };
  const queue = new CommandQueue({
    send: async (entry, based) => {
      log.sent.push([entry.verb, entry.args, based]);
      return (answer ?? usual)(entry, based, usual);
    },
    store, key: "marking:bob:task", tab, state: state(version), now: () => clock.now,
    later: (work, ms) => clock.timers.push({ work, at: clock.now + ms }),
    cancel: (id) => { if (clock.timers[id - 1]) clock.timers[id - 1].work = null; },
    on: {
      change() {}, status: (status) => { if (log.statuses.at(-1) !== status) log.statuses.push(status); },
      refused: (message) => log.refused.push(message), conflict: () => { log.conflicts += 1; }, gone: (message) => { log.gone = message; },
    },
  });
  const wait = async (ms) => {
    clock.now += ms;
    for (const timer of [...clock.timers]) {
      if (timer.at > clock.now || !timer.work) continue;
      const { work } = timer;
      timer.work = null;
      work();
      await pass();
    }
    await pass();
  };
  return { queue, log, wait, server, store };
}

const out = {};

{
  const { queue, log, wait } = bench();
  queue.push("reason", { words: "a" }, { merge: "reason", pause: 800 });
  queue.push("reason", { words: "ab" }, { merge: "reason", pause: 800 });
  await wait(700);
  const early = log.sent.length;
  queue.push("reason", { words: "abc" }, { merge: "reason", pause: 800 });
  await wait(700);
  const still = log.sent.length;
  await wait(200);
  out.debounced = { early, still, sent: log.sent, statuses: log.statuses };
}
{
  const { queue, log, wait } = bench();
  queue.push("reason", { words: "typed" }, { merge: "reason", pause: 800 });
  queue.push("tick", { code: "A1" });
  await wait(0);
  out.order = log.sent.map(([verb, , based]) => [verb, based]);
}
{
  let isUp = false;
  const { queue, log, wait, store } = bench({ answer: (entry, based, usual) => { if (!isUp) throw new Error("no network"); return usual(entry, based); } });
  queue.push("tick", { code: "A1" });
  await wait(0);
  queue.push("tick", { code: "A2" });
  await wait(500);
  const kept = Object.keys(store).map((name) => JSON.parse(store[name]).entries.length);
  isUp = true;
  await wait(2000);
  await wait(0);
  out.offline = { kept, left: Object.keys(store).length, statuses: log.statuses, version: queue.state.row_version };
}
{
  const first = bench({ answer: () => new Promise(() => {}) });
  first.queue.push("tick", { code: "A1" });
  first.queue.push("reason", { words: "half a word" }, { merge: "reason", pause: 800 });
  await first.wait(0);
  const second = bench({ store: first.store, tab: "two" });
  const waiting = second.queue.entries.map(({ verb }) => verb);
  await second.wait(0);
  await second.wait(0);
  out.killed = { waiting, sent: second.log.sent.map(([verb]) => verb), left: Object.keys(first.store).length };
}
{
  const first = bench({ answer: () => new Promise(() => {}) });
  first.queue.push("reason", { words: "old" });
  await first.wait(0);
  const second = bench({ store: first.store, tab: "two", version: 4 });
  await second.wait(0);
  out.stale = { conflicts: second.log.conflicts, sent: second.log.sent.length };
}
for (const mine of [true, false]) {
  const { queue, log, wait, server } = bench();
  server.version = 3;
  queue.push("points", { points: "2" });
  await wait(0);
  queue.push("tick", { code: "A1" });
  await wait(0);
  const held = log.sent.length;
  queue.settle(mine);
  await wait(0);
  out[mine ? "mine" : "theirs"] = { conflicts: log.conflicts, held, sent: log.sent.map(([verb, , based]) => [verb, based]), version: queue.state.row_version };
}
{
  const { queue, log, wait } = bench({ answer: ({ verb }, based, usual) => (verb === "claim" ? { status: 422, body: { message: "A9 is no item." } } : usual({ id: verb }, based)) });
  queue.push("claim", { line: "A9" });
  queue.push("tick", { code: "A1" });
  await wait(0);
  out.refused = { refused: log.refused, version: queue.state.row_version, flushed: await queue.flush() };
}
{
  const { queue, log, wait } = bench({ answer: () => ({ status: 410, body: { message: "Gone." } }) });
  queue.push("tick", { code: "A1" });
  await wait(0);
  queue.push("tick", { code: "A2" });
  await wait(0);
  out.gone = { gone: log.gone, sent: log.sent.length, flushed: await queue.flush() };
}

{
  const { queue, log, wait, store } = bench({ answer: () => ({ status: 403, body: {} }) });
  queue.push("tick", { code: "A1" });
  await wait(0);
  out.signed_out = { statuses: log.statuses, flushed: await queue.flush(), kept: Object.keys(store).length };
}

const key = (over) => keyName({ key: "", code: "", ctrlKey: false, altKey: false, metaKey: false, shiftKey: false, ...over });
out.names = [
  key({ key: "j" }), key({ key: "?", shiftKey: true }), key({ key: "∆", code: "KeyJ", altKey: true }), key({ key: "Enter", ctrlKey: true }),
  key({ key: "z", metaKey: true }), key({ key: "Shift", shiftKey: true }), key({ key: " " }), key({ key: "Dead" }),
];
const table = { single_keys: false, commands: [{ name: "seal", key: "Enter", also: ["Ctrl+Enter"], words: "Seal the mark" }, { name: "grant", key: "g", also: [], words: "Grant this step" }] };
out.bound = [...bindings(table)];
out.boundAll = [...bindings({ ...table, single_keys: true })];
out.single = ["g", "?", "Enter", "Alt+j", "𝔽"].map(isSingle);
out.found = [matching(table.commands, "gr st"), matching(table.commands, "mark"), matching(table.commands, "rant")].map((rows) => rows.map(({ name }) => name));
out.digits = [digitPoints("7", "", "7"), digitPoints("8", "", "7"), digitPoints("4", "1", "21"), digitPoints("9", "2", "21"), digitPoints("4", "1", "7")];
out.words = ["1", "2.5", "0", 1].map(pointsWords);
out.halves = [halved("3", "7"), halved("3.5", "7"), halved(null, "7"), halved("7", "7")];
out.points = [
  pointsShown({ ...EMPTY, typed: "4" }, state(0)), pointsShown({ ...EMPTY, ticks: ["A1"] }, state(0)) ?? "awaited",
  pointsShown({ ...EMPTY, ticks: ["A1"] }, { ...state(0, { ...EMPTY, ticks: ["A1"] }), computed: "3" }),
];

const given = JSON.parse(readFileSync(0, "utf8") || "{}");
out.sheets = (given.runs ?? []).map((commands) => {
  let sheet = EMPTY;
  return commands.map(({ verb, args }) => {
    sheet = applied(sheet, verb, args);
    return { sheet, first: firstError(sheet) };
  });
});
out.places = (given.places ?? []).map(({ shown, from, to, source, base }) => placeOf(shown, from, to, source, base));
out.seen = (given.seen ?? []).map(({ shown, source, start, end }) => {
  const found = shownOf(shown, source, codeUnits(source, start), codeUnits(source, end));
  return found && shown.slice(found.from, found.to);
});
out.units = [codePoints("a𝔽b", 3), codeUnits("a𝔽b", 2), aligned("ab", "**a**b")];
console.log(JSON.stringify(out));
