// If the uses of a node arrive a moment after the node, it is placed again, with all nodes that came with it. So a viewer sees
// the same picture as one who loads the page later. A node that has been shown for longer than a moment never moves.

export const MOMENT_MS = 2000;

/** Ids that were first shown less than a moment ago. */
export class Young {
  constructor(now = () => performance.now()) {
    this.now = now;
    this.born = new Map();
  }

  add(ids) {
    for (const id of ids) if (!this.born.has(id)) this.born.set(id, this.now());
  }

  ids() {
    for (const [id, at] of this.born) if (this.now() - at > MOMENT_MS) this.born.delete(id);
    return new Set(this.born.keys());
  }

  clear() {
    this.born.clear();
  }
}

/** Unplace all young nodes if one of the new `edges` shows a use by a young node. */
export function reopen(layout, young, edges) {
  const ids = young.ids();
  if (!edges.some(({ target, kind }) => kind !== "merges" && ids.has(target) && layout.position.has(target))) return;
  for (const id of ids) {
    const row = layout.row.get(id);
    layout.position.delete(id);
    layout.row.delete(id);
    const left = (layout.rows.get(row) ?? []).filter((other) => other !== id);
    if (left.length) layout.rows.set(row, left);
    else layout.rows.delete(row);
  }
  const begun = new Set([...layout.row.keys()].map((id) => layout.nodes.get(id).round));
  for (const round of layout.roundStart.keys()) if (!begun.has(round)) layout.roundStart.delete(round);
}
