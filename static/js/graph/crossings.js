// The number of crossings of lines. Pure.

const side = (a, b, c) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
const cross = (a, b, c, d) => side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0;

/** Crossings of `lines` ({source, target, points}) that have no end in common. */
export function crossings(lines) {
  const all = lines.map((line) => {
    const [xs, ys] = [0, 1].map((axis) => line.points.map((point) => point[axis]));
    return { ...line, left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
  });
  let found = 0;
  all.forEach((one, at) => {
    for (const other of all.slice(at + 1)) {
      if ([one.source, one.target].some((id) => id === other.source || id === other.target)) continue;
      if (one.right < other.left || other.right < one.left || one.bottom < other.top || other.bottom < one.top) continue;
      found += crossingsOf(one.points, other.points);
    }
  });
  return found;
}

function crossingsOf(one, other) {
  let found = 0;
  for (let i = 1; i < one.length; i += 1) {
    for (let k = 1; k < other.length; k += 1) found += Number(cross(one[i - 1], one[i], other[k - 1], other[k]));
  }
  return found;
}
