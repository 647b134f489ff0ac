// Reload of parts of a page.

/** htmx allows one request per element and keeps only the last waiting one, so every part has its own requesting element. */
const askers = new Map();

function askerOf(target) {
  if (!askers.has(target)) {
    const asker = document.createElement("span");
    asker.hidden = true;
    document.body.append(asker);
    askers.set(target, asker);
  }
  return askers.get(target);
}

/** Fetch `url` into `target`, a selector or an element. The promise is rejected without a reason if the server cannot be reached. */
export function fetchPart(url, target, swap = "innerHTML") {
  return globalThis.htmx.ajax("GET", url, { target, swap, source: askerOf(target) });
}
