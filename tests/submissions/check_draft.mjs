// Plays the author's editor against a fake page, server and store; prints what happened as JSON.
const listeners = {};
globalThis.document = { querySelectorAll: () => [], addEventListener: () => {}, visibilityState: "visible" };
globalThis.window = { addEventListener: (name, work) => { listeners[name] = work; }, fetch: () => {}, localStorage: null };
globalThis.FormData = class { constructor(form) { this.text = form.elements.namedItem("text").value; } };
globalThis.Event = class { constructor(type) { this.type = type; } };
let timers = [];
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
  constructor(value, form) { this.value = value; this.form = form; }
  dispatchEvent(event) { this.form.fire(event.type); }
}

class Form {
  constructor(owner, basedOn = "0") {
    this.dataset = { draft: "/draft/", draftOwner: owner };
    this.controls = { text: new Control("", this), text_format: new Control("markdown", this), based_on: new Control(basedOn, this) };
    this.elements = { namedItem: (name) => this.controls[name] };
    this.parts = {};
    for (const name of ["status", "conflict", "keep", "take"]) {
      this.parts[`[data-draft-${name}]`] = { textContent: "", hidden: true, addEventListener(_, work) { this.click = work; } };
    }
    this.heard = {};
  }
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

const told = {};
const form = new Form("ann");
watchDraft(form, { send, store });
answer = json(200, { row_version: 1, saved_at: null });
form.type("a");
form.type("ab");
await pass();
told.saved = { sent: [...sent], based_on: form.controls.based_on.value, copy: copy() };

sent = [];
answer = () => { throw new Error("no network"); };
form.type("abc");
await pass();
told.offline = { status: form.parts["[data-draft-status]"].textContent, copy: copy() };

sent = [];
answer = json(200, { row_version: 2, saved_at: null });
listeners.online();
await pass();
told.back = { sent: [...sent], based_on: form.controls.based_on.value, copy: copy() };

answer = json(409, { row_version: 8, text: "theirs", format: "markdown" });
form.type("abcd");
await pass();
sent = [];
form.type("abcde");
await pass();
told.conflict = { shown: !form.parts["[data-draft-conflict]"].hidden, sent_while_open: sent.length };
form.parts["[data-draft-take]"].click();
told.taken = { text: form.controls.text.value, shown: !form.parts["[data-draft-conflict]"].hidden, based_on: form.controls.based_on.value };
await pass();

store.setItem(key, JSON.stringify({ text: "left behind", format: "markdown", basedOn: "0" }));
const later = new Form("ann");
watchDraft(later, { send, store });
told.restored = later.controls.text.value;
store.setItem(key, JSON.stringify({ text: "left behind", format: "markdown", basedOn: "0" }));
const stranger = new Form("ben");
watchDraft(stranger, { send, store });
told.stranger = stranger.controls.text.value;
console.log(JSON.stringify(told));
