// Error propagation, drawn on the steps of a script once the panel after sealing shows it: a note at each step, and curves from
// root to consequence next to the step numbers. The panel has the same in words, so the curves are hidden from screen readers.
const SVG = "http://www.w3.org/2000/svg";
const APART = 4;

const stepOf = (number) => document.getElementById(`step-${number}`);

/** The chains that the panel shows now; empty without any. */
function chainsShown() {
  const place = document.querySelector("#reveal-panel [data-chains]");
  return place ? JSON.parse(place.dataset.chains) : { pairs: [], notes: [] };
}

function shape(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function clear() {
  for (const made of document.querySelectorAll("[data-chain-drawn]")) made.remove();
}

/** Add a note under each step that a chain touches. */
function write(notes) {
  for (const { step, words, is_root: isRoot } of notes) {
    const place = stepOf(step);
    if (!place) continue;
    const note = document.createElement("p");
    note.className = isRoot ? "chain-note chain-note--root" : "chain-note";
    note.dataset.chainDrawn = "";
    note.textContent = words;
    (place.querySelector(".marking__text") ?? place).append(note);
  }
}

/** Draw curves from step to step, each a little further out than the previous one. */
function draw(pairs) {
  const list = document.querySelector("ol.contest-steps");
  if (!list || !pairs.length) return;
  const box = list.getBoundingClientRect();
  const drawn = shape("svg", { class: "chain-curves", width: box.width, height: box.height, "aria-hidden": "true" });
  drawn.dataset.chainDrawn = "";
  pairs.forEach(([from, to], index) => {
    const [start, end] = [from, to].map((number) => stepOf(number)?.querySelector(".proof__number")?.getBoundingClientRect());
    if (!start || !end) return;
    const x = Math.max(start.right, end.right) - box.left + 3;
    const [y1, y2] = [start, end].map((one) => one.top + one.height / 2 - box.top);
    const out = x + 8 + APART * (index % 3);
    drawn.append(shape("path", { d: `M ${x} ${y1} C ${out} ${y1} ${out} ${y2} ${x} ${y2}` }));
    drawn.append(shape("circle", { class: "chain-curves__root", cx: x, cy: y1, r: 2.5 }));
    drawn.append(shape("path", { class: "chain-curves__head", d: `M ${x + 5} ${y2 - 4} L ${x} ${y2} L ${x + 5} ${y2 + 4}` }));
  });
  list.append(drawn);
}

function show() {
  clear();
  const { pairs, notes } = chainsShown();
  write(notes);
  draw(pairs);
}

let waiting = 0;
function soon() {
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(show);
}

document.body.addEventListener("htmx:afterSettle", soon);
window.addEventListener("resize", soon);
window.addEventListener("load", soon);
// Typesetting texts as they approach the viewport moves the steps below.
const list = document.querySelector("ol.contest-steps");
if (list) new ResizeObserver(soon).observe(list);
soon();
