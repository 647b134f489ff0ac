// Scanned pages of a script: zoom, turn, two pages next to each other, and regions as places of notes. A region is in fractions
// of the unturned page, as in apps/reasoning/marking/sheets/pages.py; without width and height it is a pin.

import { placeWords } from "./sheet.js";

const SVG = "http://www.w3.org/2000/svg";
const ZOOMS = [0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4];
const PIN = 0.016; // Radius of a pin's number in parts of the page's width.
const DRAGGED = 0.008; // A shorter drag is a click, which sets a pin.
const MOVE = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const STEP = 0.01;
const AHEAD = 2; // Pages that are loaded before they are in sight.

const limited = (value, most = 1) => Math.min(Math.max(value, 0), most);
const rounded = (value) => Math.round(value * 1e4) / 1e4;

/** A place in the shown rectangle, in fractions, as a place on the page before its turn of 0, 90, 180 or 270 degrees clockwise. */
export function unturned([x, y], turn) {
  if (turn === 90) return [y, 1 - x];
  if (turn === 180) return [1 - x, 1 - y];
  if (turn === 270) return [1 - y, x];
  return [x, y];
}

/** The region between two places on a page; a pin at the first one if they are close. */
export function regionOf(start, end) {
  const [[x1, y1], [x2, y2]] = [start, end].map((place) => place.map((part) => rounded(limited(part))));
  const [w, h] = [rounded(Math.abs(x2 - x1)), rounded(Math.abs(y2 - y1))];
  return w < DRAGGED && h < DRAGGED ? { x: x1, y: y1, w: 0, h: 0 } : { x: Math.min(x1, x2), y: Math.min(y1, y2), w, h };
}

