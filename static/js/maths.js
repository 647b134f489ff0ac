// Typeset formulas: the TeX of every `.math` element becomes a KaTeX formula when the element comes near the window.
// TeX of users and models is never assigned to innerHTML: KaTeX builds nodes, and unreadable TeX stays text.
import katex from "../vendor/katex/katex.mjs";
import { MACROS, repairTex } from "./tex_macros.js";

const MAX_TEX = 8000;
const CACHE_SIZE = 2000;
const NEAR_PX = 600;
const AT_ONCE = 60;
// The time of one task. The rest is drawn in the next tasks, so that typing and scrolling stay smooth.
const TASK_MS = 25;
const SHORT_TEX = 60;
const SIGNS = /^[.,;:!?)\]’”]+/;
const WAITING = ".math:not([data-tex-state])";

const CHOICE = "lemmascope.maths";

/** Whether the reader chose the browser's own formulas (MathML), which are lighter and work better with some screen readers. */
function isNative() {
  try {
    return localStorage.getItem(CHOICE) === "mathml";
  } catch {
    return false; // Storage may be forbidden; then KaTeX draws the formulas.
  }
}

/** The switch in the user's menu. Formulas are drawn once, so a new choice reloads the page. */
function mountChoice() {
  for (const element of document.querySelectorAll("[data-maths-switch]")) element.hidden = false;
  for (const button of document.querySelectorAll("[data-maths-choice]")) {
    button.setAttribute("aria-pressed", String((button.dataset.mathsChoice === "mathml") === isNative()));
    button.addEventListener("click", () => {
      localStorage.setItem(CHOICE, button.dataset.mathsChoice);
      location.reload();
    });
  }
}

/** TeX string → { node } or { failure }, least recently used first. */
const cache = new Map();

function drawn(tex, display) {
  const key = (display ? "D" : "I") + tex;
  let entry = cache.get(key);
  if (entry) {
    cache.delete(key);
  } else {
    entry = draw(tex, display);
    if (cache.size >= CACHE_SIZE) cache.delete(cache.keys().next().value);
  }
  cache.set(key, entry);
  return entry;
}

function draw(tex, display) {
  if (tex.length > MAX_TEX) return { failure: `This formula is too long to typeset: ${tex.length} characters.` };
  const box = document.createElement("span");
  try {
    katex.render(repairTex(tex), box, {
      displayMode: display,
      throwOnError: true,
      trust: false,
      strict: "ignore",
      maxSize: 20,
      maxExpand: 500,
      output: isNative() ? "mathml" : "htmlAndMathml",
      macros: { ...MACROS },
    });
  } catch (error) {
    return { failure: `This formula cannot be typeset. ${error.message}` };
  }
  return { node: box.firstChild };
}

/** The reason why a formula cannot be typeset, or "". */
export function failureOf(tex, display) {
  return drawn(tex, display).failure ?? "";
}

/** Replace the TeX in a `.math` element by the formula. On failure the TeX stays, with the reason as its title. */
export function typesetElement(element) {
  if (element.dataset.texState) return;
  const tex = element.textContent;
  const { node, failure } = drawn(tex, element.classList.contains("display"));
  if (failure) {
    element.dataset.texState = "failed";
    element.classList.add("math-failed");
    element.title = failure;
    return;
  }
  element.dataset.texState = "done";
  element.replaceChildren(node.cloneNode(true));
  if (element.classList.contains("display")) element.tabIndex = -1;
  else holdPunctuation(element, tex);
}

/** Keep a short formula and the punctuation after it on one line. */
function holdPunctuation(element, tex) {
  const next = element.nextSibling;
  const signs = next?.nodeType === Node.TEXT_NODE && tex.length <= SHORT_TEX ? SIGNS.exec(next.data)?.[0] : "";
  if (!signs) return;
  const held = document.createElement("span");
  held.className = "math-held";
  element.replaceWith(held);
  next.deleteData(0, signs.length);
  held.append(element, signs);
}

/** A new `.math` element with its formula drawn, for text built in the browser. */
export function mathElement(tex, display, tag = "span") {
  const element = document.createElement(tag);
  element.className = display ? "math display" : "math inline";
  element.textContent = tex;
  typesetElement(element);
  return element;
}

/** Elements whose formula is drawn soon, in their order. */
const soon = [];

