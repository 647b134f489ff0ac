// The dialogs of the workspace: kinds of error, questions to the captain, keys, commands by name, conflicts.
import { isSingle, keyName, matching, takesText } from "./keys.js";
import { placeWords } from "./sheet.js";

const dialog = (name) => document.querySelector(`[data-dialog="${name}"]`);
const part = (name, inner) => dialog(name).querySelector(`[data-part="${inner}"]`);

/** Whether a dialog is open and handles the keys itself. */
export function isOpen() {
  return document.querySelector("dialog[open]") !== null;
}

/** The display name of a key: "Ctrl+k" is "Ctrl K". */
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

/** Show each button's active key on it; accessible names stay unchanged. */
export function hintKeys(root, { commands, single_keys: single }) {
  const keys = new Map(commands.map(({ name, key, also }) => [name, [key, ...also].find((one) => one && (single || !isSingle(one)))]));
  for (const button of root.querySelectorAll("[data-command], [data-command-hint]")) {
    showKey(button, keys.get(button.dataset.command ?? button.dataset.commandHint));
  }
}

/** Show a button's key on it, replacing an earlier one. */
function showKey(button, key) {
  const shown = button.querySelector("kbd");
  if (!key) shown?.remove();
  else if (shown) shown.replaceWith(hint(key));
  else button.append(" ", hint(key));
}

/**
 * Open a dialog of choices, each with its key, focusing `focused` or the first one; resolves to the chosen value, "" for none.
 * Settled with the answer, before the next key: the event "close" comes later, perhaps after the dialog was opened again.
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
    else button.click(); // Lets the browser check required fields.
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

/** Ask for the kind of an error at a step. */
export function askError(step, letters) {
  part("error", "title").textContent = `What is wrong with ${placeWords(step)}?`;
  return choose("error", letters);
}

// With Alt, so that typing the question at once chooses nothing. Giving a script away has no key.
const ASK = { approach: "Alt+a", unsure: "Alt+u", statement: "Alt+s" };

/**
 * Ask for a question to the captain: `{ reason, words }`, or null. The dialog requires words, except for giving the script
 * away.
 */
export async function askCaptain() {
  const words = part("ask", "words");
  words.value = "";
  const reason = await choose("ask", ASK, words);
  return reason ? { reason, words: words.value.trim() } : null;
}

/** Show all keys. `onSwitch(on)` saves the switch for single keys. */
export function showHelp(keys, onSwitch) {
  const rows = [["0 – 9", "Manual points"], ...keys.commands.map(({ key, also, words }) => [[key, ...also].filter(Boolean).map(keyWords).join(", "), words])];
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

/**
 * A text box with a list to choose from, by arrows and Enter or by pointer. `list(typed)` returns `[{ text, node, value }]`.
 */
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

/** Find a command by its name; `run(name)` executes it. */
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
    event.preventDefault(); // By default, Escape would only clear the search box.
    event.stopPropagation();
    element.close();
  };
  element.showModal();
  palette.show();
}

const FIELDS = {
  band: "band", ticks: "items", is_mixed: "mixed case", typed: "manual points", reason: "reason", verdicts: "verdicts",
  comments: "comments", granted: "granted steps", approach: "new approach",
};

/** The value of a sheet's field, in words. */
export function fieldWords(name, value) {
  if (name === "verdicts") return value.map((one) => `${placeWords(one.step)}: ${one.fallacy}, ${one.role}${one.words ? ` – ${one.words}` : ""}`).join("\n");
  if (name === "comments") return value.map((one) => `${placeWords(one.step)}: ${one.words}`).join("\n");
  if (Array.isArray(value)) return value.join(" ");
  if (typeof value === "boolean") return value ? "yes" : "no";
  return value ?? "";
}

/** Show two states of a sheet side by side; resolves to whether to keep the local one. */
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
