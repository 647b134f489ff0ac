// Pages are dragged by their handle, with a mouse or a finger. Move up and Move down do the same by keyboard.

/** `place(form, number)` is called with the form of the dragged page and its new place, counted from 1. */
export function mountDrag(place) {
  let dragged = null;
  let from = -1;
  const rows = () => [...document.querySelectorAll(".contest-scans > li")];

  document.addEventListener("pointerdown", (event) => {
    const handle = event.target instanceof Element ? event.target.closest("[data-drag]") : null;
    if (!handle || event.button) return;
    event.preventDefault();
    dragged = handle.closest("li");
    from = rows().indexOf(dragged);
    dragged.classList.add("is-dragged");
  });
  document.addEventListener("pointermove", (event) => {
    if (!dragged) return;
    const over = document.elementFromPoint(event.clientX, event.clientY)?.closest(".contest-scans > li");
    if (!over || over === dragged) return;
    if (rows().indexOf(over) < rows().indexOf(dragged)) over.before(dragged);
    else over.after(dragged);
  });
  const end = (event) => {
    if (!dragged) return;
    const row = dragged;
    dragged = null;
    row.classList.remove("is-dragged");
    const to = rows().indexOf(row);
    if (event.type === "pointerup" && to !== from) place(row.querySelector("form[data-page]"), to + 1);
  };
  document.addEventListener("pointerup", end);
  document.addEventListener("pointercancel", end);
}
