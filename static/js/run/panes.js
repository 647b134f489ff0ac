// The width of the reading pane, and on a phone the pane as a sheet.

const KEY = "run-pane";
const [LEAST, MOST, USUAL, STEP] = [20, 70, 34, 4];

/** Make the divider of `page` move, by pointer and arrow keys; its place is remembered in this browser. */
export function mountDivider(page) {
  const divider = page.querySelector("[data-divider]");
  const main = divider.parentElement;
  let width = Number(localStorage.getItem(KEY)) || USUAL;
  const set = (wanted) => {
    width = Math.min(MOST, Math.max(LEAST, wanted));
    main.style.setProperty("--pane", `${width.toFixed(1)}%`);
    divider.setAttribute("aria-valuenow", String(Math.round(width)));
  };
  const keep = (wanted) => {
    set(wanted);
    localStorage.setItem(KEY, width.toFixed(1));
  };
  set(width);
  divider.hidden = false;
  divider.addEventListener("pointerdown", (event) => {
    divider.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  divider.addEventListener("pointermove", (event) => {
    if (!divider.hasPointerCapture(event.pointerId)) return;
    const box = main.getBoundingClientRect();
    keep((100 * (box.right - event.clientX)) / box.width);
  });
  divider.addEventListener("dblclick", () => keep(USUAL));
  divider.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: STEP, ArrowRight: -STEP }[event.key];
    if (!by) return;
    event.preventDefault();
    keep(width + by);
  });
}

/** The pane as a sheet on narrow screens. Returns `open()`, for when the reader has chosen something. */
export function mountSheet(page) {
  const side = page.querySelector("[data-sheet]");
  const handle = side.querySelector('[data-action="sheet"]');
  const set = (isOpen) => {
    side.dataset.sheet = isOpen ? "open" : "closed";
    handle.setAttribute("aria-expanded", String(isOpen));
    handle.textContent = isOpen ? "Back to the graph" : "Read";
  };
  handle.hidden = false;
  handle.addEventListener("click", () => set(side.dataset.sheet !== "open"));
  set(false);
  return () => set(true);
}
