// Inline content of a streamed paragraph: emphasis, code and formulas as plain objects. Links stay text.
import { BREAK, END, OPEN, stepOver } from "./formulas.js";
import { withTags } from "./protocol.js";

const PUNCTUATION = /[!-/:-@[-`{-~]/;

/** Nodes `text`, `tag` (a tag of the protocol), `math`, `open` (a formula not yet closed), `code`, `br`, `strong`, `em`. */
export function inlineTree(line, isOpen) {
  const source = isOpen ? line : line + END;
  const flat = [];
  let text = "";
  const flush = () => {
    if (text) flat.push({ t: "text", v: text });
    text = "";
  };
  for (let at = 0; at < line.length; ) {
    const sign = source[at];
    const step = sign === "*" || sign === "_" ? emphasis(source, at) : stepOver(source, at);
    if (step === OPEN && isOpen && (sign === "$" || sign === "\\")) {
      flush();
      flat.push({ t: "open", v: source.slice(at).replaceAll(BREAK, "\n") });
      break;
    }
    const node = step === OPEN ? null : special(source, at, step);
    if (node) {
      flush();
      flat.push(node);
    } else if (step === OPEN) {
      text += sign;
    } else {
      text += plain(source, at, step.end);
    }
    at = step === OPEN ? at + 1 : step.end;
  }
  flush();
  return withTags(nested(flat));
}

function special(source, at, step) {
  if (step.tex !== undefined) return { t: "math", v: step.tex.replaceAll(BREAK, "\n"), display: step.display };
  if (typeof step.code === "string") return { t: "code", v: step.code.replaceAll(/[\n\ue00a]/g, " ") };
  if (step.delimiter) return step;
  if ((source[at] === "\\" && source[at + 1] === "\n") || (source[at] === "\n" && source.slice(at - 2, at) === "  ")) return { t: "br" };
  return null;
}

function plain(source, at, end) {
  const piece = source.slice(at, end).replaceAll(BREAK, "\n");
  return piece.length === 2 && piece[0] === "\\" && PUNCTUATION.test(piece[1]) ? piece[1] : piece;
}

function emphasis(source, at) {
  let end = at;
  while (source[end] === source[at]) end += 1;
  const before = source[at - 1] ?? " ";
  const after = source[end] ?? " ";
  const isWord = (sign) => /[\p{L}\p{N}]/u.test(sign);
  const inWord = source[at] === "_" && isWord(before) && isWord(after);
  return {
    delimiter: source[at],
    size: end - at,
    opens: !/\s/.test(after) && !inWord && !(isPunctuation(after) && isWord(before)),
    closes: !/\s/.test(before) && !inWord && !(isPunctuation(before) && isWord(after)),
    end,
  };
}

function isPunctuation(sign) {
  return PUNCTUATION.test(sign) && sign !== "$" && sign !== "\\" && sign !== "`";
}

/** Pair runs of `*` and `_`: same sign, up to two at a time, nearest opener first. The rest is text. */
function nested(flat) {
  const out = [];
  const openers = [];
  for (const node of flat) {
    if (!node.delimiter) {
      out.push(node);
      continue;
    }
    let size = node.size;
    if (node.closes) size = closeRuns(out, openers, node, size);
    if (size && node.opens) {
      openers.push({ delimiter: node.delimiter, size, place: out.length });
      out.push({ t: "run" });
    } else if (size) {
      out.push({ t: "text", v: node.delimiter.repeat(size) });
    }
  }
  for (const { delimiter, size, place } of openers) out[place] = { t: "text", v: delimiter.repeat(size) };
  return joined(out);
}

function closeRuns(out, openers, node, size) {
  let left = size;
  for (let index = openers.length - 1; index >= 0 && left; index -= 1) {
    const opener = openers[index];
    if (opener.delimiter !== node.delimiter) continue;
    for (const { delimiter, size: unused, place } of openers.splice(index + 1)) out[place] = { t: "text", v: delimiter.repeat(unused) };
    while (left && opener.size) {
      const used = left >= 2 && opener.size >= 2 ? 2 : 1;
      const inner = joined(out.splice(opener.place + 1));
      if (inner.length) out.push({ t: used === 2 ? "strong" : "em", c: inner });
      opener.size -= used;
      left -= used;
    }
    if (!opener.size) {
      out.splice(opener.place, 1);
      openers.splice(index, 1);
    }
  }
  return left;
}

/** Join neighbouring texts. */
function joined(nodes) {
  const out = [];
  for (const node of nodes) {
    if (node.t === "text" && out.at(-1)?.t === "text") out[out.length - 1] = { t: "text", v: out.at(-1).v + node.v };
    else out.push(node);
  }
  return out;
}
