// Reads a list of texts from stdin; prints for each the formulas the browser finds, as [tex, display].
import { OPEN, stepOver } from "../../static/js/formulas.js";

const FENCE = /(?:[ \t]*>)*[ \t]*(`{3,}(?=[^`\n]*(?:\n|$))|~{3,})/y;

function afterFence(text, at) {
  FENCE.lastIndex = at;
  const opening = FENCE.exec(text);
  if (!opening) return at;
  const marks = opening[1];
  const closer = new RegExp(`^(?:[ \\t]*>)*[ \\t]*${marks}${marks[0]}*[ \\t\\r]*$`, "gm");
  closer.lastIndex = at + opening[0].length;
  return closer.exec(text) ? closer.lastIndex : text.length;
}

function formulas(text) {
  const found = [];
  for (let at = afterFence(text, 0); at < text.length; ) {
    if (text[at] === "\n") {
      at = afterFence(text, at + 1);
      continue;
    }
    const step = stepOver(text, at);
    if (step === OPEN) {
      at += text[at] === "`" ? /^`+/.exec(text.slice(at))[0].length : text[at] === "\\" && text[at + 1] !== "\n" ? 2 : 1;
      continue;
    }
    if (step.tex !== undefined) found.push([step.tex, step.display]);
    at = step.end;
  }
  return found;
}

let input = "";
for await (const piece of process.stdin) input += piece;
console.log(JSON.stringify(JSON.parse(input).map((text) => formulas(`${text}\n\n`))));
