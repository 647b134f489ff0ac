// Names of keys, as in apps/marks/workspace/keymaps.py: `j`, `?`, `Alt+j`, `Ctrl+Enter`. Pure.

const PLAIN = new Set(["Shift", "Control", "Alt", "Meta", "AltGraph", "Dead", "Process", "Unidentified"]);

/** The name of the pressed key; "" for a modifier alone. Command on a Mac counts as Ctrl. */
export function keyName(event) {
  let { key } = event;
  if (PLAIN.has(key) || event.isComposing) return "";
  if (event.getModifierState?.("AltGraph")) return key; // AltGr produces a sign, not a shortcut.
  if (key === " ") key = "Space";
  if (event.altKey && /^Key[A-Z]$/.test(event.code ?? "")) key = event.shiftKey ? event.code[3] : event.code[3].toLowerCase();
  return `${event.ctrlKey || event.metaKey ? "Ctrl+" : ""}${event.altKey ? "Alt+" : ""}${key}`;
}

/** Whether a key is a single letter, digit or sign, which WCAG 2.1.4 requires to be switchable. */
export function isSingle(name) {
  return [...name].length === 1;
}

/** Command names by key name, from a user's keys. */
export function bindings({ commands, single_keys: single }) {
  const found = new Map();
  for (const { name, key, also } of commands) {
    for (const one of [key, ...also]) if (one && (single || !isSingle(one))) found.set(one, name);
  }
  return found;
}

/** Whether the element takes text, so that single keys are letters there. */
export function takesText(element) {
  if (!element?.matches) return false;
  if (element.matches("textarea, select, [contenteditable]:not([contenteditable=false])")) return true;
  return element.matches("input:not([type=checkbox], [type=radio], [type=button], [type=submit], [type=range])");
}

/** Whether Enter and Space have their own effect on the element. */
export function takesEnter(element) {
  return Boolean(element?.matches?.("a[href], button, summary, [role=option], [role=tab]"));
}

/** The commands whose description matches the typed words: each typed word must start a word. */
export function matching(commands, typed) {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (text) => words.every((word) => text.split(/[^\p{L}\p{N}]+/u).some((part) => part.startsWith(word)));
  return commands.filter(({ words: text }) => fits(text.toLowerCase()));
}
