// Changes between two versions of a proof: a word diff in which a formula is one word. The page has both texts
// (`data-diff-old`, `data-diff-new`), so that both versions can be read side by side without JavaScript.
import { diffArrays } from "../vendor/diff/diff.mjs";
import { announce } from "./announce.js";

const PIECE = /\$\$[\s\S]+?\$\$|\\\[[\s\S]+?\\\]|\\\([\s\S]+?\\\)|\$(?:\\.|[^$\\])+?\$|\n\s*\n|\s+|[\p{L}\p{N}]+|[\s\S]/gu;
const FORMULA = /^(\$\$|\$|\\\[|\\\()([\s\S]+?)(\$\$|\$|\\\]|\\\))$/;

/** Split the text into whole formulas, words, white space and single characters. Joined, they are the text. */
export function pieces(text) {
  return text.match(PIECE) ?? [];
}

/** Normal form for comparing pieces: spaces in formulas and kinds of white space do not matter. */
function normal(piece) {
  if (/^\n\s*\n$/.test(piece)) return "\n\n";
  if (/^\s+$/.test(piece)) return " ";
  const formula = FORMULA.exec(piece);
  return formula ? `$${formula[2].replace(/\s+/g, " ").replace(/ ?([{}()^_=+\-,]) ?/g, "$1").trim()}$` : piece;
}

/** The changes from `old` to `now`: [{kind: "same" | "gone" | "new", pieces}]; a blank between two changes joins them. */
export function proofDiff(old, now) {
  return joined(changes(pieces(old), pieces(now)) ?? byParagraph(old, now));
}

/** Beyond this number of changes, words are not compared one by one, which would take seconds. */
const MOST_EDITS = 1500;

/** Diff of two lists of texts; null if they differ too much. Equal pieces are taken from `now`. */
function changes(old, now, maxEditLength = MOST_EDITS) {
  const parts = diffArrays(old.map(normal), now.map(normal), { maxEditLength });
  if (!parts) return null;
  let [atOld, atNow] = [0, 0];
  return parts.map(({ count, added, removed }) => {
    const taken = removed ? old.slice(atOld, atOld + count) : now.slice(atNow, atNow + count);
    if (!added) atOld += count;
    if (!removed) atNow += count;
    return { kind: added ? "new" : removed ? "gone" : "same", pieces: taken };
  });
}

/** Diff by whole paragraphs, for texts with little in common. */
function byParagraph(old, now) {
  const paragraphs = (text) => text.split(/(\n\s*\n)/).filter(Boolean);
  const parts = changes(paragraphs(old), paragraphs(now), Infinity);
  return parts.map((part) => ({ ...part, pieces: part.pieces.flatMap(pieces) }));
}

/** Merge single blanks between changed words into the change, so that a phrase is struck as a whole. */
function joined(parts) {
  const result = [];
  let run = null;
  const close = () => {
    if (!run) return;
    if (run.gone.length) result.push({ kind: "gone", pieces: run.gone });
    if (run.now.length) result.push({ kind: "new", pieces: run.now });
    run = null;
  };
  parts.forEach((part, i) => {
    const blank = part.kind === "same" && part.pieces.length === 1 && normal(part.pieces[0]) === " ";
    const between = blank && run && i + 1 < parts.length && parts[i + 1].kind !== "same";
    if (part.kind === "same" && !between) {
      close();
      result.push(part);
      return;
    }
    run ??= { gone: [], now: [] };
    if (part.kind !== "new") run.gone.push(...part.pieces);
    if (part.kind !== "gone") run.now.push(...part.pieces);
  });
  close();
  return result;
}

/** Set up every new `[data-proof-diff]` under `root` when it comes near the window. */
export function mountProofDiffs(root = document) {
  for (const element of root.querySelectorAll("[data-proof-diff]:not([data-mounted])")) {
    element.dataset.mounted = "";
    const seen = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      seen.disconnect();
      mount(element);
    }, { rootMargin: "400px" });
    seen.observe(element);
  }
}

function mount(element) {
  const out = element.querySelector("[data-diff-out]");
  const [old, now] = ["old", "new"].map((name) => element.querySelector(`[data-diff-${name}]`).textContent);
  const titles = [...out.querySelectorAll("h4")].map((heading) => heading.textContent);
  const parts = proofDiff(old, now);
  const views = {
    inline: () => [column("", parts)],
    side: () => [
      column(titles[0], parts.filter((part) => part.kind !== "new")), column(titles[1], parts.filter((part) => part.kind !== "gone")),
    ],
  };
  const show = (name) => {
    out.classList.toggle("split", name === "side");
    out.classList.toggle("split--even", name === "side");
    out.replaceChildren(...views[name]());
    for (const button of element.querySelectorAll("[data-diff-view]")) {
      button.setAttribute("aria-pressed", String(button.dataset.diffView === name));
    }
    announce(out);
  };
  element.querySelector(".button-group").hidden = false;
  element.addEventListener("click", (event) => {
    const button = event.target.closest("[data-diff-view]");
    if (button) show(button.dataset.diffView);
  });
  show("inline");
}

/** Put `text` into `element`, its formulas as `.math` elements for maths.js. */
export function drawText(element, text) {
  element.replaceChildren(...pieces(text).map(drawn));
}

function column(title, parts) {
  const box = document.createElement("div");
  if (title) {
    const heading = document.createElement("h4");
    heading.textContent = title;
    box.append(heading);
  }
  const body = document.createElement("div");
  body.className = "prose diff";
  let paragraph = body.appendChild(document.createElement("p"));
  for (const part of parts) {
    const marked = () => {
      if (part.kind === "same") return paragraph;
      return paragraph.appendChild(document.createElement(part.kind === "new" ? "ins" : "del"));
    };
    let target = marked();
    for (const piece of part.pieces) {
      if (normal(piece) === "\n\n") {
        paragraph = body.appendChild(document.createElement("p"));
        target = marked();
      } else {
        target.append(drawn(piece));
      }
    }
  }
  for (const empty of body.querySelectorAll("ins:empty, del:empty")) empty.remove();
  box.append(body);
  return box;
}

function drawn(piece) {
  const formula = FORMULA.exec(piece);
  if (!formula) return piece;
  const span = document.createElement("span");
  span.className = formula[1] === "$$" || formula[1] === "\\[" ? "math display" : "math inline";
  span.textContent = formula[2];
  return span;
}

if (globalThis.document) mountProofDiffs();
