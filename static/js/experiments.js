// Pause the automatic refresh of an experiment while the keyboard focus is inside it.

document.addEventListener("htmx:beforeRequest", (event) => {
  const region = event.target;
  if (region instanceof HTMLElement && region.id === "experiment" && region.contains(document.activeElement)) {
    event.preventDefault();
  }
});
