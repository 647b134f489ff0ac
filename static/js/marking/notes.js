// Verdicts and comments at their steps: display, editing, links to items, removal. Text is saved while it is typed.
import { mathElement } from "../maths.js";
import { StreamText } from "../stream_text.js";
import { Places } from "./places.js";
import { firstError, placeWords } from "./sheet.js";

const ROLES = { root: "root error", consequence: "consequence", independent: "independent", harmless: "harmless" };

let isPressed = false;
addEventListener("pointerdown", () => { isPressed = true; }, { capture: true });
addEventListener("pointerup", () => { isPressed = false; }, { capture: true });

/** Delay work that moves the page while a pointer is down, so that its click hits the intended target. */
function afterPointer(work) {
  if (isPressed) addEventListener("pointerup", () => setTimeout(work), { capture: true, once: true });
  else work();
}

/** Typeset words with formulas into `element`. */
export function setWords(element, words) {
  const text = new StreamText(element);
  text.append(0, words);
  text.seal();
}

/** Typeset a quote with its formulas, shortened to 200 characters. */
function setQuote(element, quote) {
  setWords(element, quote.length > 200 ? `${quote.slice(0, 199)}…` : quote);
}

export class Notes {
  /** `send(verb, args, options)` queues a command; `names`: names of fallacies; `items`: codes. */
  constructor(root, { send, drop, names, items, scans, isSealed }) {
    Object.assign(this, { root, send, drop, names, items, scans, isSealed });
    this.shown = new Map(); // id → { element, json }
    this.fresh = new Map(); // comments without words yet: id → note
    this.editing = "";
    this.places = new Places(root);
    root.querySelector('[data-part="script"]').addEventListener("click", (event) => this.#toNote(event));
  }

  /** Focus the note about the clicked words, unless the click ends a selection. */
  #toNote({ target }) {
    const id = this.places.noteAt(target);
    if (!id || !getSelection().isCollapsed || target.closest("a, button")) return;
    this.shown.get(id)?.element.focus();
  }

  /** Focus a note. */
  focus(id) {
    this.shown.get(id)?.element.focus();
  }

  /** Update the notes from a sheet. An open editor is left unchanged. */
  show(sheet) {
    this.sheet = sheet;
    for (const id of this.fresh.keys()) if (sheet.comments.some((one) => one.id === id)) this.fresh.delete(id);
    const first = firstError(sheet);
    const isFirst = new Set();
    const wanted = [
      ...sheet.verdicts.map((note) => {
        const leads = note.step === first && note.role !== "harmless" && isFirst.size === 0;
        if (leads) isFirst.add(note.id);
        return { kind: "verdict", note, leads };
      }),
      ...[...sheet.comments, ...this.fresh.values()].map((note) => ({ kind: "comment", note, leads: false })),
    ];
    const ids = new Set(wanted.map(({ note }) => note.id));
    for (const [id, { element }] of this.shown) {
      if (ids.has(id)) continue;
      element.remove();
      this.shown.delete(id);
    }
    this.scans.show(wanted);
    for (const one of wanted) this.#draw(one);
    this.places.show(wanted.map(({ note }) => note));
  }

  #draw({ kind, note, leads }) {
    const json = JSON.stringify([note, leads, this.scans.number(note), this.sheet.verdicts.findIndex((one) => one.id === note.root)]);
    let entry = this.shown.get(note.id);
    if (entry?.json === json) return;
    if (!entry) {
      entry = { element: this.#make(kind, note) };
      this.shown.set(note.id, entry);
      this.root.querySelector(`[data-notes="${note.step}"]`)?.append(entry.element);
    }
    entry.json = json;
    this.#fill(entry.element, kind, note, leads);
  }

