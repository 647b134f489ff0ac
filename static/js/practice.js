// Keys of a coach's pages of questions: `n` opens the next one, 1 to 3 choose the outcome, Ctrl+Enter answers.

function isTyping({ target }) {
  return target.closest("input, textarea, select, [contenteditable]") !== null;
}

/** Press the link or choose the outcome of a key. */
function onKey(event) {
  const form = document.querySelector("form[data-answer]");
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && form) {
    event.preventDefault();
    form.requestSubmit();
    return;
  }
  if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
  const link = document.querySelector(`a[data-key="${CSS.escape(event.key)}"]`);
  const outcome = /^[1-3]$/.test(event.key) ? form?.querySelectorAll("input[name=outcome]")[Number(event.key) - 1] : null;
  if (link) link.click();
  else if (outcome) { outcome.checked = true; outcome.focus(); }
  else return;
  event.preventDefault();
}

function insertPhrase({ target }) {
  const button = target.closest("[data-phrase]");
  const field = button?.closest("form")?.elements.namedItem("words");
  if (!field) return;
  const before = field.value && !/\s$/.test(field.value) ? " " : "";
  field.setRangeText(before + button.dataset.phrase, field.selectionEnd, field.selectionEnd, "end");
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.focus();
}

document.addEventListener("keydown", onKey);
document.addEventListener("click", insertPhrase);
