// Highlights the places of notes in the text: words are marked, formulas as a whole. Notes and their words link to each other.
import { codeUnits, pieces, shownOf } from "./anchors.js";

const PLACE = "marking__noted";
const BOXES = new Set(["DIV", "UL", "OL", "TABLE", "THEAD", "TBODY", "TR", "BLOCKQUOTE"]);

/** Whether a mark around this text would be invisible: white space between blocks. */
const isBetween = (text, parent) => !text.trim() && BOXES.has(parent.tagName);

function clear(box) {
  for (const mark of box.querySelectorAll(`mark.${PLACE}`)) mark.replaceWith(...mark.childNodes);
  for (const formula of box.querySelectorAll(`.${PLACE}`)) {
    formula.classList.remove(PLACE, `${PLACE}--now`);
    delete formula.dataset.of;
  }
  box.normalize();
}

/** Split a text node and wrap the pieces that belong to notes; `spans` are `{ id, from, to }` in the node's text. */
function wrapText(node, spans) {
  const cuts = [...new Set(spans.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b);
  let rest = node;
  let at = 0;
  for (const cut of [...cuts, node.length]) {
    if (cut <= at) continue;
    const here = rest;
    const length = cut - at;
    rest = here.length > length ? here.splitText(length) : null;
    const ids = spans.filter(({ from, to }) => from <= at && to >= cut).map(({ id }) => id);
    at = cut;
    if (ids.length && !isBetween(here.data, here.parentElement)) {
      const mark = document.createElement("mark");
      mark.className = PLACE;
      mark.dataset.of = ids.join(" ");
      here.replaceWith(mark);
      mark.append(here);
    }
    if (!rest) return;
  }
}

/** Mark `spans` in a box, given in code units of the text of its pieces. */
function wrap(box, spans) {
  let base = 0;
  for (const { node, text } of pieces(box)) {
    const end = base + text.length;
    const start = base;
    const inside = spans.filter(({ from, to }) => from < end && to > start);
    base = end;
    if (!inside.length) continue;
    if (node.nodeType === Node.TEXT_NODE) {
      const cut = inside.map(({ id, from, to }) => ({ id, from: Math.max(from - start, 0), to: Math.min(to, end) - start }));
      wrapText(node, cut);
    } else {
      node.classList.add(PLACE);
      node.dataset.of = inside.map(({ id }) => id).join(" ");
    }
  }
}

export class Places {
  constructor(root) {
    this.root = root;
    this.shown = new Map(); // step number → the notes behind its marks, as JSON
  }

  /** Update the marks from notes `{ id, step, anchor }`; `anchor` in code points of the whole source. */
  show(notes) {
    for (const step of this.root.querySelectorAll("[data-step]")) {
      const mine = notes.filter((note) => note.anchor && String(note.step) === step.dataset.step);
      const wanted = mine.map(({ id, anchor }) => [id, anchor.start, anchor.end]);
      const json = JSON.stringify(wanted);
      if ((this.shown.get(step.dataset.step) ?? "[]") === json) continue;
      this.shown.set(step.dataset.step, json);
      this.#mark(step, wanted);
    }
    if (this.now) this.point(this.now, false);
  }

  #mark(step, wanted) {
    const set = step.querySelector(".marking__set");
    const raw = step.querySelector("[data-source]");
    clear(set);
    clear(raw);
    if (!wanted.length) return;
    const source = raw.textContent;
    const base = Number(step.dataset.start);
    const spans = wanted.map(([id, start, end]) => ({ id, from: codeUnits(source, start - base), to: codeUnits(source, end - base) }));
    wrap(raw, spans);
    const text = pieces(set).map((one) => one.text).join("");
    const seen = spans.map(({ id, from, to }) => ({ id, ...shownOf(text, source, from, to) }));
    wrap(set, seen.filter((one) => one.to));
  }

  /** The visible elements that mark the place of a note. */
  of(id) {
    return [...this.root.querySelectorAll(`.${PLACE}`)].filter((one) => one.dataset.of.split(" ").includes(id) && one.offsetParent);
  }

  /** Highlight one note's place, "" for none; with `move`, scroll to it. */
  point(id, move = true) {
    this.now = id;
    for (const one of this.root.querySelectorAll(`.${PLACE}--now`)) one.classList.remove(`${PLACE}--now`);
    const found = id ? this.of(id) : [];
    for (const one of found) one.classList.add(`${PLACE}--now`);
    if (move) found[0]?.scrollIntoView({ block: "nearest" });
  }

  /** The note whose place contains an element, the newest if there are several; "" without one. */
  noteAt(element) {
    return element?.closest?.(`.${PLACE}`)?.dataset.of.split(" ").at(-1) ?? "";
  }
}
