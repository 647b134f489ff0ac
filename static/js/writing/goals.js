// A hint becomes a goal in the student's own text: a quoted line after the step that it belongs to, or at the end.

/** Where a goal goes: after the paragraph that ends with `tail`, else at the end of the text. */
export function goalPlace(text, tail) {
  const found = tail ? text.lastIndexOf(tail) : -1;
  return found < 0 ? text.trimEnd().length : found + tail.length;
}

/** The text of a goal between what is before and after it. */
export function goalText(hint, before, after) {
  const line = `> **Goal.** ${hint.replace(/\s+/g, " ").trim()}`;
  return `${before ? "\n\n" : ""}${line}${after.trim() ? "\n\n" : "\n"}`;
}

/** Insert goals into the text of a form when their buttons are pressed. */
export function mountGoals(field) {
  document.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-goal]");
    if (!button) return;
    const place = goalPlace(field.value, button.dataset.goalTail ?? "");
    const [before, after] = [field.value.slice(0, place), field.value.slice(place)];
    field.focus();
    field.setRangeText(goalText(button.dataset.goal, before, after), place, place + (after.length - after.trimStart().length), "end");
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
}
