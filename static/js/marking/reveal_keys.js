// The keys after sealing: next stage, and answer to a finding. On a separate page they are handled here.
import { bindings, keyName, takesText } from "./keys.js";
import { given } from "./server.js";

/** Press the control with this key, in the focused finding first; returns whether there was one. */
export function pressControl(key) {
  const place = document.activeElement?.closest?.("[data-finding]") ?? document;
  const control = place.querySelector(`[data-key="${key}"]`);
  control?.click();
  return Boolean(control);
}

export const CONTROLS = { reveal: "v", accept: "y", reject: "x" };

if (document.querySelector("[data-reveal-keys]")) {
  const bound = bindings(given(document, "keys"));
  document.addEventListener("keydown", (event) => {
    const control = CONTROLS[bound.get(keyName(event))];
    if (control && !takesText(event.target) && !document.querySelector("dialog[open]") && pressControl(control)) event.preventDefault();
  });
}
