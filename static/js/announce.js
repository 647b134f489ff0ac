/** Notify maths.js, as htmx does after a swap, that `element` has formulas to typeset. */
export function announce(element) {
  element.dispatchEvent(new CustomEvent("htmx:load", { bubbles: true, detail: { elt: element } }));
}
