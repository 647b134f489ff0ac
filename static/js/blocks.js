// Streamed text as a tree: a splitter whose finished blocks are final, and a small Markdown parser for one block. Pure: strings
// to plain objects. static/js/stream_text.js creates elements from them.
import { BREAK, END, OPEN, stepOver } from "./formulas.js";
import { inlineTree } from "./inline.js";

const FENCE = /(?:[ \t]*)(`{3,}(?=[^`\n]*\n)|~{3,}(?=[^\n]*\n))/y;
const BLANK_LINES = /(?:[ \t\r]*\n)*/y;
const BLANK_LINE = /[ \t\r]*\n/y;
const LONG = 4000; // A block without a blank line is cut at the first line break after this many characters,
const VERY_LONG = 8000; // and at the first space after this many, so that the live tail stays short.

function matchAt(pattern, text, at) {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Split `text` from `from` on: [{ start, end, next, kind, closed }]. Only the last block may be open. */
export function splitBlocks(text, from = 0) {
  const blocks = [];
  let at = skipBlank(text, from);
  while (at < text.length) {
    const block = matchAt(FENCE, text, at) ? fence(text, at) : chunk(text, at);
    block.next = block.closed ? skipBlank(text, block.end) : block.end;
    blocks.push(block);
    at = block.closed ? block.next : text.length;
  }
  return blocks;
}

function skipBlank(text, at) {
  return at + matchAt(BLANK_LINES, text, at)[0].length;
}

function fence(text, start) {
  const marks = matchAt(FENCE, text, start)[1];
  const closer = new RegExp(`\\n[ \\t]*${marks[0]}{${marks.length},}[ \\t\\r]*\\n`, "g");
  const body = text.indexOf("\n", start);
  closer.lastIndex = body;
  const found = closer.exec(text);
  if (found) return { start, end: closer.lastIndex, kind: "fence", closed: true };
  return { start, end: text.length, kind: "fence", closed: false };
}

/** Text up to a blank line outside formulas, or up to fenced code. */
function chunk(text, start) {
  let at = start;
  while (at < text.length) {
    const sign = text[at];
    const length = at - start;
    if (sign === "\n") {
      if (matchAt(BLANK_LINE, text, at + 1) || matchAt(FENCE, text, at + 1) || length >= LONG) {
        return { start, end: at + 1, kind: "chunk", closed: true };
      }
      at += 1;
    } else if (length >= VERY_LONG && (sign === " " || length >= 2 * VERY_LONG)) {
      return { start, end: at, kind: "chunk", closed: true };
    } else {
      const step = stepOver(text, at);
      if (step === OPEN) break;
      at = step.end;
    }
  }
  return { start, end: text.length, kind: "chunk", closed: false };
}

/** The tree of one block: a list of block nodes `{ t, … }`. Open parts at the end of an open block are marked. */
export function blockTree(text, block) {
  const source = text.slice(block.start, block.end);
  if (block.kind === "fence") return [{ t: "pre", v: fenceBody(source, block.closed) }];
  return chunkTree(source, !block.closed);
}

function fenceBody(source, closed) {
  const lines = source.slice(source.indexOf("\n") + 1);
  return closed ? lines.replace(/(?:^|\n)[ \t]*(?:`{3,}|~{3,})[ \t\r]*\n$/, "") : lines;
}

// --- the lines of a chunk ---------------------------------------------------------------------------------------------

const HEADING = /^ {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*$/s;
const RULE = /^ {0,3}(?:\*[ \t]*){3,}$|^ {0,3}(?:-[ \t]*){3,}$|^ {0,3}(?:_[ \t]*){3,}$/;
const ITEM = /^([ \t]*)([-*+]|\d{1,9}[.)])[ \t]+(.*)$/s;
const QUOTE = /^ {0,3}> ?(.*)$/s;

function chunkTree(source, isOpen) {
  const lines = hideBreaks(source, isOpen).split("\n");
  while (lines.length && !lines.at(-1).trim() && !isOpen) lines.pop();
  const nodes = [];
  for (let index = 0; index < lines.length; ) index = readLines(lines, index, nodes, isOpen);
  return nodes;
}

/** The text with each closed formula on one line, so that `+` or `=` at a line's start makes no list. */
function hideBreaks(chunk, isOpen) {
  const source = isOpen ? chunk : chunk + END;
  let out = "";
  for (let at = 0; at < chunk.length; ) {
    const step = stepOver(source, at);
    if (step === OPEN && isOpen) return out + source.slice(at).replaceAll("\n", BREAK);
    if (step === OPEN) {
      out += source[at];
      at += 1;
      continue;
    }
    const piece = source.slice(at, step.end);
    out += step.tex === undefined ? piece : piece.replaceAll("\n", BREAK);
    at = step.end;
  }
  return out;
}

function readLines(lines, index, nodes, isOpen) {
  const line = lines[index];
  const heading = HEADING.exec(line);
  if (heading) {
    nodes.push({ t: "h", level: Math.min(6, heading[1].length + 2), c: inlineTree(heading[2], isOpen && index === lines.length - 1) });
    return index + 1;
  }
  if (RULE.test(line)) {
    nodes.push({ t: "hr" });
    return index + 1;
  }
  if (QUOTE.test(line)) return readQuote(lines, index, nodes, isOpen);
  if (ITEM.test(line)) return readList(lines, index, nodes, isOpen);
  return readParagraph(lines, index, nodes, isOpen);
}

function readQuote(lines, index, nodes, isOpen) {
  const inner = [];
  let end = index;
  for (; end < lines.length && QUOTE.test(lines[end]); end += 1) inner.push(QUOTE.exec(lines[end])[1].replaceAll(/\ue00a[ \t]*> ?/g, BREAK));
  const children = [];
  const isLast = isOpen && end === lines.length;
  for (let at = 0; at < inner.length; ) at = readLines(inner, at, children, isLast);
  nodes.push({ t: "quote", c: children });
  return end;
}

/** A list; items with more indentation than the one before form a nested list. */
function readList(lines, index, nodes, isOpen) {
  const stack = [];
  let end = index;
  for (; end < lines.length; end += 1) {
    const item = ITEM.exec(lines[end]);
    if (!item) {
      if (!stack.length || startsBlock(lines[end]) || !lines[end].trim()) break;
      stack.at(-1).list.c.at(-1).lines.push(lines[end].trim());
      continue;
    }
    const indent = item[1].replaceAll("\t", "    ").length;
    const ordered = /\d/.test(item[2]);
    while (stack.length > 1 && indent < stack.at(-1).indent) stack.pop();
    if (stack.length && indent === stack.at(-1).indent && stack.at(-1).list.ordered !== ordered && stack.length === 1) break;
    if (!stack.length || indent >= stack.at(-1).indent + 2) {
      const list = { t: "list", ordered, start: ordered ? Number.parseInt(item[2], 10) : 1, c: [] };
      if (stack.length) stack.at(-1).list.c.at(-1).inner.push(list);
      else nodes.push(list);
      stack.push({ indent, list });
    }
    stack.at(-1).list.c.push({ t: "item", lines: [item[3]], inner: [] });
  }
  finishItems(nodes.at(-1), isOpen && end === lines.length);
  return end;
}

function finishItems(list, isLast) {
  list.c = list.c.map(({ lines, inner }, index) => {
    const isOpen = isLast && index === list.c.length - 1;
    for (const nested of inner) finishItems(nested, isOpen && nested === inner.at(-1));
    return { t: "item", c: [...inlineTree(lines.join("\n"), isOpen && !inner.length), ...inner] };
  });
}

function startsBlock(line) {
  return HEADING.test(line) || QUOTE.test(line) || RULE.test(line);
}

/** Whether a line interrupts a paragraph: bullets do, and the number 1, as in Markdown. */
function interrupts(line) {
  const item = ITEM.exec(line);
  return startsBlock(line) || (item !== null && (!/\d/.test(item[2]) || /^1[.)]$/.test(item[2])) && item[3].trim() !== "");
}

function readParagraph(lines, index, nodes, isOpen) {
  let end = index + 1;
  while (end < lines.length && !interrupts(lines[end])) end += 1;
  const text = lines.slice(index, end).map((line) => line.replace(/^[ \t]+/, "")).join("\n");
  const children = inlineTree(text, isOpen && end === lines.length);
  if (children.length) nodes.push(loneDisplay(children) ?? { t: "p", c: children });
  return end;
}

function loneDisplay(children) {
  const [first, rest] = children;
  if (first.t !== "math" || !first.display || children.length > 2) return null;
  if (!rest) return { t: "display", v: first.v };
  const mark = rest.t === "text" ? rest.v.trim() : "x";
  if (!/^[.,;:!?]*$/.test(mark) || (mark && first.v.trimEnd().endsWith("}"))) return null;
  return { t: "display", v: mark ? first.v.trimEnd() + mark : first.v };
}
