// The picture behind the title of a box, as SVG: a stripe for the confidence, a bar for the votes, and signs. Pure.

const STRIPE = 7;
const BAR = 3.5;
export const SIGN = 13;
const HATCH = '<pattern id="h" width="5" height="5" patternUnits="userSpaceOnUse"><path d="M-1 1 1-1M0 5 5 0M4 6 6 4" stroke="{hatch-line}" stroke-width="1.1"/></pattern>';
const SIGNS = {
  refuted: '<path d="M2.5 4.6h8M2.5 8.2h8M8.6 1.6 4.4 11.2" stroke="{bad}" stroke-width="1.5" fill="none"/>',
  rejected: '<path d="M3 3l7 7M10 3l-7 7" stroke="{bad}" stroke-width="1.6" fill="none"/>',
};

const known = new Map();

/** The picture for `width` × `height` as a data address. `fill` is the class of style.js; votes are parts in percent. */
export function markOf(tokens, { width, height, fill, pass, fail, unread, signs }) {
  const key = [tokens.paper, width, fill, pass, fail, unread, signs].join();
  if (!known.has(key)) known.set(key, drawn(tokens, { width, height, fill, pass, fail, unread, signs }));
  return known.get(key);
}

function drawn(tokens, { width, height, fill, pass, fail, unread, signs }) {
  const paint = { unverified: "url(#h)", unread: tokens.line, plain: "none" }[fill] ?? tokens[fill.replace("ramp", "ramp-")];
  let left = STRIPE;
  const part = (share, colour) => {
    const wide = (share / 100) * (width - STRIPE);
    const rect = wide ? `<rect x="${left}" y="${height - BAR}" width="${wide}" height="${BAR}" fill="${colour}"/>` : "";
    left += wide;
    return rect;
  };
  const votes = part(pass, tokens.ink) + part(fail, tokens.bad) + part(unread, tokens["line-strong"]);
  const marks = (signs ? signs.split(" ") : []).map((name, at) => `<g transform="translate(${width - SIGN * (at + 1) - 1} 1)">${SIGNS[name]}</g>`);
  const stripe = fill === "plain" ? "" : `<rect width="${STRIPE}" height="${height}" fill="${paint}"/>`;
  const inside = `<defs>${HATCH}</defs>${stripe}${votes}${marks.join("")}`.replace(/\{([\w-]+)\}/g, (_, name) => tokens[name]);
  return `data:image/svg+xml;utf8,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${inside}</svg>`)}`;
}
