// Plays the author's editor against a fake page, server and store; prints what happened as JSON.
const listeners = {};
globalThis.document = { querySelectorAll: () => [], addEventListener: (name, work) => { if (name === "input") listeners.input = work; }, visibilityState: "visible" };
globalThis.window = { addEventListener: (name, work) => { listeners[name] = work; }, fetch: () => {}, localStorage: null };
globalThis.FormData = class { constructor(form) { this.text = form.elements.namedItem("text").value; } };
globalThis.Event = class { constructor(type) { this.type = type; } };
let timers = [];
let clock = 1_000_000;
Date.now = () => clock;
globalThis.setTimeout = (work, ms) => { timers.push({ work, ms }); return timers.length; };
globalThis.clearTimeout = (id) => { if (timers[id - 1]) timers[id - 1].work = null; };

const { watchDraft } = await import("../../static/js/draft.js");

class Store {
  constructor() { this.kept = new Map(); }
  getItem(key) { return this.kept.get(key) ?? null; }
  setItem(key, value) { this.kept.set(key, value); }
  removeItem(key) { this.kept.delete(key); }
}

class Control {
  constructor(value, form) { this.value = value; this.defaultValue = value; this.form = form; }
  dispatchEvent(event) { this.form.fire(event.type); }
}

class Form {
  constructor(owner, basedOn = "0") {
    this.dataset = { draft: "/draft/", draftOwner: owner };
    this.controls = { text: new Control("", this), text_format: new Control("markdown", this), based_on: new Control(basedOn, this) };
    this.words = [];
    this.elements = { namedItem: (name) => this.controls[name], [Symbol.iterator]: () => [...Object.values(this.controls), ...this.words][Symbol.iterator]() };
    this.parts = {};
    for (const name of ["status", "conflict", "keep", "take"]) {
      this.parts[`[data-draft-${name}]`] = { textContent: "", hidden: true, addEventListener(_, work) { this.click = work; } };
    }
    this.heard = {};
  }
  contains(one) { return Object.values(this.controls).includes(one); }
  page(value) { const one = Object.assign(new Control(value, this), { name: "words-1" }); this.words.push(one); return one; }
  querySelector(name) { return this.parts[name]; }
  addEventListener(name, work) { this.heard[name] = work; }
  fire(name) { this.heard[name]?.({}); }
  type(words) { this.controls.text.value = words; this.fire("input"); }
}

const pass = async () => {
  const due = timers;
  timers = [];
  for (const { work } of due) await work?.();
};

const store = new Store();
const key = "draft:ann:/draft/";
const copy = () => JSON.parse(store.getItem(key));
let sent = [];
let answer;
const send = async (_, { body }) => { sent.push(body.text); return answer(); };
const json = (status, value) => () => ({ ok: status === 200, status, json: async () => value });

const facts = {};
answer = json(200, { row_version: 1, saved_at: null });
const early = new Form("early");
early.controls.text.value = "typed before the script";
watchDraft(early, { send, store });
await pass();
facts.early = { sent: [...sent] };
sent = [];

const form = new Form("ann");
watchDraft(form, { send, store });
answer = json(200, { row_version: 1, saved_at: null });
form.type("a");
form.type("ab");
await pass();
facts.saved = { sent: [...sent], based_on: form.controls.based_on.value, copy: copy() };

sent = [];
const fromMemory = new Form("ann");
fromMemory.dataset.draftStored = "";
watchDraft(fromMemory, { send, store });
facts.from_memory = { text: fromMemory.controls.text.value, based_on: fromMemory.controls.based_on.value };
fromMemory.type("a");
const shortened = new Form("ann");
shortened.dataset.draftStored = "";
watchDraft(shortened, { send, store });
facts.shortened = { text: shortened.controls.text.value, shown: !shortened.parts["[data-draft-conflict]"].hidden };
store.removeItem(key);
const newer = new Form("ann", "9");
newer.dataset.draftStored = "";
watchDraft(newer, { send, store });
facts.newer = { text: newer.controls.text.value, saved: store.getItem("saved:ann:/draft/") };
timers = [];

answer = () => { throw new Error("no network"); };
form.type("abc");
await pass();
facts.offline = { status: form.parts["[data-draft-status]"].textContent, copy: copy() };

sent = [];
answer = json(200, { row_version: 2, saved_at: null });
listeners.online();
await pass();
facts.back = { sent: [...sent], based_on: form.controls.based_on.value, copy: copy() };

answer = json(409, { row_version: 8, text: "theirs", format: "markdown" });
form.type("abcd");
await pass();
sent = [];
form.type("abcde");
await pass();
facts.conflict = { shown: !form.parts["[data-draft-conflict]"].hidden, sent_while_open: sent.length };
form.parts["[data-draft-take]"].click();
facts.taken = { text: form.controls.text.value, shown: !form.parts["[data-draft-conflict]"].hidden, based_on: form.controls.based_on.value };
await pass();

