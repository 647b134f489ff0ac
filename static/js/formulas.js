// Find formulas in text, by the rules of apps/reasoning/texts/formulas.py (tests/maths compares the two). In streamed text, which
// may end anywhere, also report what may still become a formula.

export const MAX_INLINE = 2000;
export const MAX_DISPLAY = 6000;
/** A formula, code span or escape that is open at the end of the text and may be closed later. */
export const OPEN = Symbol("open");
/** Placeholder for a line break inside a formula during parsing by line. */
export const BREAK = "\ue00a";
/** Appended to a finished piece: a blank line closes everything inline. */
export const END = "\n\n";

const ENVIRONMENTS =
  "equation align gather multline eqnarray alignat flalign aligned gathered split cases array matrix pmatrix bmatrix Bmatrix vmatrix Vmatrix";
const BEGIN = new RegExp(`\\\\begin\\{((?:${ENVIRONMENTS.split(" ").join("|")})\\*?)\\}`, "y");
/** A blank line or fenced code ends an unclosed inline formula; only fenced code ends an unclosed display. */
const INLINE_END = /\n[ \t\r]*(?:\n|`{3}|~{3})/g;
const DISPLAY_END = /\n(?:[ \t]*>)*[ \t]*(?:`{3}|~{3})/g;
/** Text that looks like TeX, or like a point, a triangle or a variable. */
const SIGNS_OF_TEX = /[\\^_=<>+{}]|^\s*(?:[A-Z]{1,6}|[a-z])'*\s*$/;
const DIGIT = /\p{Nd}/u;
const DOLLAR_SIGNS = /\\[^]|[{}$]/g;
const NESTED_REACH = 200;

/** The first match of `pattern` from `start` on, or `limit`. */
function barrier(pattern, text, start, limit) {
  pattern.lastIndex = start;
  const found = pattern.exec(text);
  return found && found.index < limit ? found.index : limit;
}

/** The formula that opens at `at`: { start, end, tex, display }; null for none, OPEN if the text ends too early. */
export function formulaAt(text, at) {
  if (text[at] === "$") return text[at + 1] === "$" ? until(text, at, "$$", MAX_DISPLAY, true) : dollars(text, at);
  if (at + 1 >= text.length) return OPEN;
  if (text[at + 1] === "(") return until(text, at, "\\)", MAX_INLINE, false);
  if (text[at + 1] === "[") return until(text, at, "\\]", MAX_DISPLAY, true);
  return text.startsWith("\\begin{", at) ? environment(text, at) : null;
}

function until(text, at, closer, most, display) {
  const start = at + 2;
  const limit = start + most;
  const stop = barrier(display ? DISPLAY_END : INLINE_END, text, start, limit);
  const end = closing(text, start, closer, stop);
  if (end < 0) return text.length < limit && stop === limit ? OPEN : null;
  const tex = text.slice(start, end);
  return tex.trim() ? { start: at, end: end + 2, tex, display } : null;
}

function closing(text, start, closer, stop) {
  let place = text.indexOf(closer, start);
  while (place >= 0 && place + 2 <= stop) {
    let before = place;
    while (before > start && text[before - 1] === "\\") before -= 1;
    if ((place - before) % 2 === 0) return place;
    place = text.indexOf(closer, place + 1);
  }
  return -1;
}

function environment(text, at) {
  BEGIN.lastIndex = at;
  const opening = BEGIN.exec(text);
  if (!opening) return text.length < at + 20 && !text.slice(at).includes("}") && !text.slice(at).includes("\n") ? OPEN : null;
  const end = `\\end{${opening[1]}}`;
  const limit = at + MAX_DISPLAY;
  const stop = barrier(DISPLAY_END, text, at, limit);
  let depth = 1;
  let place = at + opening[0].length;
  while (depth) {
    const found = text.indexOf(end, place);
    if (found < 0 || found + end.length > stop) return text.length < limit && stop === limit ? OPEN : null;
    depth += text.slice(place, found).split(opening[0]).length - 2;
    place = found + end.length;
  }
  return { start: at, end: place, tex: text.slice(at, place), display: true };
}

function dollars(text, at) {
  const before = at ? text[at - 1] : "";
  if (DIGIT.test(before)) return null;
  const start = at + 1;
  const limit = start + MAX_INLINE;
  const stop = barrier(INLINE_END, text, start, limit);
  const { end, sure } = closingDollar(text, start, stop);
  if (end < 0 || (!sure && stop === limit)) {
    const mayClose = text.length < limit && stop === limit;
    if (mayClose && (end < 0 ? mayOpen(text, at, before) : true)) return OPEN;
    if (end < 0) return null;
  }
  const tex = text.slice(start, end);
  const after = text[end + 1] ?? "";
  if (!tex.trim() || DIGIT.test(after)) return null;
  if ((/^\s/.test(tex) || /\s$/.test(tex)) && !(isSeparated(before) && SIGNS_OF_TEX.test(tex))) return null;
  return { start: at, end: end + 1, tex, display: false };
}

/** An opening sign before a space counts only after a space, a bracket or the start. */
function mayOpen(text, at, before) {
  return !/^\s/.test(text.slice(at + 1, at + 2)) || isSeparated(before);
}

function isSeparated(before) {
  return before === "" || /\s/.test(before) || before === "(" || before === "[" || before === BREAK;
}

/** The first `$` outside braces, else the first one; `sure` if later text cannot change it. */
function closingDollar(text, start, stop) {
  let depth = 0;
  let first = -1;
  let limit = stop;
  DOLLAR_SIGNS.lastIndex = start;
  for (let found = DOLLAR_SIGNS.exec(text); found && found.index < stop; found = DOLLAR_SIGNS.exec(text)) {
    if (first >= 0 && found.index >= limit) break;
    if (found[0] === "{") depth += 1;
    else if (found[0] === "}") depth -= 1;
    else if (found[0] === "$") {
      if (depth <= 0) return { end: found.index, sure: true };
      if (first < 0) {
        first = found.index;
        limit = first + NESTED_REACH;
      }
    }
  }
  return { end: first, sure: first >= 0 && text.length > first + NESTED_REACH };
}

const TICKS = /`+/y;
const TICKS_OR_BLANK = /`+|\n[ \t]*\n/g;

/** End of the code span that opens at `at`: { end, code }, with `code` null for backticks without a span; or OPEN. */
export function codeAt(text, at) {
  TICKS.lastIndex = at;
  const size = TICKS.exec(text)[0].length;
  const start = at + size;
  TICKS_OR_BLANK.lastIndex = start;
  for (let found = TICKS_OR_BLANK.exec(text); found; found = TICKS_OR_BLANK.exec(text)) {
    if (found[0][0] === "\n" || found.index + found[0].length > start + MAX_DISPLAY) return { end: start, code: null };
    if (found[0].length === size) return { end: TICKS_OR_BLANK.lastIndex, code: text.slice(start, found.index) };
  }
  return text.length < start + MAX_DISPLAY ? OPEN : { end: start, code: null };
}

/** The formula, code span, escape or single character at `at`; OPEN if the text ends inside it. */
export function stepOver(text, at) {
  const sign = text[at];
  if (sign === "`") return codeAt(text, at);
  if (sign !== "$" && sign !== "\\") return { end: at + 1 };
  const formula = formulaAt(text, at);
  if (formula) return formula;
  return { end: at + (sign === "\\" && text[at + 1] !== "\n" ? 2 : 1) };
}
