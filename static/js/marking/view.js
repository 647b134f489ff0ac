// Shows a mark sheet on the page of its script: points, ticks, missing parts, flags of steps. Notes are in notes.js.
import { SIGNED_OUT } from "./server.js";
import { placeWords, pointsShown } from "./sheet.js";

const BANDS = { solution: "essentially a solution", beginning: "no solution" };

/** Set an input's value unless it has the focus. */
function fill(element, value) {
  if (element && document.activeElement !== element && element.value !== value) element.value = value;
}

/** The claim line of a sheet, in the format of apps/reasoning/marking/sheets/claims.py. */
export function claimLine(sheet, items) {
  const signs = { cap: "!", deduction: "-" };
  const words = items.filter(({ code }) => sheet.ticks.includes(code)).map(({ code, kind }) => (signs[kind] ?? "") + code);
  return [...words, ...(sheet.is_mixed ? ["mix"] : [])].join(" ");
}

export class View {
  constructor(root) {
    this.root = root;
    this.scale = root.dataset.scale;
    this.items = [...root.querySelectorAll("[data-item]")].map(({ dataset }) => ({ code: dataset.item, kind: dataset.kind, label: dataset.label }));
  }

  part(name) {
    return this.root.querySelector(`[data-part="${name}"]`);
  }

  /** Update everything except the notes. `isCurrent`: whether `state` belongs to exactly this sheet. */
  show(sheet, state, isCurrent) {
    this.#points(sheet, state, isCurrent);
    this.#ticks(sheet);
    fill(this.part("claim"), claimLine(sheet, this.items));
    fill(this.part("reason"), sheet.reason);
    fill(this.part("approach"), sheet.approach);
    if (this.part("mixed")) this.part("mixed").checked = sheet.is_mixed;
    this.#flags(sheet);
    this.press("undo", null, isCurrent && !state.can_undo);
    this.press("redo", null, isCurrent && !state.can_redo);
  }

