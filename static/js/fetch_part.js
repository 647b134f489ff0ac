// Parts of a page that its script fetches anew.

/** htmx lets an element ask one thing at a time and, of what waits, forgets all but the last: every part asks by an element of its own. */
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

/** Fetch `url` into `target`, a selector or an element. The promise is rejected, without a reason, where the server is not reached. */
export function fetchPart(url, target, swap = "innerHTML") {
  return globalThis.htmx.ajax("GET", url, { target, swap, source: askerOf(target) });
}
