// The dialogs of the workspace: kinds of error, questions to the captain, keys, commands by name, conflicts.
import { isSingle, keyName, matching, takesText } from "./keys.js";

const dialog = (name) => document.querySelector(`[data-dialog="${name}"]`);
const part = (name, inner) => dialog(name).querySelector(`[data-part="${inner}"]`);

/** Whether a dialog is open, so that keys mean what they mean there. */
export function isOpen() {
  return document.querySelector("dialog[open]") !== null;
}

/** A key in words that people read: "Ctrl+k" is "Ctrl K". */
export function keyWords(key) {
  if ([...key].length === 1) return key;
  return key.replace(/\+([A-Z])$/, "+Shift+$1").replaceAll(/\+(?=.)/g, " ").replace(/ ([a-z])$/, (_, letter) => ` ${letter.toUpperCase()}`);
}

function hint(key) {
  const element = document.createElement("kbd");
  element.textContent = keyWords(key);
  element.setAttribute("aria-hidden", "true");
  return element;
}

/** Show each button's key on it, where it has one that works now; assistive names stay what they were. */
export function hintKeys(root, { commands, single_keys: single }) {
  const keys = new Map(commands.map(({ name, key, also }) => [name, [key, ...also].find((one) => one && (single || !isSingle(one)))]));
  for (const button of root.querySelectorAll("[data-command], [data-command-hint]")) {
    showKey(button, keys.get(button.dataset.command ?? button.dataset.commandHint));
  }
}

/** Show a button's key on it, in place of the one that it showed. */
function showKey(button, key) {
  const shown = button.querySelector("kbd");
  if (!key) shown?.remove();
  else if (shown) shown.replaceWith(hint(key));
  else button.append(" ", hint(key));
}

/**
 * Open a dialog of choices, each with its key, and the first or `focused` in focus; resolves to the value chosen, "" for none.
 * It is settled where it is answered, before the next key: the event "close" comes later, perhaps when it is open again.
 */
function choose(name, letters, focused = null) {
  const element = dialog(name);
  const form = element.querySelector("form");
  const buttons = [...element.querySelectorAll('[data-part="choices"] button')];
  for (const button of buttons) showKey(button, letters[button.value]);
  const listening = new AbortController();
  let answer;
  const answered = new Promise((resolve) => { answer = resolve; });
  const settle = (value) => {
    listening.abort();
    element.close();
    answer(value);
  };
  const listen = (target, type, work) => target.addEventListener(type, work, { signal: listening.signal });
  listen(element, "keydown", (event) => {
    const key = keyName(event);
    const button = buttons.find(({ value }) => key && letters[value] === key);
    if (key !== "Escape" && (!button || (isSingle(key) && takesText(event.target)))) return;
    event.preventDefault();
    event.stopPropagation();
    if (key === "Escape") settle("");
    else if (form.noValidate) settle(button.value);
    else button.click(); // What the dialog requires is asked for.
  });
  listen(form, "submit", (event) => {
    event.preventDefault();
    settle(event.submitter?.value ?? "");
  });
  listen(element, "close", () => { if (!element.open) settle(""); });
  element.showModal();
  (focused ?? buttons[0])?.focus();
  return answered;
}

/** The kind of an error at a step. */
export function askError(step, letters) {
  part("error", "title").textContent = `What is wrong with step ${step}?`;
  return choose("error", letters);
}

// With Alt: whoever begins to type the question at once writes it and chooses nothing. To give a script away has no key.
const ASK = { approach: "Alt+a", unsure: "Alt+u", statement: "Alt+s" };

/** A question to the captain: `{ reason, words }`, or null. Without words the dialog stays, but to give the script away. */
export async function askCaptain() {
  const words = part("ask", "words");
  words.value = "";
  const reason = await choose("ask", ASK, words);
  return reason ? { reason, words: words.value.trim() } : null;
}

/** All keys. `onSwitch(on)` keeps the switch for single keys. */
export function showHelp(keys, onSwitch) {
  const rows = [["0 – 9", "Points by hand"], ...keys.commands.map(({ key, also, words }) => [[key, ...also].filter(Boolean).map(keyWords).join(", "), words])];
  part("help", "rows").replaceChildren(...rows.map(([key, words]) => {
    const row = document.createElement("tr");
    const name = document.createElement("th");
    name.scope = "row";
    name.className = "mono nowrap";
    name.textContent = key || "–";
    const cell = document.createElement("td");
    cell.textContent = words;
    row.append(name, cell);
    return row;
  }));
  const box = part("help", "single");
  box.checked = keys.single_keys;
  box.onchange = () => onSwitch(box.checked);
  dialog("help").showModal();
}

