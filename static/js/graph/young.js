// A node whose uses are told a moment after it gets its place anew, with all that came with it, so that who watched sees what
// who loads the page later sees. What has been shown for longer than a moment never moves.

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

/** Take the places of all young nodes back where one of `edges`, none of them known so far, tells what a young node uses. */
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
