// Pointer events and input fields of one script. Keys are in page.js.
import { Chooser } from "./dialogs.js";

/** Listen to a script's buttons, fields and lines; `run` executes a command by name. */
export function listen(here, run) {
  const { root, view } = here;
  root.addEventListener("click", (event) => clicked(event, here, run));
  root.addEventListener("focusin", (event) => {
    const step = event.target.closest("[data-step]");
    if (step && Number(step.dataset.step) !== here.current) here.focus(Number(step.dataset.step), false);
  });
  root.addEventListener("change", (event) => {
    const { tick } = event.target.dataset;
    if (tick) here.tick(tick);
    else if (event.target === view.part("mixed")) here.send("mixed", { on: event.target.checked });
    else if (event.target === view.part("typed")) here.send("points", { points: event.target.value || null });
  });
  for (const name of ["reason", "approach"]) {
    view.part(name).addEventListener("input", (event) => here.send(name, { words: event.target.value }, { merge: name, isTyped: true }));
  }
  claimLine(here);
  here.chooser = new Chooser(view.part("phrase-search"), view.part("phrases"), {
    list: (typed) => here.phrases(typed),
    chosen: (words) => here.usePhrase(words),
  });
  here.focus(here.current, false);
}

function claimLine(here) {
  const line = here.view.part("claim");
  line.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.ctrlKey) return;
    event.preventDefault();
    event.stopPropagation();
    here.claim(line.value);
    here.focus(here.current);
  });
  line.addEventListener("change", () => { if (line.value !== here.claimed) here.claim(line.value); });
  line.addEventListener("input", () => { here.claimed = null; });
}

function clicked(event, here, run) {
  const button = event.target.closest("[data-command], [data-points], [data-pane]");
  const step = event.target.closest("[data-step]");
  if (step && !button) here.focus(Number(step.dataset.step), false);
  if (!button || button.getAttribute("aria-disabled") === "true") return;
  const { command, points, pane: name } = button.dataset;
  if (name) {
    here.view.openPane(name);
    if (name === "comments") here.chooser.show();
  } else if (points) here.send("points", { points });
  else run(command);
  // After a click, move the focus so that Enter seals instead of pressing the same button again.
  if (event.detail > 0 && document.activeElement === button && !name) here.focus(here.current);
}