/** Draw the next formulas for some milliseconds, and the rest in further tasks. */
function drawSoon() {
  const until = performance.now() + TASK_MS;
  while (soon.length && performance.now() < until) typesetElement(soon.shift());
  if (soon.length) setTimeout(drawSoon);
}

function addSoon(elements) {
  const isDrawing = soon.length > 0;
  soon.push(...elements);
  if (!isDrawing) drawSoon();
}

let observer = null;

function watcher() {
  observer ??= new IntersectionObserver(
    (entries) => {
      const near = entries.filter(({ isIntersecting }) => isIntersecting).map(({ target }) => target);
      for (const element of near) observer.unobserve(element);
      addSoon(near);
    },
    { rootMargin: `${NEAR_PX}px 0px` },
  );
  return observer;
}

/** The elements inside the window. Containers that CSS may skip (`content-visibility`) are measured first as a whole. */
function inWindow(elements) {
  const isNear = (element) => {
    const place = element.getBoundingClientRect();
    return place.width > 0 && place.bottom >= 0 && place.top <= innerHeight;
  };
  const parts = new Map([...new Set(elements.map((element) => element.closest(".marking__set")))].map((part) => [part, !part || isNear(part)]));
  return new Set(elements.filter((element) => parts.get(element.closest(".marking__set")) && isNear(element)));
}

/** Typeset the formulas in `root`: those in the window at once or in the next tasks, others when they come near. */
export function typeset(root = document) {
  const waiting = [...root.querySelectorAll(WAITING)];
  if (root instanceof Element && root.matches(WAITING)) waiting.unshift(root);
  const near = inWindow(waiting.slice(0, AT_ONCE * 4));
  const first = waiting.filter((element) => near.has(element)).slice(0, AT_ONCE);
  const atOnce = new Set(first);
  for (const element of waiting) if (!atOnce.has(element)) watcher().observe(element);
  addSoon(first);
}

export { typeset as typesetIn };

/** Typeset all formulas in `root` now, or the first `most`. */
export function typesetAll(root = document, most = Infinity) {
  for (const element of [...root.querySelectorAll(WAITING)].slice(0, most)) typesetElement(element);
}

// --- copy as TeX -----------------------------------------------------------------------------------------------------

const BLOCKS = /^(?:P|DIV|LI|H[1-6]|PRE|BLOCKQUOTE|TR|UL|OL|TABLE)$/;

/** The TeX of a drawn formula with its delimiters; null for other elements. */
function source(element) {
  if (!element.classList?.contains("math")) return null;
  const note = element.querySelector('annotation[encoding="application/x-tex"]');
  const tex = (note ? note.textContent : element.textContent).trim();
  if (!element.classList.contains("display")) return `$${tex}$`;
  return `\\[${tex}\\]`;
}

function plainText(node) {
  if (node.nodeType === Node.TEXT_NODE) return node.data;
  if (node.nodeName === "BR") return "\n";
  const tex = source(node);
  if (tex !== null) return node.nodeName === "DIV" ? `\n${tex}\n` : tex;
  const inner = [...node.childNodes].map(plainText).join("");
  return BLOCKS.test(node.nodeName) ? `\n${inner}\n` : inner;
}

function mathAround(node) {
  const element = node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement;
  return element?.closest('.math[data-tex-state="done"]') ?? null;
}

function onCopy(event) {
  const selection = getSelection();
  if (!selection || selection.isCollapsed || !selection.rangeCount) return;
  const range = selection.getRangeAt(0).cloneRange();
  const first = mathAround(range.startContainer);
  const last = mathAround(range.endContainer);
  if (first) range.setStartBefore(first);
  if (last) range.setEndAfter(last);
  const piece = range.cloneContents();
  if (!piece.querySelector(".math")) return;
  const text = [...piece.childNodes].map(plainText).join("").replace(/\n{3,}/g, "\n\n").trim();
  event.clipboardData.setData("text/plain", text);
  event.preventDefault();
}

if (typeof document !== "undefined") {
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => typeset());
  else typeset();
  mountChoice();
  document.addEventListener("htmx:load", (event) => typeset(event.detail.elt ?? document));
  document.addEventListener("htmx:afterSwap", (event) => {
    const target = event.detail.target;
    typeset(target?.isConnected ? target : document);
  });
  document.addEventListener("copy", onCopy);
  addEventListener("beforeprint", () => typesetAll());
}
