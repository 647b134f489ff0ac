// The palette of symbols: a toolbar whose buttons insert TeX at the cursor of the text, or around what is selected.

const HOLE = "|";

/** Whether a text ends inside a formula: `$…`, `$$…`, `\(…` or `\[…`. A blank line ends formulas. */
export function endsInFormula(text) {
  const paragraph = text.slice(text.lastIndexOf("\n\n") + 1).replace(/\\[\\$]/g, "");
  if (paragraph.lastIndexOf("\\(") > paragraph.lastIndexOf("\\)") || paragraph.lastIndexOf("\\[") > paragraph.lastIndexOf("\\]")) return true;
  const displays = paragraph.split("$$");
  return displays.length % 2 === 0 || displays.at(-1).split("$").length % 2 === 0;
}

/** The next number of a line "**Step n.**" or "\textbf{Step n.}". */
export function nextStep(text) {
  const numbers = [...text.matchAll(/^(?:\*\*|\\textbf\{)Step (\d+)\./gm)].map(([, number]) => Number(number));
  return Math.max(0, ...numbers) + 1;
}

/** What a button inserts: the `text`, and where the cursor goes, counted from its start. Holes are written as "|". */
export function insertion(snippet, { before, selected, after = "", isLatex = false }) {
  if (snippet === "step") {
    const gap = !before.trim() ? "" : before.endsWith("\n\n") ? "" : before.endsWith("\n") ? "\n" : "\n\n";
    const name = `Step ${nextStep(before + after)}.`;
    const text = `${gap}${isLatex ? `\\textbf{${name}}` : `**${name}**`} ${selected}`;
    return { text, cursor: text.length };
  }
  const inFormula = endsInFormula(before);
  let tex = snippet === "$|$" && inFormula ? HOLE : snippet;
  if (!inFormula && !tex.startsWith("$")) tex = `$${tex}$`;
  const [start, ...rest] = tex.split(HOLE);
  if (!rest.length) {
    const gap = inFormula && /[a-z]$/i.test(start) && !/^[\s\\$}]/.test(after) ? " " : "";
    return { text: selected + start + gap, cursor: (selected + start + gap).length };
  }
  const text = start + selected + rest.join("");
  const filled = start.length + selected.length;
  return { text, cursor: !selected ? filled : rest.length > 1 ? filled + rest[0].length : text.length };
}

/** Replace the selection, so that the browser can undo it and the editor hears it. */
function replaceSelection(field, { text, cursor }) {
  const { selectionStart: start, selectionEnd: end } = field;
  field.focus();
  field.setSelectionRange(start, end);
  if (!document.execCommand("insertText", false, text)) {
    field.setRangeText(text, start, end, "end");
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
  field.setSelectionRange(start + cursor, start + cursor);
}

/** Connect a toolbar to its text. The arrow keys move between its buttons, of which one can be reached with Tab. */
export function mountPalette(bar, field, format) {
  const buttons = [...bar.querySelectorAll("button")];
  const reach = (chosen) => { for (const button of buttons) button.tabIndex = button === chosen ? 0 : -1; };
  reach(buttons[0]);
  bar.hidden = false;
  bar.addEventListener("pointerdown", (event) => { if (event.target.closest("button")) event.preventDefault(); }); // A phone keeps its keyboard.
  bar.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    reach(button);
    const { value, selectionStart: start, selectionEnd: end } = field;
    const around = { before: value.slice(0, start), selected: value.slice(start, end), after: value.slice(end), isLatex: format.value === "latex" };
    replaceSelection(field, insertion(button.dataset.insert, around));
  });
  bar.addEventListener("keydown", (event) => {
    const at = buttons.indexOf(document.activeElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    const next = buttons[(to + buttons.length) % buttons.length];
    reach(next);
    next.focus();
  });
}