/** A box to type in and a list to choose from, by arrows and Enter or by pointer. `list(typed)` gives `[{ text, node, value }]`. */
export class Chooser {
  constructor(input, place, { list, chosen }) {
    Object.assign(this, { input, place, list, chosen, index: 0, rows: [] });
    input.addEventListener("input", () => this.show());
    input.addEventListener("keydown", (event) => this.#key(event));
  }

  async show() {
    const typed = this.input.value;
    const rows = await this.list(typed);
    if (typed !== this.input.value) return;
    this.rows = rows;
    this.index = 0;
    this.place.replaceChildren(...rows.map(({ node }, index) => {
      const option = document.createElement("li");
      option.id = `${this.place.id}-${index}`;
      option.setAttribute("role", "option");
      option.className = "marking__phrase";
      option.append(node);
      option.addEventListener("click", () => this.#choose(index));
      return option;
    }));
    this.input.setAttribute("aria-expanded", String(rows.length > 0));
    this.#mark();
  }

  #mark() {
    for (const [index, option] of [...this.place.children].entries()) option.setAttribute("aria-selected", String(index === this.index));
    const option = this.place.children[this.index];
    if (option) this.input.setAttribute("aria-activedescendant", option.id);
    else this.input.removeAttribute("aria-activedescendant");
    option?.scrollIntoView({ block: "nearest" });
  }

  #key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by && this.rows.length) {
      event.preventDefault();
      this.index = (this.index + by + this.rows.length) % this.rows.length;
      this.#mark();
    } else if (event.key === "Enter") {
      event.preventDefault();
      event.stopPropagation();
      this.#choose(this.index);
    }
  }

  #choose(index) {
    if (this.rows[index]) this.chosen(this.rows[index].value);
  }
}

let palette = null;

/** Find a command by its name; `run(name)` does it. */
export function showPalette(keys, run) {
  const element = dialog("palette");
  palette ??= new Chooser(part("palette", "search"), part("palette", "list"), { list: (typed) => palette.list(typed), chosen: (value) => palette.chosen(value) });
  palette.list = (typed) => matching(keys.commands, typed).filter(({ name }) => name !== "palette").map(({ name, words, key, also }) => {
    const node = document.createElement("span");
    node.className = "row row--between";
    const text = document.createElement("span");
    text.textContent = words;
    node.append(text, ...[key, ...also].filter(Boolean).slice(0, 1).map(hint));
    return { value: name, node };
  });
  palette.chosen = (value) => {
    element.close();
    run(value);
  };
  palette.input.value = "";
  palette.input.onkeydown = (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault(); // A search box would only be emptied.
    event.stopPropagation();
    element.close();
  };
  element.showModal();
  palette.show();
}

const FIELDS = {
  band: "band", ticks: "items", is_mixed: "mixed case", typed: "points by hand", reason: "reason", verdicts: "verdicts",
  comments: "comments", granted: "granted steps", approach: "new approach",
};

/** What a field of a sheet says, in words. */
export function fieldWords(name, value) {
  if (name === "verdicts") return value.map((one) => `step ${one.step}: ${one.fallacy}, ${one.role}${one.words ? ` – ${one.words}` : ""}`).join("\n");
  if (name === "comments") return value.map((one) => `${one.step ? `step ${one.step}` : "whole script"}: ${one.words}`).join("\n");
  if (Array.isArray(value)) return value.join(" ");
  if (typeof value === "boolean") return value ? "yes" : "no";
  return value ?? "";
}

/** Two states of a sheet side by side; resolves to whether the one here holds. */
export function askConflict(mine, theirs) {
  const element = dialog("conflict");
  const fields = Object.keys(FIELDS).filter((name) => JSON.stringify(mine[name]) !== JSON.stringify(theirs[name]));
  part("conflict", "rows").replaceChildren(...fields.map((name) => {
    const row = document.createElement("tr");
    const head = document.createElement("th");
    head.scope = "row";
    head.textContent = FIELDS[name];
    const cells = [mine, theirs].map((sheet) => {
      const cell = document.createElement("td");
      cell.className = "marking__value";
      cell.textContent = fieldWords(name, sheet[name]) || "–";
      return cell;
    });
    row.append(head, ...cells);
    return row;
  }));
  if (!element.open) element.showModal();
  return new Promise((resolve) => {
    for (const [name, value] of [["keep", true], ["take", false]]) {
      part("conflict", name).onclick = () => {
        element.close();
        resolve(value);
      };
    }
    element.addEventListener("cancel", (event) => event.preventDefault(), { once: true });
    element.addEventListener("close", () => resolve(true), { once: true });
    part("conflict", "keep").focus();
  });
}
