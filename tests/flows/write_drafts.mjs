// Students who write: static/js/draft.js itself in many pages, on a real server. Waits are a fifth as long as in a browser.
// Reads {site, students: [{path, session}]} in the first line. Prints a line for every saved draft; after the end of the input,
// waits until everything is saved and prints the last texts.
import { createInterface } from "node:readline";

const FASTER = 5;
const LOST = 7; // The answer of every seventh save is lost on its way.
const TOKEN = "a".repeat(32);
const real = globalThis.setTimeout;
// Timers of fetch have further arguments.
globalThis.setTimeout = (work, ms, ...given) => real(work, given.length ? ms : ms / FASTER, ...given);
const [clock, start] = [Date.now, Date.now()];
Date.now = () => start + FASTER * (clock() - start);
globalThis.document = { querySelectorAll: () => [], addEventListener() {}, visibilityState: "visible" };
globalThis.window = { addEventListener() {}, fetch() {}, localStorage: null };
const Sent = globalThis.FormData;
globalThis.FormData = class { constructor(form) { return form.data(); } };
const { watchDraft } = await import("../../static/js/draft.js");
const print = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

class Form {
  constructor(student) {
    this.student = student;
    this.dataset = { draft: student.path, draftOwner: student.session, draftStored: "" };
    this.controls = { text: { value: "" }, text_format: { value: "markdown" }, based_on: { value: "0" } };
    this.elements = { namedItem: (name) => this.controls[name], [Symbol.iterator]: () => [][Symbol.iterator]() };
    this.status = { textContent: "" };
    this.conflict = { hidden: true };
  }
  data() {
    const made = new Sent();
    for (const [name, { value }] of Object.entries(this.controls)) made.append(name, value);
    return made;
  }
  querySelector(name) { return { "[data-draft-status]": this.status, "[data-draft-conflict]": this.conflict }[name] ?? { addEventListener() {} }; }
  addEventListener(name, work) { if (name === "input") this.heard = work; }
  type(words) { this.controls.text.value += words; this.heard({}); }
}

function watch(site, student) {
  const kept = new Map();
  const store = { getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value), removeItem: (key) => kept.delete(key) };
  const form = new Form(student);
  let saves = 0;
  const send = async (path, options) => {
    const headers = { ...options.headers, Cookie: `sessionid=${student.session}; csrftoken=${TOKEN}`, "X-CSRFToken": TOKEN };
    const answer = await fetch(site + path, { ...options, headers });
    saves += 1;
    if (saves % LOST === 0) throw new Error("The answer is lost.");
    if (answer.ok) print({ path, row_version: (await answer.clone().json()).row_version, text: options.body.get("text") });
    return answer;
  };
  watchDraft(form, { send, store });
  return { form, isSaved: () => kept.size === 0 };
}

const pause = (ms) => new Promise((done) => real(done, ms));
const lines = createInterface({ input: process.stdin });
const { site, students } = JSON.parse((await lines[Symbol.asyncIterator]().next()).value);
const pages = students.map((student) => watch(site, student));
let isOver = false;
process.stdin.on("end", () => { isOver = true; });
process.stdin.resume();

await Promise.all(pages.map(async ({ form }, number) => {
  for (let count = 0; !isOver; count += 1) {
    form.type(`Step ${count} of student ${number}: $n^2 - 1 = 4k(k + 1)$.\n`);
    await pause(100 + 400 * Math.random());
  }
}));
const until = clock() + 20_000;
while (clock() < until && !pages.every(({ form, isSaved }) => isSaved() || !form.conflict.hidden)) await pause(100);
print({ last: pages.map(({ form }) => ({ path: form.student.path, text: form.controls.text.value, asked: !form.conflict.hidden, status: form.status.textContent })) });
process.exit(0);
