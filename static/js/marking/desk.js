// One script on the desk: its sheet, the commands that change it, and what every key and button of it does.
import { toast } from "../site.js";
import { selectionPlace } from "./anchors.js";
import * as dialogs from "./dialogs.js";
import { Notes, inlineWords } from "./notes.js";
import { CommandQueue, PAUSE_MS, freshId } from "./queue.js";
import { given, post } from "./server.js";
import { applied, digitPoints, halved } from "./sheet.js";
import { View } from "./view.js";

const DIGITS_MS = 1200;

export class Desk {
  /** `store` keeps what is unsent; `tab` names this tab in it. */
  constructor(root, { keys, store = window.localStorage, tab }) {
    this.root = root;
    this.keys = keys;
    this.urls = given(root, "urls");
    this.view = new View(root);
    const state = given(root, "state");
    this.isSealed = state.is_sealed;
    this.current = this.view.stepNumbers[0] ?? 0;
    this.lastVerdict = state.sheet.verdicts.at(-1)?.id ?? "";
    this.isTicking = false;
    this.digit = { text: "", at: 0 };
    this.notes = new Notes(root, {
      send: (verb, args, options) => this.send(verb, args, options),
      drop: (merge) => this.queue.drop(merge),
      names: this.#fallacyNames(),
      items: this.view.items,
      isSealed: this.isSealed,
    });
    this.queue = new CommandQueue({
      send: ({ id, verb, args }, version) => post(this.urls.command, { id, verb, args, row_version: version }),
      store,
      key: `marking:${root.dataset.owner}:${root.dataset.task}`,
      tab,
      state,
      on: {
        change: () => this.show(),
        status: (status) => this.view.status(this.isSealed ? "sealed" : status, this.queue?.state.saved_at),
        refused: (message, entry) => this.#refused(message, entry),
        conflict: () => this.#conflict(),
        gone: (message) => this.close(message),
      },
    });
    this.show();
  }

