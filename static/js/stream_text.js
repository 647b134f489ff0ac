// Streamed text of a model: finished blocks are drawn once, the live tail is redrawn as it grows. Nodes are built with
// textContent only. Unchanged nodes of the tail are kept, so a token redraws only what it changes.
import { blockTree, splitBlocks } from "./blocks.js";
import { mathElement } from "./maths.js";

const BUDGET_MS = 8;
const waiting = new Set();
let scheduled = false;
let spent = 0;

/** Draw waiting streams for at most `BUDGET_MS` per frame; the rest follows in the next frame. */
function frame() {
  const start = performance.now();
  scheduled = false;
  spent = 0;
  for (const stream of waiting) {
    waiting.delete(stream);
    stream.draw();
    if (performance.now() - start > BUDGET_MS) break;
  }
  if (waiting.size) schedule();
}

function schedule() {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(frame);
}

/** Characters as Python counts them: code points. */
function codePoints(text) {
  let pairs = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit < 0xdc00 && index + 1 < text.length) pairs += 1;
  }
  return text.length - pairs;
}

/** Index of the UTF-16 unit at which code point number `count` starts. */
function unitsOf(text, count) {
  let units = 0;
  for (let seen = 0; seen < count && units < text.length; seen += 1) units += text.codePointAt(units) > 0xffff ? 2 : 1;
  return units;
}

/**
 * Draw a growing text into `element`. Offsets count code points of the whole text, so a repeated piece changes nothing.
 * Fires `streamdrawn` (bubbling) on the element after each drawing.
 */
export class StreamText {
  constructor(element) {
    this.element = element;
    this.reset("");
  }

  /** Length of the text in code points. */
  get length() {
    return this.received;
  }

  /** Add `text` that starts at `offset`. Returns false if an earlier piece is missing: fetch the whole text, then `reset`. */
  append(offset, text) {
    if (offset > this.received) return false;
    const known = this.received - offset;
    const size = codePoints(text);
    if (known >= size) return true;
    this.tail += known ? text.slice(unitsOf(text, known)) : text;
    this.received = offset + size;
    this.isSealed = false;
    this.#changed();
    return true;
  }

  /** Restart with `text`. */
  reset(text = "") {
    this.received = codePoints(text);
    this.tail = text;
    this.isSealed = false;
    this.nodes = [];
    this.trees = [];
    this.element.replaceChildren();
    if (text) this.#changed();
  }

  /** Mark the text as complete: open formulas and blocks will not be closed. */
  seal() {
    this.isSealed = true;
    this.draw();
  }

  #changed() {
    if (spent < BUDGET_MS && !waiting.has(this) && document.visibilityState !== "hidden" && !this.drewThisFrame) {
      const start = performance.now();
      this.draw();
      this.drewThisFrame = true;
      requestAnimationFrame(() => {
        this.drewThisFrame = false;
        spent = 0;
      });
      spent += performance.now() - start;
      return;
    }
    waiting.add(this);
    schedule();
  }

  /** Update the element. */
  draw() {
    waiting.delete(this);
    const text = this.isSealed && !this.tail.endsWith("\n") ? `${this.tail}\n` : this.tail;
    let rest = 0;
    for (const block of splitBlocks(text)) {
      const closed = block.closed || this.isSealed;
      const trees = blockTree(text, { ...block, closed });
      this.nodes = patch(this.element, this.nodes, this.trees, trees);
      this.trees = trees;
      if (!closed) break;
      this.nodes = [];
      this.trees = [];
      rest = block.next;
    }
    this.tail = this.isSealed ? "" : this.tail.slice(rest);
    this.element.dispatchEvent(new CustomEvent("streamdrawn", { bubbles: true }));
  }
}

/** Update the children `nodes` of `parent`, its last ones, from tree `before` to tree `after`; return the new nodes. */
function patch(parent, nodes, before, after) {
  let kept = 0;
  while (kept < before.length && kept < after.length && same(before[kept], after[kept])) kept += 1;
  const made = nodes.slice(0, kept);
  let index = kept;
  if (index < before.length && index < after.length && grow(nodes[index], before[index], after[index])) {
    made.push(nodes[index]);
    index += 1;
  }
  for (const old of nodes.slice(index)) old.remove();
  for (; index < after.length; index += 1) {
    const node = build(after[index]);
    made.push(node);
    parent.append(node);
  }
  return made;
}

function same(one, other) {
  if (one.t !== other.t || one.v !== other.v || one.display !== other.display || one.level !== other.level) return false;
  if (one.ordered !== other.ordered || one.start !== other.start) return false;
  if (!one.c || !other.c) return !one.c && !other.c;
  return one.c.length === other.c.length && one.c.every((child, index) => same(child, other.c[index]));
}

/** Extend a node in place if it only grew; return false if it must be rebuilt. */
function grow(node, before, after) {
  if (before.t !== after.t || before.level !== after.level || before.ordered !== after.ordered || before.start !== after.start) return false;
  if (before.c && after.c) {
    patch(node, [...node.childNodes], before.c, after.c);
    return true;
  }
  if (before.t === "math" || before.t === "display") return false;
  const text = before.t === "text" ? node : before.t === "pre" ? node.firstChild.firstChild : node.firstChild;
  if (!text || !after.v.startsWith(before.v)) return false;
  text.appendData(after.v.slice(before.v.length));
  return true;
}

const TAGS = { p: "p", quote: "blockquote", item: "li", strong: "strong", em: "em" };

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.append(document.createTextNode(text));
  return made;
}

function build(tree) {
  switch (tree.t) {
    case "text":
      return document.createTextNode(tree.v);
    case "math":
      return mathElement(tree.v, tree.display);
    case "display":
      return mathElement(tree.v, true, "div");
    case "open":
      return element("span", "math-open", tree.v);
    case "tag":
      return element("span", "protocol", tree.v);
    case "code":
      return element("code", "", tree.v);
    case "pre": {
      const pre = element("pre");
      pre.append(element("code", "", tree.v));
      return pre;
    }
    case "hr":
    case "br":
      return element(tree.t);
    default:
      return filled(tree);
  }
}

function filled(tree) {
  let tag = TAGS[tree.t];
  if (tree.t === "h") tag = `h${tree.level}`;
  if (tree.t === "list") tag = tree.ordered ? "ol" : "ul";
  const made = document.createElement(tag);
  if (tree.ordered && tree.start !== 1) made.start = tree.start;
  made.append(...tree.c.map(build));
  return made;
}
