// Places of the nodes of a difference: rounds are rows, the problem on top, proofs at the bottom.

export const PITCH_X = 104;
export const PITCH_Y = 92;
const WRAPPED_Y = 64;
const WIDEST = 14; // Nodes of a line; a round with more has several lines.

/** Positions by node id: {id: {x, y}}. Within a round, a node is near those that it uses; ties keep the given order. */
export function positionsOf({ nodes, edges }) {
  const used = new Map(nodes.map((node) => [node.id, []]));
  for (const { source, target } of edges) if (used.has(source)) used.get(target)?.push(source);
  const rounds = [...new Set(nodes.map((node) => node.round))].sort((a, b) => a - b);
  const position = {};
  let y = 0;
  for (const round of rounds) {
    const row = nodes.filter((node) => node.round === round);
    const wish = new Map(row.map((node) => [node.id, mean(used.get(node.id).map((id) => position[id]?.x).filter(Number.isFinite))]));
    row.sort((a, b) => wish.get(a.id) - wish.get(b.id));
    const lines = Math.ceil(row.length / WIDEST);
    const long = Math.ceil(row.length / lines);
    row.forEach((node, place) => {
      const line = Math.floor(place / long);
      const count = Math.min(long, row.length - line * long);
      position[node.id] = { x: ((place % long) - (count - 1) / 2) * PITCH_X, y: y + line * WRAPPED_Y };
    });
    y += PITCH_Y + (lines - 1) * WRAPPED_Y;
  }
  return position;
}

const mean = (numbers) => (numbers.length ? numbers.reduce((sum, one) => sum + one, 0) / numbers.length : 0);
