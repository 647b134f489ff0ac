// The keys after sealing: the next stage, and the answer to a finding. On a page of its own they are listened to here.
import { bindings, keyName, takesText } from "./keys.js";
import { given } from "./server.js";

/** Press the control of a key, that of the finding in focus first; whether there was one. */
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