function svgElement(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

export class Scans {
  /** `focus(step, move)` makes a page current, with `move` in sight too; `toNote(id)` focuses a note. */
  constructor(root, { focus, toNote, isSealed }) {
    Object.assign(this, { root, focus, toNote, isSealed });
    this.box = root.querySelector("[data-scans]");
    this.pages = new Map([...root.querySelectorAll("[data-page]")].map((page) => [Number(page.dataset.step), page]));
    this.draft = null; // { step, region }: a place without a note.
    this.from = null; // { step, at, id }: where a press on a page began, and the note there.
    this.zoom = 1;
    if (!this.box) return;
    for (const [step, page] of this.pages) this.#listen(step, page);
    this.box.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    this.box.addEventListener("click", ({ target }) => {
      const button = target.closest("[data-strip]");
      if (button) this.#chosen(Number(button.dataset.strip));
    });
    this.#pinch();
  }

  get first() {
    return this.pages.keys().next().value;
  }

  /** The place marked on this page and not yet used, for the next note. */
  taken(step) {
    if (this.draft?.step !== step) return null;
    const { region } = this.draft;
    this.drop();
    return region;
  }

  /** Whether there was an unused place. */
  drop() {
    const was = this.draft !== null;
    this.draft = null;
    if (was) this.#redraw();
    return was;
  }

  /** Draw the regions of the notes `{ kind, note }`, numbered in their order on each page. */
  show(notes) {
    this.notes = notes;
    this.#redraw();
  }

  /** The number of a note's region on its page; 0 without one. */
  number({ id, step }) {
    return this.#of(step).findIndex(({ note }) => note.id === id) + 1;
  }

  /** Highlight the region of a note, "" for none; with `move`, scroll to it. */
  point(id, move = true) {
    this.now = id;
    this.#redraw();
    if (id && move) this.box?.querySelector(".pin--now")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** Mark the current page in the strip, and load the pages around it. */
  current(step) {
    if (!this.box || !this.pages.has(step)) return;
    for (const button of this.box.querySelectorAll("[data-strip]")) {
      if (Number(button.dataset.strip) === step) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
    const steps = [...this.pages.keys()];
    for (const near of steps.slice(steps.indexOf(step), steps.indexOf(step) + 1 + AHEAD)) this.pages.get(near).querySelector("img").loading = "eager";
    if (this.isPair) this.#pairOf(step);
  }

  larger(by) {
    const next = by > 0 ? ZOOMS.find((one) => one > this.zoom) : ZOOMS.findLast((one) => one < this.zoom);
    this.#zoomTo(next ?? this.zoom);
  }

  /** The whole page in the window, or its whole width. */
  whole() {
    if (!this.box) return;
    const wasWhole = this.box.classList.contains("scans--whole");
    this.#zoomTo(1);
    this.#press("page_whole", this.box.classList.toggle("scans--whole", !wasWhole));
  }

  turn(step) {
    const page = this.pages.get(step) ?? this.pages.get(this.first);
    if (!page) return;
    page.dataset.turn = String((Number(page.dataset.turn ?? 0) + 90) % 360);
    this.#shape(page);
    this.#redraw();
  }

  /** Two pages next to each other: the current one, and another that the strip chooses. */
  pair(step) {
    if (this.pages.size < 2) return false;
    this.isPair = this.box.classList.toggle("scans--pair");
    this.#press("page_pair", this.isPair);
    if (this.isPair) {
      this.other = null;
      this.#pairOf(this.pages.has(step) ? step : this.first);
    }
    return true;
  }

  /** Set a pin in the middle of the shown part of a page, for the arrow keys. */
  mark(step) {
    const page = this.pages.get(step);
    if (!page || this.isSealed) return false;
    const { left, top, right, bottom, width, height } = page.querySelector("[data-sheet]").getBoundingClientRect();
    const x = (Math.max(left, 0) + Math.min(right, innerWidth)) / 2 - left;
    const y = (Math.max(top, 0) + Math.min(bottom, innerHeight)) / 2 - top;
    this.place(step, regionOf(...Array(2).fill(unturned([limited(x / width), limited(y / height)], this.#turnOf(page)))));
    return true;
  }

  /** Move the unused place with an arrow key, or change its size with Shift. Returns whether the key was used. */
  arrow(event) {
    const by = MOVE[event.key];
    if (!by || !this.draft || event.ctrlKey || event.altKey) return false;
    const { step, region } = this.draft;
    const turned = unturned([0.5 + by[0] * STEP, 0.5 + by[1] * STEP], this.#turnOf(this.pages.get(step)));
    const [dx, dy] = turned.map((part) => part - 0.5);
    const { x, y, w, h } = region;
    this.place(step, event.shiftKey
      ? { x, y, w: rounded(limited((w || STEP) + dx, 1 - x)), h: rounded(limited((h || STEP) + dy, 1 - y)) }
      : { x: rounded(limited(x + dx, 1 - w)), y: rounded(limited(y + dy, 1 - h)), w, h });
    this.box.querySelector(".pin--draft")?.scrollIntoView({ block: "nearest", inline: "nearest" });
    return true;
  }

  // --- inside ----------------------------------------------------------------------------------------------------------

  #of(step) {
    return (this.notes ?? []).filter(({ note }) => note.step === step && note.region);
  }

  #turnOf(page) {
    return Number(page.dataset.turn ?? 0);
  }

  /** Set the unused place. */
  place(step, region) {
    this.draft = { step, region };
    this.#redraw();
    const [x, y] = [region.x, region.y].map((part) => Math.round(part * 100));
    this.box.querySelector('[data-part="place"]').textContent = `Place at ${x} % from the left and ${y} % from the top of ${placeWords(step)}.`;
  }

  #redraw() {
    for (const [step, page] of this.pages) {
      const svg = page.querySelector("[data-marks]");
      const { width, height } = svg.viewBox.baseVal;
      const drawn = this.#of(step).map(({ kind, note }, at) => this.#pin(note.region, at + 1, [width, height], page, {
        id: note.id, isError: kind === "verdict", isNow: note.id === this.now,
      }));
      if (this.draft?.step === step) drawn.push(this.#pin(this.draft.region, "?", [width, height], page, { isDraft: true }));
      svg.replaceChildren(...drawn);
    }
  }

  #pin(region, label, [width, height], page, { id = "", isError = false, isNow = false, isDraft = false }) {
    const [x, y, r] = [region.x * width, region.y * height, PIN * width];
    const group = svgElement("g", { class: ["pin", isError && "pin--error", isNow && "pin--now", isDraft && "pin--draft"].filter(Boolean).join(" ") });
    if (id) group.dataset.of = id;
    if (region.w && region.h) group.append(svgElement("rect", { x, y, width: region.w * width, height: region.h * height }));
    const text = svgElement("text", { x, y, "font-size": r * 1.4, transform: `rotate(${-this.#turnOf(page)} ${x} ${y})` });
    text.textContent = label;
    group.append(svgElement("circle", { cx: x, cy: y, r }), text);
    return group;
  }

  #listen(step, page) {
    const sheet = page.querySelector("[data-sheet]");
    this.#shape(page);
    const at = (event) => {
      const { left, top, width, height } = sheet.getBoundingClientRect();
      return unturned([(event.clientX - left) / width, (event.clientY - top) / height], this.#turnOf(page));
    };
    const under = ({ clientX, clientY }) => document.elementFromPoint(clientX, clientY)?.closest("[data-of]")?.dataset.of;
    sheet.addEventListener("pointerdown", (event) => {
      if (!event.isPrimary) this.from = null; // Two fingers change the size.
      if (!event.isPrimary || event.button !== 0) return;
      this.from = { step, at: at(event), id: under(event) };
      if (event.pointerType === "touch" || this.isSealed) return;
      event.preventDefault(); // No drag of the image.
      document.activeElement?.blur?.(); // Keys that follow are commands, not letters of an open comment.
      page.focus({ preventScroll: true });
      sheet.setPointerCapture(event.pointerId);
    });
    sheet.addEventListener("pointermove", (event) => {
      const region = this.from && event.pointerType !== "touch" && !this.isSealed ? regionOf(this.from.at, at(event)) : null;
      if (region?.w || region?.h) this.place(step, region);
    });
    sheet.addEventListener("pointercancel", () => { this.from = null; });
    sheet.addEventListener("pointerup", (event) => {
      const { from } = this;
      this.from = null;
      if (!from || from.step !== step) return;
      const region = regionOf(from.at, event.pointerType === "touch" ? from.at : at(event));
      if (!region.w && !region.h && from.id) this.toNote(from.id); // A click on a note's place is for its note.
      else if (!this.isSealed) {
        this.focus(step);
        this.place(step, region);
      }
    });
  }

  /** Give CSS the shape of a page as it is shown. */
  #shape(page) {
    const { width, height } = page.querySelector("[data-marks]").viewBox.baseVal;
    const isAcross = this.#turnOf(page) % 180 !== 0;
    page.style.setProperty("--scan-ratio", width / height);
    page.style.setProperty("--scan-shown", isAcross ? height / width : width / height);
  }

  #zoomTo(zoom) {
    if (!this.box) return;
    this.zoom = zoom;
    this.box.classList.remove("scans--whole");
    this.box.style.setProperty("--scan-zoom", zoom);
    this.box.dataset.zoom = zoom > 1 ? "in" : "";
    this.#press("page_whole", false);
    for (const stage of this.box.querySelectorAll(".scan__stage")) {
      if (zoom > 1) stage.tabIndex = 0; // Arrow keys move a page that is larger than its frame.
      else stage.removeAttribute("tabindex");
    }
  }

  #press(command, isOn) {
    this.root.querySelector(`[data-command="${command}"]`)?.setAttribute("aria-pressed", String(isOn));
  }

  #wheel(event) {
    if (!event.ctrlKey || !event.target.closest("[data-sheet]")) return;
    event.preventDefault();
    const stage = event.target.closest(".scan__stage");
    const { left, top } = stage.getBoundingClientRect();
    const [x, y, before] = [event.clientX - left, event.clientY - top, this.zoom];
    this.#zoomTo(Math.min(Math.max(before * Math.exp(-event.deltaY / 300), ZOOMS[0]), ZOOMS.at(-1)));
    stage.scrollTo((stage.scrollLeft + x) * (this.zoom / before) - x, (stage.scrollTop + y) * (this.zoom / before) - y);
  }

  #pinch() {
    let before = null;
    const gap = ({ touches: [one, two] }) => Math.hypot(one.clientX - two.clientX, one.clientY - two.clientY);
    this.box.addEventListener("touchmove", (event) => {
      if (event.touches.length !== 2) return;
      event.preventDefault();
      this.from = null;
      const now = gap(event);
      before ??= { gap: now, zoom: this.zoom };
      this.#zoomTo(Math.min(Math.max(before.zoom * (now / before.gap), ZOOMS[0]), ZOOMS.at(-1)));
    }, { passive: false });
    this.box.addEventListener("touchend", () => { before = null; });
  }

  #chosen(step) {
    if (!this.isPair) {
      this.focus(step, true);
      return;
    }
    this.other = step;
    this.#pairOf(Number(this.box.querySelector("[data-strip][aria-current]")?.dataset.strip ?? this.first));
  }

  #pairOf(step) {
    const steps = [...this.pages.keys()];
    const other = this.other && this.other !== step ? this.other : steps[steps.indexOf(step) + 1] ?? steps[steps.indexOf(step) - 1];
    for (const [key, page] of this.pages) page.classList.toggle("scan--shown", key === step || key === other);
  }
}
