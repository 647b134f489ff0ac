// Do lines run through boxes? Pure.
import { sizeOf } from "./sizes.js";

/** Boxes of `nodes` at `positions` ([x, y] by id), 1 pixel smaller on each side. */
export function boxesOf(nodes, positions) {
  return nodes.map((node) => {
    const [width, height] = sizeOf(node);
    const [x, y] = positions[node.id];
    return { id: node.id, left: x - width / 2 + 1, right: x + width / 2 - 1, top: y - height / 2 + 1, bottom: y + height / 2 - 1 };
  });
}

/** Does the line through `points` avoid all `boxes` but those of its ends? */
export function isClear({ source, target }, points, boxes) {
  return points.slice(1).every((point, at) => boxes.every((box) => box.id === source || box.id === target || !runsThrough(points[at], point, box)));
}

/** Does the straight line from one point to another run through `box`? */
function runsThrough([ax, ay], [bx, by], { left, right, top, bottom }) {
  let [from, to] = [0, 1];
  for (const [start, way, least, most] of [[ax, bx - ax, left, right], [ay, by - ay, top, bottom]]) {
    if (Math.abs(way) < 1e-9) {
      if (start <= least || start >= most) return false;
      continue;
    }
    const ends = [(least - start) / way, (most - start) / way];
    from = Math.max(from, Math.min(...ends));
    to = Math.min(to, Math.max(...ends));
  }
  return from < to - 1e-6;
}
