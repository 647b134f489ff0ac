// The marking workspace: keys and buttons, sealing, the next script, the heartbeat. The commands of a script are in desk.js.
import { ask, toast } from "../site.js";
import { typeset, typesetAll } from "../maths.js";
import { Activity } from "./activity.js";
import { Desk } from "./desk.js";
import * as dialogs from "./dialogs.js";
import { listen } from "./hands.js";
import { bindings, isSingle, keyName, takesEnter, takesText } from "./keys.js";
import { freshId } from "./queue.js";
import { CONTROLS, pressControl } from "./reveal_keys.js";
import { given, post, SIGNED_OUT } from "./server.js";
import { pointsWords } from "./sheet.js";

const LAST = "marking:last-sealed";
const READABLE = 60; // Formulas that are typeset before a script is shown.
const SHOWN_MS = 150;
const DEAF_MS = 300;
const GIVEN_AWAY = "Give this script to another marker for good? Your draft is deleted, and you do not get the script again.";
const tab = freshId();
let keys = given(document, "keys");
let bound = bindings(keys);
let desk = null;
let activity = null;
let ahead = null; // The next script, fetched and typeset in advance.
let sealed = null; // { url, until } of the mark that can still be reopened.
let isSealing = false;
let refused = null; // The message of the last refused seal.
let isDeaf = false; // True while a script is handed on from its dialog, and for a moment after.

function mount(root) {
  desk?.stop();
  activity?.stop();
  desk = new Desk(root, { keys, tab });
  activity = new Activity(beat, { before: Number(root.dataset.active) });
  dialogs.hintKeys(root, keys);
  typeset(root);
  globalThis.htmx?.process(root);
  listen(desk, run);
  document.title = root.dataset.title;
  root.dataset.ready = "yes";
  if (desk.isSealed && !sealed) sealed = sealedHere();
  grace();
  const here = desk;
  setTimeout(() => { // After rendering: on a laptop, server and browser compete for the processor.
    if (here !== desk) return;
    beat(activity.rounded);
    fetchAhead();
  }, SHOWN_MS);
  document.dispatchEvent(new CustomEvent("marking:shown", { detail: { task: root.dataset.task, isSealed: desk.isSealed } }));
}

/** Whether an answer means that the script cannot be marked here any more. */
const isGone = (status) => status === 410 || status === 404;

async function beat(seconds) {
  const here = desk;
  if (here.isSealed || here.isGone) return;
  const answer = await post(here.urls.heartbeat, { active_seconds: seconds }).catch(() => null);
  if (isGone(answer?.status)) here.close(answer.body.message);
  else if (answer?.status === 200) here.view.present(answer.body.present ?? []);
}

// --- the next script --------------------------------------------------------------------------------------------------

async function fetchAhead() {
  ahead = null;
  const here = desk;
  if (here.isSealed) return;
  const answer = await fetch(here.urls.next_up).catch(() => null);
  if (answer?.status !== 200 || here !== desk) return;
  const root = rootIn(await answer.text());
  if (!root) return;
  typesetAll(root, READABLE); // The rest is typeset on approach; typesetting all of it now would delay the marker.
  ahead = root;
  for (const image of root.querySelectorAll("[data-sheet] img:not([loading])")) new Image().src = image.src; // A parsed page loads none.
}

function rootIn(html) {
  const root = new DOMParser().parseFromString(html, "text/html").querySelector("[data-marking]");
  for (const plain of root?.querySelectorAll("noscript") ?? []) plain.remove(); // DOMParser runs without scripts and parses its content as elements.
  return root;
}

async function show(url) {
  let root = ahead?.dataset.url === url ? ahead : null;
  if (!root) {
    const answer = await fetch(url).catch(() => null);
    root = answer?.ok ? rootIn(await answer.text()) : null;
  }
  if (!root) {
    location.assign(url);
    return;
  }
  const made = document.adoptNode(root);
  desk.root.replaceWith(made);
  history.pushState({}, "", url);
  mount(made);
  scrollTo(0, 0);
  document.getElementById("main").focus({ preventScroll: true });
}

async function seal() {
  if (desk.isSealed) desk.view.part("onward").requestSubmit();
  if (desk.isSealed || isSealing) return;
  isSealing = true;
  refused?.remove();
  const here = desk;
  try {
    document.activeElement?.blur?.(); // Commits the input in progress.
    await here.asked; // Waits for an error whose dialog has just closed.
    if (!(await here.queue.flush())) {
      toast("Not all changes are saved yet, so nothing was sealed. Saving is retried automatically.", { error: true });
      return;
    }
    const body = { row_version: here.queue.state.row_version, active_seconds: activity.rounded };
    const { status, body: answer } = await post(here.urls.seal, body);
    if (status === 200) await wasSealed(here, answer);
    else notSealed(here, status, answer);
  } catch {
    toast("No connection. Your mark is kept, but not sealed yet.", { error: true });
  } finally {
    isSealing = false;
  }
}

