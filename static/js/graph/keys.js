// Keys. On the drawing the arrows follow the structure: up to what a lemma uses, down to what uses it, left and right to its
// siblings, which use the same lemma. In the outline, up and down go through the list, left to what a lemma uses, right to what
// uses it.

/** A key on the drawing; `choose(id)` selects. */
export function moveInGraph(event, view, choose, { search, fullScreen, zoom, fit }) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const id = view.selected;
  const first = view.graph.nodes.keys().next().value;
  const to = {
    ArrowUp: () => parentOf(view, id),
    ArrowDown: () => childOf(view, id),
    ArrowLeft: () => sibling(view, id, -1),
    ArrowRight: () => sibling(view, id, 1),
    Escape: () => "",
    Home: () => first,
    n: () => unverified(view, id, 1),
    N: () => unverified(view, id, -1),
    "/": search,
    f: fullScreen,
    "+": () => zoom(1.3),
    "-": () => zoom(1 / 1.3),
    0: fit,
  }[event.key];
  if (!to) return;
  event.preventDefault();
  const target = id || event.key.length === 1 || event.key === "Escape" ? to() : first;
  if (typeof target === "string" && target !== id) choose(target);
}

/** What a lemma uses; the problem if it uses nothing. */
function parentOf(view, id) {
  return view.neighbours(id).uses.find((other) => view.isShown(other)) ?? (id === "problem" ? undefined : "problem");
}

/** What uses a node; for the problem the first lemma that uses nothing. */
function childOf(view, id) {
  if (id === "problem") return roots(view)[0];
  return view.neighbours(id).usedBy.find((other) => view.isShown(other));
}

const roots = (view) => [...view.graph.nodes.keys()].filter((id) => id !== "problem" && view.isShown(id) && !view.neighbours(id).uses.length);

/** The next node that uses the same, in the order of the drawing; without such nodes the next of the row. */
function sibling(view, id, step) {
  const parent = view.neighbours(id).uses.find((other) => view.isShown(other));
  const mates = parent ? view.neighbours(parent).usedBy.filter((other) => view.isShown(other)) : roots(view);
  const row = mates.length > 1 && mates.includes(id) ? mates : view.rowOf(id);
  return row[row.indexOf(id) + step];
}

/** The next lemma without a verdict, in the order of the graph and from its start after the last. */
function unverified(view, id, step) {
  const open = [...view.graph.nodes.values()].filter((node) => ["lemma", "human"].includes(node.kind) && node.confidence === null && view.isShown(node.id)).map((node) => node.id);
  const all = [...view.graph.nodes.keys()];
  const at = all.indexOf(id);
  const after = step > 0 ? open.find((other) => all.indexOf(other) > at) : open.findLast((other) => all.indexOf(other) < at);
  return after ?? (step > 0 ? open[0] : open.at(-1));
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
