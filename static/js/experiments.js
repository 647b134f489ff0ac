// An experiment refreshes itself while it runs, but not under somebody who types or moves by keyboard in it.

document.addEventListener("htmx:beforeRequest", (event) => {
  const region = event.target;
  if (region instanceof HTMLElement && region.id === "experiment" && region.contains(document.activeElement)) {
    event.preventDefault();
  }
});
