// Maps a selection in a typeset step to a place in its source, in code points, and back. The typeset text is nearly a part of
// the source: Markdown's signs and a formula's dollars are missing. So both are walked in parallel. Pure, except for functions
// that take nodes.

const AHEAD = 400; // Longest stretch of source, such as a command, that shows nothing.
const SURE = 6; // This many consecutive equal signs count as a match.

const isMarkup = (sign) => !/[\p{L}\p{N}]/u.test(sign);
const isSpace = (sign) => /\s/.test(sign);

/** For every code unit of `shown` (and its end), the matching code unit of `source`. */
export function aligned(shown, source) {
  const map = new Array(shown.length + 1);
  let at = 0;
  for (let index = 0; index < shown.length; index += 1) {
    if (isSpace(shown[index])) {
      map[index] = at;
      continue;
    }
    const ahead = nextPlace(shown, index, source, at);
    if (ahead < 0) {
      map[index] = at;
      continue;
    }
    map[index] = ahead;
    at = ahead + 1;
  }
  map[shown.length] = at;
  return map;
}

function nextPlace(shown, index, source, from) {
  while (from < source.length && isSpace(source[from])) from += 1;
  if (source[from] === shown[index]) return from;
  for (let place = from + 1; place < Math.min(source.length, from + AHEAD); place += 1) {
    if (source[place] === shown[index] && agree(shown, index, source, place)) return place;
  }
  return -1;
}

function agree(shown, index, source, place) {
  for (let found = 0; found < SURE; ) {
    while (index < shown.length && isSpace(shown[index])) index += 1;
    if (index >= shown.length) return true;
    while (place < source.length && source[place] !== shown[index] && isMarkup(source[place])) place += 1;
    if (shown[index] !== source[place]) return false;
    index += 1;
    place += 1;
    found += 1;
  }
  return true;
}

/** Number of code points in the first `units` code units of a text. */
export function codePoints(text, units = text.length) {
  return [...text.slice(0, units)].length;
}

/** The code unit at which code point number `count` starts. */
export function codeUnits(text, count) {
  return [...text].slice(0, count).join("").length;
}

/**
 * The source place of the shown span `from`–`to`, as `{ start, end }` in code points; null for an empty span. `base` is the
 * number of the source's first code point in the whole text.
 */
export function placeOf(shown, from, to, source, base = 0) {
  while (from < to && isSpace(shown[from])) from += 1;
  while (to > from && isSpace(shown[to - 1])) to -= 1;
  if (from >= to) return null;
  const map = aligned(shown, source);
  const start = map[from];
  const end = Math.max(map[to - 1] + 1, start + 1);
  return { start: base + codePoints(source, start), end: base + codePoints(source, Math.min(end, source.length)) };
}

const letters = (text) => text.replaceAll(/[^\p{L}\p{N}]/gu, "");

/** Whether the signs of `part` occur in `whole` in the same order. */
function isWithin(part, whole) {
  let at = 0;
  for (const sign of part) {
    at = whole.indexOf(sign, at) + 1;
    if (!at) return false;
  }
  return true;
}

/**
 * The span of `shown` that displays the source's span `start`–`end`, as `{ from, to }` in code units. Null if nothing of it is
 * visible or the two do not match: no place is better than a wrong one.
 */
export function shownOf(shown, source, start, end) {
  const map = aligned(shown, source);
  let from = -1;
  let to = -1;
  for (let index = 0; index < shown.length; index += 1) {
    const place = map[index];
    if (isSpace(shown[index]) || source[place] !== shown[index] || place < start || place >= end) continue;
    if (from < 0) from = index;
    to = index + 1;
  }
  if (from < 0) return null;
  const seen = letters(shown.slice(from, to));
  const meant = letters(source.slice(start, end));
  return isWithin(seen, meant) && seen.length * 2 >= meant.length ? { from, to } : null;
}

/** The pieces `{ node, text }` of a typeset element, with formulas as TeX. */
export function pieces(node, found = []) {
  if (node.nodeType === Node.TEXT_NODE) {
    found.push({ node, text: node.data });
  } else if (node.classList?.contains("math")) {
    const note = node.querySelector('annotation[encoding="application/x-tex"]');
    found.push({ node, text: (note ?? node).textContent });
  } else {
    for (const child of node.childNodes) pieces(child, found);
  }
  return found;
}

function offsetIn(found, container, offset, isEnd) {
  const formula = (container.nodeType === Node.ELEMENT_NODE ? container : container.parentElement)?.closest(".math");
  const edge = document.createRange();
  let total = 0;
  for (const { node, text } of found) {
    if (node === container) return total + offset;
    if (formula && node === formula) return isEnd ? total + text.length : total;
    edge.selectNode(node);
    if (!formula && edge.comparePoint(container, offset) <= 0) return total;
    total += text.length;
  }
  return total;
}

/** The selection as `{ step, start, end }` if it is within one step of `root`; null otherwise. */
export function selectionPlace(root, selection = getSelection()) {
  if (!selection?.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  const inner = range.startContainer.nodeType === Node.ELEMENT_NODE ? range.startContainer : range.startContainer.parentElement;
  const step = inner?.closest("[data-step]");
  if (!step || !root.contains(step)) return null;
  const source = step.querySelector("[data-source]");
  if (!source) return null; // A page has regions, not words.
  const shown = source.hidden ? step.querySelector(".marking__set") : source;
  if (!shown.contains(range.startContainer)) return null;
  const found = pieces(shown);
  const text = found.map((one) => one.text).join("");
  const from = offsetIn(found, range.startContainer, range.startOffset, false);
  const to = shown.contains(range.endContainer) ? offsetIn(found, range.endContainer, range.endOffset, true) : text.length;
  const place = placeOf(text, from, to, source.textContent, Number(step.dataset.start));
  return place && { step: Number(step.dataset.step), ...place };
}
