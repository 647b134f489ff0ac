// The try-out of marking schemes. htmx sends the form and swaps the sheet; here it is said whether the boxes or the claim line
// were touched last, and an answer to what has been changed since is thrown away, so that no key and no tick is lost.

/** Keep a form and its sheet in step. */
function follow(form) {
  const source = form.querySelector("[data-scheme-source]");
  let edits = 0;
  const asked = new WeakMap();
  // In the capture phase, so that the value is set before htmx reads it.
  form.addEventListener("input", (event) => {
    edits += 1;
    source.value = event.target.name === "claim" ? "claim" : "tick";
  }, true);
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.name === "claim") event.preventDefault();
  });
  document.body.addEventListener("htmx:beforeRequest", (event) => {
    if (event.detail.elt === form) asked.set(event.detail.xhr, edits);
  });
  document.body.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.elt === form || event.detail.requestConfig?.elt === form) {
      if (asked.get(event.detail.xhr) !== edits) event.detail.shouldSwap = false;
    }
  });
}

for (const form of document.querySelectorAll("[data-scheme-form]")) follow(form);
