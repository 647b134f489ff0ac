// One script being marked: its sheet, the commands that change it, and the actions of its keys and buttons.
import { toast } from "../site.js";
import { selectionPlace } from "./anchors.js";
import * as dialogs from "./dialogs.js";
import { Notes, inlineWords } from "./notes.js";
import { CommandQueue, PAUSE_MS, freshId } from "./queue.js";
import { given, post } from "./server.js";
import { Scans } from "./scans.js";
import { applied, digitPoints, halved, pointsWords } from "./sheet.js";
import { View } from "./view.js";

const DIGITS_MS = 1200;

export class Desk {
  /** `store` keeps unsent commands; `tab` identifies this tab in it. */
  constructor(root, { keys, store = window.localStorage, tab }) {
    this.root = root;
    this.keys = keys;
    this.urls = given(root, "urls");
    this.view = new View(root);
    const state = given(root, "state");
    this.isSealed = state.is_sealed;
    this.current = this.view.stepNumbers[0] ?? 0;
    this.lastVerdict = state.sheet.verdicts.at(-1)?.id ?? "";
    this.isFocused = false; // Whether the marker went to a step of this script.
    this.isTicking = false;
    this.digit = { text: "", at: 0 };
    this.scans = new Scans(root, { focus: (step, move = false) => this.focus(step, move), toNote: (id) => this.notes.focus(id), isSealed: this.isSealed });
    this.notes = new Notes(root, {
      send: (verb, args, options) => this.send(verb, args, options),
      drop: (merge) => this.queue.drop(merge),
      names: this.#fallacyNames(),
      items: this.view.items,
      scans: this.scans,
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

  /** The sheet with all local changes, acknowledged or not. */
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

  /** Show a refusal by the server. A refused claim line stays for correction. */
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

  /** Close the script: another marker has it, or the contest is not being marked. */
  close(message = "This script can no longer be marked here.") {
    this.isGone = true;
    const place = this.view.part("gone");
    place.hidden = false;
    this.view.part("gone-words").textContent = `${message} Your input stays in this browser until you leave the page.`;
  }

  async #conflict() {
    const mine = this.sheet;
    this.view.status("conflict");
    this.queue.settle(await dialogs.askConflict(mine, this.queue.theirs.sheet));
  }

  // --- actions of keys and buttons -------------------------------------------------------------------------------------

  /** Enter points by a digit key; two quick digits on scales over 9. */
  typeDigit(digit, now = Date.now()) {
    const before = now - this.digit.at < DIGITS_MS ? this.digit.text : "";
    const points = digitPoints(digit, before, this.view.scale);
    if (points === null) {
      toast(`The maximum is ${pointsWords(this.view.scale)}.`);
      return;
    }
    this.digit = { text: points, at: now };
    this.send("points", { points });
  }

  half() {
    const points = halved(this.sheet.typed ?? this.queue.state.points, this.view.scale);
    if (points === null || this.root.dataset.stepSize === "1") toast(points === null ? `The maximum is ${pointsWords(this.view.scale)}.` : "This contest gives whole points only.");
    else this.send("points", { points });
  }

  band(band) {
    this.send("band", { band: this.sheet.band === band ? null : band });
  }

  /** Tick an item, with the step at which it was found. */
  tick(code) {
    const step = this.isFocused ? this.current : this.view.stepRead;
    if (this.sheet.ticks.includes(code)) this.send("untick", { code });
    else this.send("tick", { code, ...(step ? { step } : {}) });
  }

  /** Item mode: an item's letter ticks it, until Escape, Enter or another mode ends it. */
  tickMode(on = !this.isTicking) {
    this.isTicking = on && this.view.items.length > 0;
    if (this.isTicking) this.view.openPane("scheme");
    this.view.press("items", this.isTicking);
    this.root.classList.toggle("marking--ticking", this.isTicking);
    this.view.part("mode").textContent = this.isTicking ? "Item keys: a letter ticks its item. Escape stops." : "";
  }

  /** The code of the item with this letter; undefined without one. */
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
    this.isFocused = true;
    this.scans.current(step);
    this.view.focusStep(step, move);
    this.view.press("grant", this.sheet.granted.includes(step));
  }

  /** A place marked on the page in focus; else the selection, whose step becomes the focused one; else the focused step. */
  #place() {
    const region = this.scans.taken(this.current);
    if (region) return { step: this.current, anchor: null, region };
    const place = selectionPlace(this.root);
    if (place) this.current = place.step;
    return { step: this.current, anchor: place && { start: place.start, end: place.end } };
  }

  /** Ask for the type of an error. `role` waits for the answer, because fast typists give it before the dialog has closed. */
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
    } else if (place.region) this.scans.place(place.step, place.region);
    this.focus(place.step);
  }

  async role(role) {
    await this.asked;
    const { sheet } = this;
    const verdict = sheet.verdicts.find((one) => one.id === this.lastVerdict);
    if (!verdict) return toast("First choose an error in a step.");
    const hasRoot = sheet.verdicts.some((one) => one.role === "root" && one.id !== verdict.id);
    if (role === "consequence" && !hasRoot) return toast("There is no root error yet that this error could follow from.");
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

  /** Earlier comments that contain these words, for the list. */
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

  /** Undo or redo one command. Further presses wait for the answer, so that each is a separate step. */
  undo(kind = "undo") {
    this.undoing = (this.undoing ?? Promise.resolve()).catch(() => {}).then(() => this.undoOnce(kind));
    return this.undoing;
  }

  async undoOnce(kind) {
    if (this.isSealed) return false;
    if (!(await this.queue.flush())) {
      toast("Not all changes are saved yet, so nothing was undone. Try again in a moment.");
      return true;
    }
    const { state } = this.queue;
    if (!(kind === "undo" ? state.can_undo : state.can_redo)) return false;
    const answer = await post(this.urls[kind], { row_version: state.row_version }).catch(() => null);
    if (answer?.status === 200) this.queue.take(answer.body);
    else if (answer?.status === 409) {
      this.queue.take(answer.body);
      toast("The mark was changed in another window. This is its current state.");
    } else toast(answer?.body.message ?? "No connection. Nothing was undone.", { error: true });
    return true;
  }

  stop() {
    this.queue.stop();
  }
}