async function wasSealed(here, answer) {
  const { url } = here.root.dataset;
  sealed = { url, unseal: here.urls.unseal, until: Date.parse(answer.undo_until), points: here.queue.state.points, title: named(here.root) };
  sessionStorage.setItem(LAST, url);
  counted(ahead, here);
  await show(answer.next ?? url);
}

/** Update the counts on a page that was fetched before the mark was sealed. */
function counted(root, { root: before }) {
  for (const [name, by] of [["mine", 1], ["left", -1]]) {
    const place = root?.querySelector(`[data-part="${name}"]`);
    if (place) place.textContent = String(Number(before.querySelector(`[data-part="${name}"]`).textContent) + by);
  }
}

function notSealed(here, status, { message, needs, state }) {
  if (state) here.queue.take(state);
  if (isGone(status)) here.close(message);
  else {
    const otherwise = status === 403 ? SIGNED_OUT : "The server reported an error. Your mark is kept, but not sealed yet.";
    refused = toast((needs?.length ? needs : [message ?? otherwise]).join(" "), { error: true });
  }
  const reason = here.view.part("reason");
  if (needs?.some((sentence) => /say why|needs a reason/.test(sentence))) reason.focus();
}

/** The sealed mark on this page. */
function sealedHere() {
  const { state } = desk.queue;
  return { url: desk.root.dataset.url, unseal: desk.urls.unseal, until: Date.parse(state.undo_until ?? ""), points: state.points, title: named(desk.root) };
}

const named = (root) => root.dataset.title.split(" · ")[0];

/** Show the countdown for reopening the last mark. */
function grace() {
  const here = desk;
  const place = here.view.part("grace");
  const update = () => {
    const left = Math.ceil(((sealed?.until ?? 0) - Date.now()) / 1000);
    const isOver = !(left > 0) || here !== desk;
    if (isOver) {
      clearInterval(timer);
      place.classList.add("marking__grace--over"); // Its space stays: the text must not move under the marker.
      return;
    }
    place.hidden = false;
    here.view.part("grace-words").textContent = `${sealed.title}: sealed with ${pointsWords(sealed.points)}. ${left} s left to reopen it.`;
  };
  const timer = setInterval(update, 1000);
  update();
}

async function unseal() {
  const { url, unseal: address } = sealed ?? sealedHere();
  sealed = null;
  const { status, body } = await post(address, {}).catch(() => ({ status: 0, body: {} }));
  if (status !== 200) {
    toast(body.message ?? "No connection. The mark stays sealed.", { error: true });
    return;
  }
  ahead = null;
  await show(url);
}

async function undo() {
  if (desk.isSealed || !(await desk.undo())) {
    if (sealed?.until > Date.now()) await unseal();
    else toast("There is nothing to undo.");
  }
}

async function pass(reason, words = "") {
  if (desk.isSealed) return location.assign(desk.urls.home);
  await desk.queue.flush();
  const { status, body } = await post(desk.urls.pass, { reason, words }).catch(() => ({ status: 0, body: {} }));
  if (status !== 200) return toast(body.message ?? "No connection. Try again in a moment.", { error: true });
  if (body.next && body.next !== desk.root.dataset.url) return show(body.next);
  if (body.next) return toast("There is no other script for you at the moment.");
  return location.assign(desk.urls.home);
}

/** Hand the script on from its dialog; keys still typed for the dialog must not become commands of the next script. */
async function handOn({ reason, words }) {
  isDeaf = true;
  try {
    await pass(reason, words);
  } finally {
    setTimeout(() => { isDeaf = false; }, DEAF_MS);
  }
}

// --- commands ---------------------------------------------------------------------------------------------------------

function focusPart(name) {
  const element = desk.view.part(name);
  element?.focus();
  element?.select?.();
}

async function pane(name) {
  await desk.view.openPane(name);
  desk.root.querySelector(`#pane-${name}`).focus({ preventScroll: true });
  desk.root.querySelector(`#tab-${name}`).scrollIntoView({ block: "nearest" });
}

/** Run a command of the pages after sealing: dispatch its event, and press the control with its key. */
function foreign(name) {
  document.dispatchEvent(new CustomEvent(`marking:${name}`, { bubbles: true }));
  const last = sessionStorage.getItem(LAST);
  if (pressControl(CONTROLS[name])) return;
  if (name === "reveal" && last) location.assign(`${last}reveal/`);
  else toast("This is available after sealing.");
}