  #points(sheet, state, isCurrent) {
    const points = pointsShown(sheet, state);
    const number = this.part("points");
    number.textContent = points === undefined ? "…" : points ?? "–";
    const byHand = sheet.typed !== null && state.computed !== null && state.computed !== sheet.typed ? ` Typed ${sheet.typed}; the items give ${state.computed}.` : "";
    this.part("derivation").textContent = isCurrent ? `${state.derivation}${byHand}` : "…";
    for (const button of this.root.querySelectorAll("[data-points]")) button.setAttribute("aria-pressed", String(button.dataset.points === points));
    fill(this.part("typed"), sheet.typed ?? "");
    this.root.querySelector('[data-command="points_clear"]').hidden = sheet.typed === null;
    const band = this.part("band");
    band.hidden = !sheet.band;
    band.textContent = BANDS[sheet.band] ?? "";
    this.press("band_solution", sheet.band === "solution");
    this.press("band_beginning", sheet.band === "beginning");
    const needs = this.part("needs");
    const isBegun = points !== null && points !== undefined;
    needs.hidden = !isCurrent || !isBegun || !state.needs?.length;
    needs.replaceChildren(...(state.needs ?? []).map((words) => Object.assign(document.createElement("li"), { textContent: words })));
  }

  #ticks(sheet) {
    for (const box of this.root.querySelectorAll("[data-tick]")) {
      box.checked = sheet.ticks.includes(box.dataset.tick);
      const item = box.closest("[data-item]");
      item.classList.toggle("marking__item--on", box.checked);
      const step = box.checked && sheet.places?.[box.dataset.tick];
      item.querySelector("[data-place]").textContent = step ? `at ${placeWords(step)}` : "";
    }
  }

  #flags(sheet) {
    for (const step of this.root.querySelectorAll("[data-step]")) {
      const number = Number(step.dataset.step);
      const errors = sheet.verdicts.filter((one) => one.step === number);
      const isGranted = sheet.granted.includes(number);
      const words = isGranted ? "granted: would the rest hold?" : "";
      const flags = step.querySelector('[data-part="flags"]');
      flags.hidden = !words;
      flags.textContent = words;
      step.classList.toggle("marking__step--granted", isGranted);
      step.classList.toggle("marking__step--faulty", errors.some((one) => one.role === "root" || one.role === "independent"));
      step.classList.toggle("marking__step--follows", errors.length > 0 && errors.every((one) => one.role === "consequence"));
    }
  }

  /** The state of a command's buttons. */
  press(command, pressed, disabled) {
    for (const button of this.root.querySelectorAll(`[data-command="${command}"]`)) {
      if (pressed !== null && pressed !== undefined) button.setAttribute("aria-pressed", String(pressed));
      if (disabled !== undefined) button.setAttribute("aria-disabled", String(disabled));
    }
  }

  /** Show the state of saving: `saved` with the time, `saving`, `waiting`, `offline`, `error`. */
  status(status, savedAt) {
    const words = {
      saved: savedAt ? `Saved ${new Date(savedAt).toLocaleTimeString("en-GB")}` : "Nothing unsaved",
      saving: "Saving …",
      waiting: "Saving …",
      offline: "No connection. Your work is kept in this browser and sent as soon as it is back.",
      error: "The server reported an error. Your work is kept in this browser and sent again.",
      "signed-out": SIGNED_OUT,
      conflict: "Not saved: changed in another window.",
      sealed: "Sealed",
    };
    const place = this.part("status");
    if (place.textContent !== words[status]) place.textContent = words[status];
    place.classList.toggle("marking__saved--trouble", ["offline", "error", "signed-out", "conflict"].includes(status));
  }

  /** Show the names of the others who mark this problem now. */
  present(names) {
    this.part("present").hidden = names.length === 0;
    this.part("present-names").textContent = names.join(", ");
  }

  /** The element of a step, or undefined. */
  step(number) {
    return this.root.querySelector(`[data-step="${number}"]`) ?? undefined;
  }

  get stepNumbers() {
    return [...this.root.querySelectorAll("[data-step]")].map((one) => Number(one.dataset.step));
  }

  /** The step in the middle of the window, where the marker reads; undefined without steps. */
  get stepRead() {
    const middle = innerHeight / 2;
    const gap = (element) => {
      const { top, bottom } = element.getBoundingClientRect();
      return Math.max(top - middle, middle - bottom, 0);
    };
    const steps = [...this.root.querySelectorAll("[data-step]")];
    const nearest = steps.reduce((best, one) => (best && gap(best) <= gap(one) ? best : one), null);
    return nearest ? Number(nearest.dataset.step) : undefined;
  }

  /** Focus a step; with `move`, also move the keyboard focus there. */
  focusStep(number, move = true) {
    for (const step of this.root.querySelectorAll("[data-step][aria-current]")) step.removeAttribute("aria-current");
    const step = this.step(number);
    if (!step) return;
    step.setAttribute("aria-current", "step");
    if (!move) return;
    step.focus({ preventScroll: true });
    step.scrollIntoView({ block: "nearest" });
  }

  /** Open the tab of a pane; fetches its content once. */
  async openPane(name) {
    for (const tab of this.root.querySelectorAll("[data-pane]")) {
      const isOn = tab.dataset.pane === name;
      tab.setAttribute("aria-selected", String(isOn));
      tab.tabIndex = isOn ? 0 : -1;
      const pane = this.root.querySelector(`#${tab.getAttribute("aria-controls")}`);
      pane.hidden = !isOn;
      if (isOn && pane.dataset.from) await this.#fetch(pane);
    }
  }

  async #fetch(pane) {
    const from = pane.dataset.from;
    delete pane.dataset.from;
    try {
      const answer = await fetch(from, { headers: { "X-Requested-With": "fetch" } });
      if (!answer.ok) throw new Error(String(answer.status));
      const found = new DOMParser().parseFromString(await answer.text(), "text/html");
      pane.replaceChildren(...found.body.childNodes);
      const { typesetAll } = await import("../maths.js");
      typesetAll(pane);
    } catch {
      pane.dataset.from = from;
      pane.textContent = "This pane could not be loaded. Open the tab again in a moment.";
    }
  }
}
