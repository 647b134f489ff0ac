// A preview (`data-preview`) keeps the blocks that its next version has too: their formulas stay drawn, and htmx has less to clean.
import { announce } from "./announce.js";

const BOXES = ".solution, .statement, .prose";
// Places in the source move with every letter before them, and no preview needs them.
const PLACES = / data-[se]="\d+"/g;

/** Node → its HTML before formulas were drawn in it. */
const sources = new WeakMap();

const sourceOf = (node) => node.outerHTML?.replace(PLACES, "") ?? node.data;
const isSame = (old, next) => sources.get(old) === sourceOf(next);
const isBox = (node) => node.matches?.(BOXES);

function remembered(node) {
  sources.set(node, sourceOf(node));
  if (isBox(node)) node.childNodes.forEach(remembered);
  return node;
}

/** Give `box` the child nodes of `fresh`. Those that are the same at its beginning and its end stay, and so do boxes of text. */
export function exchange(box, fresh) {
  const old = [...box.childNodes];
  const next = [...fresh.childNodes];
  let end = null;
  while (old.length && next.length && isSame(old[0], next[0])) { old.shift(); next.shift(); }
  while (old.length && next.length && isSame(old.at(-1), next.at(-1))) { end = old.pop(); next.pop(); }
  const boxes = old.filter(isBox);
  const wanted = next.map((node) => (isBox(node) && boxes.length ? exchanged(boxes.shift(), node) : remembered(node)));
  for (const node of old) if (!wanted.includes(node)) node.remove();
  for (const node of wanted.reverse()) {
    // A node that moves is laid out again with all that it holds.
    if (node.parentNode !== box || node.nextSibling !== end) box.insertBefore(node, end);
    end = node;
  }
}

function exchanged(box, fresh) {
  const source = sourceOf(fresh);
  box.className = fresh.className;
  exchange(box, fresh);
  sources.set(box, source);
  return box;
}

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (!detail.target.matches("[data-preview]") || !detail.shouldSwap) return;
  detail.shouldSwap = false;
  const fresh = document.createElement("template");
  fresh.innerHTML = detail.serverResponse;
  exchange(detail.target, fresh.content);
  announce(detail.target);
});