const COMMANDS = {
  seal,
  unseal,
  half: () => desk.half(),
  band_solution: () => desk.band("solution"),
  band_beginning: () => desk.band("beginning"),
  items: () => desk.tickMode(),
  claim: () => focusPart("claim"),
  step_next: () => desk.move(1),
  step_previous: () => desk.move(-1),
  noted_next: () => desk.move(1, true),
  noted_previous: () => desk.move(-1, true),
  error: () => desk.error(),
  role_root: () => desk.role("root"),
  role_consequence: () => desk.role("consequence"),
  role_harmless: () => desk.role("harmless"),
  grant: () => desk.grant(),
  comment: () => desk.comment(),
  comment_whole: () => desk.comment(true),
  phrases: async () => {
    await desk.view.openPane("comments");
    focusPart("phrase-search");
    desk.chooser.show();
  },
  next: () => pass("skip"),
  back: () => {
    const last = sessionStorage.getItem(LAST);
    return last && last !== desk.root.dataset.url ? location.assign(last) : toast("You have not sealed a script in this tab yet.");
  },
  ask: async () => {
    const question = desk.isSealed ? null : await dialogs.askCaptain();
    const isSure = question?.reason !== "conflict" || await ask(GIVEN_AWAY, "Give it away for good");
    if (question && isSure) await handOn(question);
  },
  undo,
  redo: async () => { if (!(await desk.undo("redo"))) toast("There is nothing to redo."); },
  reveal: () => foreign("reveal"),
  accept: () => foreign("accept"),
  reject: () => foreign("reject"),
  pane_scheme: () => pane("scheme"),
  pane_problem: () => pane("problem"),
  pane_source: () => flipSource(),
  page_larger: () => desk.scans.larger(1),
  page_smaller: () => desk.scans.larger(-1),
  page_whole: () => desk.scans.whole(),
  page_turn: () => desk.scans.turn(desk.current),
  page_pair: () => { if (!desk.scans.pair(desk.current)) toast("This script has no second page."); },
  page_mark: () => { if (!desk.scans.mark(desk.current)) toast("Only scanned pages have places to mark. In a text, select the words."); },
  points_clear: () => desk.send("points", { points: null }),
  clear: async () => { if (await ask("Remove everything from this mark? You can undo it.", "Start over")) desk.clear(); },
  help: () => dialogs.showHelp(keys, switchSingle),
  palette: () => dialogs.showPalette(keys, run),
};

/** Run a command by name; the names are those of apps/marks/workspace/keymaps.py. */
function run(name) {
  if (name !== "items" && name !== "undo" && name !== "redo") desk.tickMode(false);
  return COMMANDS[name]?.();
}

function flipSource() {
  const script = desk.view.part("script");
  const isSource = script.dataset.view !== "source";
  script.dataset.view = isSource ? "source" : "set";
  for (const source of script.querySelectorAll("[data-source]")) source.hidden = !isSource;
  for (const set of script.querySelectorAll(".marking__set")) set.hidden = isSource;
  desk.view.press("pane_source", isSource);
}

async function switchSingle(on) {
  const address = document.querySelector('[data-json="keys"]').dataset.switch;
  const { status, body } = await post(address, { on }).catch(() => ({ status: 0 }));
  if (status !== 200) return toast("The setting could not be saved. Try again in a moment.", { error: true });
  keys = body;
  desk.keys = keys;
  bound = bindings(keys);
  return dialogs.hintKeys(document, keys);
}

// --- keys and pointers ------------------------------------------------------------------------------------------------

document.addEventListener("keydown", (event) => {
  const name = keyName(event);
  if (!name || event.defaultPrevented || dialogs.isOpen() || !desk || isDeaf) return;
  const { target } = event;
  if (name === "Escape") return leave(target);
  if (!takesText(target) && desk.scans.arrow(event)) return event.preventDefault();
  const types = takesText(target);
  if (types && isSingle(name)) return;
  if (types && !name.startsWith("Ctrl+") && !name.startsWith("Alt+")) return;
  if (types && /^Ctrl\+[zyZ]$/.test(name)) return; // Text boxes have their own undo.
  if (takesEnter(target) && (name === "Enter" || name === "Space") || (name === "Space" && target.matches?.("input"))) return;
  if (desk.isTicking && isSingle(name) && desk.itemOf(name)) {
    event.preventDefault();
    desk.tick(desk.itemOf(name));
  } else if (/^\d$/.test(name)) {
    if (!keys.single_keys) return;
    event.preventDefault();
    desk.tickMode(false);
    desk.typeDigit(name);
  } else if (bound.has(name)) {
    event.preventDefault();
    run(bound.get(name));
  }
});

/** Escape leaves item mode and text boxes and returns to the focused step. */
function leave(target) {
  if (desk.isTicking) desk.tickMode(false);
  if (takesText(target) || target.closest?.("[data-part=panes]")) desk.focus(desk.current);
  else desk.scans.drop();
}

document.addEventListener("keydown", (event) => {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const tabs = event.target.matches?.("[data-pane]") ? [...desk.root.querySelectorAll("[data-pane]")] : [];
  if (!by || !tabs.length) return;
  const next = tabs[(tabs.indexOf(event.target) + by + tabs.length) % tabs.length];
  next.focus();
  desk.view.openPane(next.dataset.pane);
});

addEventListener("online", () => desk.queue.retry());
addEventListener("popstate", () => location.reload());
addEventListener("beforeunload", (event) => {
  if (!desk.queue.isIdle && desk.queue.failures > 0) event.preventDefault();
});
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "hidden" && !desk.queue.isIdle) desk.queue.flush();
});

mount(document.querySelector("[data-marking]"));

/** The names of all commands, for the test that compares them with the server's table. */
export function commandNames() {
  return Object.keys(COMMANDS);
}
