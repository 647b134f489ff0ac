// The try-out of marking schemes: says whether the boxes or the claim line were touched last, before htmx sends the form.

for (const form of document.querySelectorAll("[data-scheme-form]")) {
  const source = form.querySelector("[data-scheme-source]");
  // In the capture phase, so that the value is set before htmx reads it.
  for (const name of ["input", "change"]) {
    form.addEventListener(name, (event) => {
      source.value = event.target.name === "claim" ? "claim" : "tick";
    }, true);
  }
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.name === "claim") event.preventDefault();
  });
}