  #make(kind, note) {
    const template = document.querySelector(`template[data-template="${kind}"]`);
    const element = template.content.firstElementChild.cloneNode(true);
    element.dataset.note = note.id;
    element.dataset.kind = kind;
    const link = element.querySelector('[data-act="link"]');
    link.append(new Option("Evidence for …", ""), ...this.items.map(({ code }) => new Option(code, code)));
    link.hidden = this.items.length === 0;
    const editor = element.querySelector('[data-part="editor"]');
    element.addEventListener("click", (event) => this.#clicked(event, kind, note.id));
    element.addEventListener("change", (event) => this.#chosen(event, kind, note.id));
    editor.addEventListener("input", () => this.#typed(kind, note.id, editor));
    editor.addEventListener("blur", () => afterPointer(() => this.#closed(kind, note.id, editor)));
    element.addEventListener("focusin", ({ target }) => {
      element.classList.add("marking__note--open");
      this.places.point(note.id, target === element);
      this.scans.point(note.id, target === element);
    });
    element.addEventListener("focusout", ({ relatedTarget }) => {
      if (element.contains(relatedTarget)) return;
      this.places.point("");
      this.scans.point("");
      afterPointer(() => { if (!element.contains(document.activeElement)) element.classList.remove("marking__note--open"); });
    });
    if (this.isSealed) element.querySelector('[data-part="acts"]').hidden = true;
    return element;
  }

  #fill(element, kind, note, leads) {
    const part = (name) => element.querySelector(`[data-part="${name}"]`);
    const editor = part("editor");
    if (kind === "verdict") {
      part("kind").textContent = this.names[note.fallacy] ?? note.fallacy;
      const root = note.root && this.sheet.verdicts.find((one) => one.id === note.root);
      part("role").textContent = root ? `${ROLES[note.role]} of ${placeWords(root.step)}` : ROLES[note.role];
      part("first").hidden = !leads;
      element.dataset.role = note.role;
      for (const button of element.querySelectorAll("[data-role]")) button.setAttribute("aria-pressed", String(button.dataset.role === note.role));
    } else {
      element.querySelector('[data-act="audience"]').value = note.audience;
      element.dataset.audience = note.audience;
    }
    element.setAttribute("aria-label", kind === "verdict" ? `Verdict: ${this.names[note.fallacy]}, ${ROLES[note.role]}` : "Comment");
    const number = this.scans.number(note);
    if (number) element.setAttribute("aria-label", `${element.getAttribute("aria-label")}, place ${number} of ${placeWords(note.step)}`);
    part("number").hidden = !number;
    part("number").textContent = number;
    part("quote").hidden = !note.anchor?.quote;
    if (note.anchor?.quote) setQuote(part("quote"), note.anchor.quote);
    part("words").hidden = !note.words;
    setWords(part("words"), note.words ?? "");
    if (document.activeElement !== editor) editor.value = note.words ?? "";
    this.#links(part("links"), kind, note);
  }

  #links(place, kind, note) {
    const chips = (note.items ?? []).map((code) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "tag";
      button.textContent = `${code} ×`;
      button.setAttribute("aria-label", `Not evidence for ${code}`);
      button.disabled = this.isSealed;
      button.addEventListener("click", () => this.send("link", { kind, id: note.id, code, on: false }));
      return button;
    });
    place.replaceChildren(...chips);
    place.hidden = chips.length === 0;
  }

  #note(kind, id) {
    return this.sheet[kind === "verdict" ? "verdicts" : "comments"].find((one) => one.id === id) ?? this.fresh.get(id);
  }

  #clicked(event, kind, id) {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.role) this.send("verdict_role", { id, role: button.dataset.role });
    else if (button.dataset.act === "edit") this.edit(id);
    else if (button.dataset.act === "remove") this.remove(kind, id);
  }

  #chosen(event, kind, id) {
    const { act } = event.target.dataset;
    if (act === "link" && event.target.value) {
      this.send("link", { kind, id, code: event.target.value, on: true });
      event.target.value = "";
    } else if (act === "audience") {
      const note = this.#note(kind, id);
      if (this.fresh.has(id)) this.fresh.set(id, { ...note, audience: event.target.value });
      else this.#resend(kind, { ...note, audience: event.target.value });
    }
  }

  /** Open the editor of a note. */
  edit(id) {
    const element = this.shown.get(id)?.element;
    if (!element || this.isSealed) return;
    const editor = element.querySelector('[data-part="editor"]');
    editor.hidden = false;
    editor.focus();
    editor.setSelectionRange(editor.value.length, editor.value.length);
    this.editing = id;
  }

  /** Add a comment at a step and open it for typing; it is dropped if it stays empty. */
  write(note) {
    this.fresh.set(note.id, { words: "", items: [], audience: "student", anchor: null, region: null, ...note });
    this.show(this.sheet);
    this.edit(note.id);
  }

  remove(kind, id) {
    this.drop(`words:${id}`);
    if (!this.fresh.delete(id)) this.send(kind === "verdict" ? "verdict_remove" : "comment_remove", { id });
    this.show(this.sheet);
  }

  #typed(kind, id, editor) {
    const words = editor.value;
    const note = this.#note(kind, id);
    if (!note) return;
    setWords(this.shown.get(id).element.querySelector('[data-part="words"]'), words);
    this.shown.get(id).element.querySelector('[data-part="words"]').hidden = !words;
    if (kind === "comment" && !words.trim()) return; // Closing the editor removes it.
    this.#resend(kind, { ...note, words }, { merge: `words:${id}`, isTyped: true });
  }

  #resend(kind, note, options) {
    const { id, step, words, items, anchor, region, audience, fallacy, role, root } = note;
    const place = anchor ? { start: anchor.start, end: anchor.end } : null;
    const common = { id, step, words, items: items ?? [], anchor: place, region: region ?? null };
    this.send(kind, kind === "verdict" ? { ...common, fallacy, role, root } : { ...common, audience }, options);
  }

  #closed(kind, id, editor) {
    if (document.activeElement === editor) return;
    if (kind === "comment" && !editor.value.trim()) this.remove(kind, id);
    editor.hidden = true;
    if (this.editing === id) this.editing = "";
  }
}

/** One line with formulas for lists, as a span. */
export function inlineWords(words) {
  const span = document.createElement("span");
  for (const [index, piece] of words.split(/\$([^$]+)\$/).entries()) {
    if (index % 2) span.append(mathElement(piece, false));
    else span.append(piece);
  }
  return span;
}
