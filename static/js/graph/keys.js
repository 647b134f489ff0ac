// Arrow keys. On the drawing they follow its geometry: up to what a lemma uses, down to what uses it, left and right in its
// row. In the outline, up and down go through the list, left to what a lemma uses, right to what uses it.

/** A key on the drawing; `choose(id)` selects. */
export function moveInGraph(event, view, choose) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const id = view.selected;
  const first = view.graph.nodes.keys().next().value;
  const to = {
    ArrowUp: () => view.neighbours(id).uses[0],
    ArrowDown: () => view.neighbours(id).usedBy[0],
    ArrowLeft: () => view.inSameRow(id, -1),
    ArrowRight: () => view.inSameRow(id, 1),
    Escape: () => "",
    Home: () => first,
    "+": () => view.zoomBy(1.3),
    "-": () => view.zoomBy(1 / 1.3),
    0: () => view.fit(),
  }[event.key];
  if (!to) return;
  event.preventDefault();
  const target = id || event.key.length === 1 || event.key === "Escape" ? to() : first;
  if (target !== undefined && target !== id) choose(target);
}

/** A key in the outline. */
export function moveInOutline(event, choose) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const row = event.target.closest("[data-node]");
  if (!row) return;
  const rows = [...event.currentTarget.querySelectorAll("[data-node]")];
  const at = rows.indexOf(row);
  const named = (ids) => rows.find((other) => other.dataset.node === ids.split(" ")[0]);
  const to = {
    ArrowUp: () => rows[at - 1],
    ArrowDown: () => rows[at + 1],
    ArrowLeft: () => named(row.dataset.uses),
    ArrowRight: () => named(row.dataset.usedBy),
    Home: () => rows[0],
    End: () => rows.at(-1),
  }[event.key];
  if (!to) return;
  event.preventDefault();
  const next = to();
  if (!next) return;
  choose(next.dataset.node);
  next.focus();
}