  #fallacyNames() {
    const buttons = document.querySelectorAll('[data-dialog="error"] [data-part="choices"] button');
    return Object.fromEntries([...buttons].map((button) => [button.value, button.firstChild.textContent.trim()]));
  }

  /** The sheet with everything that was done here, answered or not. */
  get sheet() {
    return this.queue.entries.reduce((sheet, { verb, args }) => applied(sheet, verb, args), this.queue.state.sheet);
  }

  show() {
    if (!this.queue) return;
    const { sheet } = this;
    this.view.show(sheet, this.queue.state, this.queue.isIdle);
    this.notes.show(sheet);
    if (!sheet.verdicts.some((one) => one.id === this.lastVerdict)) this.lastVerdict = sheet.verdicts.at(-1)?.id ?? "";
  }

  send(verb, args, { merge = "", isTyped = false } = {}) {
    if (this.isSealed || this.isGone) return;
    this.queue.push(verb, args, { merge, pause: isTyped ? PAUSE_MS : 0 });
  }

  /** What the server refused. A claim line stays to be mended. */
  #refused(message, { verb, args }) {
    if (verb !== "claim") {
      toast(message, { error: true });
      return;
    }
    const fault = this.view.part("claim-fault");
    fault.hidden = false;
    fault.textContent = message;
    const line = this.view.part("claim");
    line.value = args.line;
    line.focus();
  }

  /** Nothing more can be done here: the script is somebody else's, or the contest is not being marked. */
  close(message = "This script can no longer be marked here.") {
    this.isGone = true;
    const place = this.view.part("gone");
    place.hidden = false;
    this.view.part("gone-words").textContent = `${message} What you wrote stays in this browser until you leave the page.`;
  }

  async #conflict() {
    const mine = this.sheet;
    this.view.status("conflict");
    this.queue.settle(await dialogs.askConflict(mine, this.queue.theirs.sheet));
  }

  // --- what keys and buttons do ---------------------------------------------------------------------------------------

  /** Points by a digit key; two digits in a row where the scale is over nine. */
  typeDigit(digit, now = Date.now()) {
    const before = now - this.digit.at < DIGITS_MS ? this.digit.text : "";
    const points = digitPoints(digit, before, this.view.scale);
    if (points === null) {
      toast(`The scale ends at ${this.view.scale}.`);
      return;
    }
    this.digit = { text: points, at: now };
    this.send("points", { points });
  }

  half() {
    const points = halved(this.sheet.typed ?? this.queue.state.points, this.view.scale);
    if (points === null || this.root.dataset.stepSize === "1") toast(points === null ? `The scale ends at ${this.view.scale}.` : "This contest gives whole points only.");
    else this.send("points", { points });
  }

  band(band) {
    this.send("band", { band: this.sheet.band === band ? null : band });
  }

  tick(code) {
    this.send(this.sheet.ticks.includes(code) ? "untick" : "tick", { code });
  }

  /** Item mode: each item's letter ticks it until Escape, Enter or another mode ends it. */
  tickMode(on = !this.isTicking) {
    this.isTicking = on && this.view.items.length > 0;
    if (this.isTicking) this.view.openPane("scheme");
    this.view.press("items", this.isTicking);
    this.root.classList.toggle("marking--ticking", this.isTicking);
    this.view.part("mode").textContent = this.isTicking ? "Item keys: a letter ticks its item. Escape ends it." : "";
  }

  /** The item whose letter it is, or undefined. */
  itemOf(key) {
    return this.view.items.find(({ label }) => label && label === key)?.code;
  }

  claim(line) {
    this.claimed = line;
    this.view.part("claim-fault").hidden = true;
    this.send("claim", { line });
  }

  move(by, noted = false) {
    const { sheet } = this;
    const steps = this.view.stepNumbers;
    const has = (step) => !noted || sheet.verdicts.some((one) => one.step === step) || sheet.comments.some((one) => one.step === step);
    let place = steps.indexOf(this.current) + by;
    while (place >= 0 && place < steps.length && !has(steps[place])) place += by;
    if (place < 0 || place >= steps.length) return;
    this.focus(steps[place]);
  }

  focus(step, move = true) {
    this.current = step;
    this.view.focusStep(step, move);
    this.view.press("grant", this.sheet.granted.includes(step));
  }

  /** The selection where there is one, which makes its step the one in focus; otherwise the step in focus alone. */
  #place() {
    const place = selectionPlace(this.root);
    if (place) this.current = place.step;
    return { step: this.current, anchor: place && { start: place.start, end: place.end } };
  }

  /** Ask for the type of an error. Who types fast gives its role before the dialog has closed: `role` waits for it. */
  error() {
    this.asked = this.#error();
    return this.asked;
  }

  async #error() {
    if (this.isSealed || !this.current) return;
    const place = this.#place();
    const fallacy = await dialogs.askError(place.step, this.keys.fallacies);
    if (fallacy) {
      this.lastVerdict = freshId();
      this.send("verdict", { id: this.lastVerdict, fallacy, ...place });
      getSelection().removeAllRanges();
    }
    this.focus(place.step);
  }

  async role(role) {
    await this.asked;
    const { sheet } = this;
    const verdict = sheet.verdicts.find((one) => one.id === this.lastVerdict);
    if (!verdict) return toast("Say first what is wrong with a step.");
    const hasRoot = sheet.verdicts.some((one) => one.role === "root" && one.id !== verdict.id);
    if (role === "consequence" && !hasRoot) return toast("There is no root error yet that it could follow from.");
    return this.send("verdict_role", { id: verdict.id, role });
  }

  grant() {
    if (this.current) this.send("grant", { step: this.current, on: !this.sheet.granted.includes(this.current) });
    this.view.press("grant", this.sheet.granted.includes(this.current));
  }

  comment(whole = false) {
    if (this.isSealed) return;
    this.notes.write({ id: freshId(), ...(whole ? { step: 0, anchor: null } : this.#place()) });
  }

  /** Comments used before that have these words, for the list to choose from. */
  async phrases(typed) {
    const answer = await fetch(`${this.urls.phrases}?q=${encodeURIComponent(typed)}`, { headers: { Accept: "application/json" } }).catch(() => null);
    const rows = answer?.ok ? (await answer.json()).phrases : [];
    this.view.part("phrases-none").hidden = rows.length > 0;
    return rows.map(({ words }) => ({ value: words, node: inlineWords(words) }));
  }

  usePhrase(words) {
    const place = this.#place();
    this.send("comment", { id: freshId(), words, ...place });
    this.focus(place.step);
  }

  clear() {
    this.send("clear", {});
  }

  /** One step back or on. Presses that come before an answer wait for it, so that each is a step of its own. */
  undo(kind = "undo") {
    this.undoing = (this.undoing ?? Promise.resolve()).catch(() => {}).then(() => this.undoOnce(kind));
    return this.undoing;
  }

  async undoOnce(kind) {
    if (this.isSealed) return false;
    if (!(await this.queue.flush())) {
      toast("Not everything is saved yet; try again in a moment.");
      return true;
    }
    const { state } = this.queue;
    if (!(kind === "undo" ? state.can_undo : state.can_redo)) return false;
    const answer = await post(this.urls[kind], { row_version: state.row_version }).catch(() => null);
    if (answer?.status === 200) this.queue.take(answer.body);
    else if (answer?.status === 409) {
      this.queue.take(answer.body);
      toast("The mark was changed in another window; this is how it stands now.");
    } else toast(answer?.body.message ?? "No connection. Nothing was undone.", { error: true });
    return true;
  }

  stop() {
    this.queue.stop();
  }
}