store.setItem(key, JSON.stringify({ text: "left behind", format: "markdown", basedOn: "0" }));
form.fire("submit");
facts.kept_when_sent = copy().text;
const later = new Form("ann");
watchDraft(later, { send, store });
facts.restored = later.controls.text.value;
store.setItem(key, JSON.stringify({ text: "left behind", format: "markdown", basedOn: "0" }));
const elsewhere = new Form("ann", "7");
elsewhere.controls.text.value = "from the other computer";
elsewhere.dataset.draftStored = "";
watchDraft(elsewhere, { send, store });
facts.behind = { text: elsewhere.controls.text.value, shown: !elsewhere.parts["[data-draft-conflict]"].hidden };
elsewhere.parts["[data-draft-take]"].click();
facts.behind_taken = elsewhere.controls.text.value;
store.setItem(key, JSON.stringify({ text: "all of it", format: "markdown", basedOn: "0" }));
const done = new Form("ann", "9");
done.controls.text.value = "all of it\n\nand a page";
done.dataset.draftStored = "";
watchDraft(done, { send, store });
facts.done = { text: done.controls.text.value, shown: !done.parts["[data-draft-conflict]"].hidden, copy: copy() };
store.setItem(key, JSON.stringify({ text: "left behind", format: "markdown", basedOn: "0" }));
const stranger = new Form("ben");
watchDraft(stranger, { send, store });
facts.stranger = stranger.controls.text.value;

// The corrected proposal of a model is outside the form: it is sent with the draft, and kept here until the server has it.
const page = stranger.page("read by a model");
sent = [];
page.value = "corrected by hand";
listeners.input({ target: page });
facts.correction_here = JSON.parse(store.getItem("draft:ben:/draft/")).words;
answer = () => { throw new Error("no network"); };
await pass();
facts.correction_sent = sent.length;
const again = new Form("ben");
const pageAgain = again.page("read by a model");
again.dataset.draftStored = "";
watchDraft(again, { send, store });
facts.correction_back = pageAgain.value;
answer = json(200, { row_version: 1, saved_at: null });
again.fire("input");
await pass();
facts.correction_saved = store.getItem("draft:ben:/draft/");
store.setItem("draft:ben:/draft/", JSON.stringify({ text: "", format: "markdown", words: { "words-1": "mine" }, basedOn: "0" }));
const moved = new Form("ben", "4");
const pageMoved = moved.page("corrected elsewhere");
moved.dataset.draftStored = "";
watchDraft(moved, { send, store });
facts.correction_asked = { words: pageMoved.value, shown: !moved.parts["[data-draft-conflict]"].hidden };
moved.parts["[data-draft-take]"].click();
facts.correction_theirs = pageMoved.value;

// The server stores a text, and dies before its answer. What it has is no text of another window.
const cut = new Form("cut");
watchDraft(cut, { send, store });
answer = () => { throw new Error("the connection was cut"); };
cut.type("a\nb");
await pass();
cut.type("a\nbc");
facts.cut_kept = JSON.parse(store.getItem("draft:cut:/draft/")).basedOn;
answer = json(409, { row_version: 1, text: "a\nb", format: "markdown" });
await pass();
sent = [];
answer = json(200, { row_version: 2, saved_at: null });
const reopened = new Form("cut", "1");
reopened.controls.text.value = "a\nb";
reopened.dataset.draftStored = "";
watchDraft(reopened, { send, store });
facts.cut_reopened = { text: reopened.controls.text.value, shown: !reopened.parts["[data-draft-conflict]"].hidden };
timers.pop();
await pass();
facts.cut = { sent: [...sent], based_on: cut.controls.based_on.value, shown: !cut.parts["[data-draft-conflict]"].hidden };
answer = () => { throw new Error("the connection was cut"); };
cut.type("a\nbcd");
await pass();
answer = json(409, { row_version: 9, text: "of another window", format: "markdown" });
cut.type("a\nbcde");
await pass();
facts.cut_and_changed = !cut.parts["[data-draft-conflict]"].hidden;

// Someone who types without a pause saves seldom, and at once on leaving the field; a busy or lost server is asked less often.
const busy = new Form("busy");
watchDraft(busy, { send, store });
const waits = () => timers.at(-1).ms;
facts.waits = [];
for (const [took, status] of [[0, 200], [400, 200], [9000, 200], [0, 503]]) {
  answer = () => { clock += took; return json(status, { row_version: 1, saved_at: null })(); };
  busy.type(`${took} ${status}`);
  facts.waits.push(waits());
  if (took === 400) facts.waiting = busy.parts["[data-draft-status]"].textContent;
  clock += waits();
  await pass();
}
busy.type("on");
facts.waits.push(waits());
busy.fire("change");
facts.left = waits();
// The page is hidden while a draft is on its way: what was typed meanwhile follows without a rest.
answer = () => { document.visibilityState = "hidden"; busy.type("hidden"); return json(200, { row_version: 1, saved_at: null })(); };
await pass();
facts.hidden = waits();
console.log(JSON.stringify(facts));
