// Keys by name, as apps/marks/keymaps.py writes them: `j`, `?`, `Alt+j`, `Ctrl+Enter`. Pure.

const PLAIN = new Set(["Shift", "Control", "Alt", "Meta", "AltGraph", "Dead", "Process", "Unidentified"]);

/** The name of the key that was pressed; "" for a modifier alone. Command on a Mac counts as Ctrl. */
export function keyName(event) {
  let { key } = event;
  if (PLAIN.has(key) || event.isComposing) return "";
  if (event.getModifierState?.("AltGraph")) return key; // A sign that needs AltGr is that sign.
  if (key === " ") key = "Space";
  if (event.altKey && /^Key[A-Z]$/.test(event.code ?? "")) key = event.shiftKey ? event.code[3] : event.code[3].toLowerCase();
  return `${event.ctrlKey || event.metaKey ? "Ctrl+" : ""}${event.altKey ? "Alt+" : ""}${key}`;
}

/** Whether it is a letter, digit or sign alone, which WCAG 2.1.4 lets people switch off. */
export function isSingle(name) {
  return [...name].length === 1;
}

/** Command name by key name, for what a person has. */
export function bindings({ commands, single_keys: single }) {
  const found = new Map();
  for (const { name, key, also } of commands) {
    for (const one of [key, ...also]) if (one && (single || !isSingle(one))) found.set(one, name);
  }
  return found;
}

/** Whether the element takes letters, so that single keys mean letters there. */
export function takesText(element) {
  if (!element?.matches) return false;
  if (element.matches("textarea, select, [contenteditable]:not([contenteditable=false])")) return true;
  return element.matches("input:not([type=checkbox], [type=radio], [type=button], [type=submit], [type=range])");
}

/** Whether Enter and Space do something of their own on the element. */
export function takesEnter(element) {
  return Boolean(element?.matches?.("a[href], button, summary, [role=option], [role=tab]"));
}

/** The commands whose words fit what was typed: each word must begin a word; better fits first. */
export function matching(commands, typed) {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (text) => words.every((word) => text.split(/[^\p{L}\p{N}]+/u).some((part) => part.startsWith(word)));
  return commands.filter(({ words: text }) => fits(text.toLowerCase()));
}
