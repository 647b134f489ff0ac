// Labels of boxes: the name and as much of the title as two lines take. Pure but for the measure of text.

/** From a zoom on: size of the font and number of lines. Below the last one boxes have no labels. */
export const NEAR = 1.7;
const STEPS = [[NEAR, 12, 2], [0.85, 12, 2], [0.56, 14, 2], [0.4, 20, 1]];
const PADDING = 16;
/** Width of a character in parts of the font size, where no canvas measures it. */
const USUAL = 0.53;

/** The step for a zoom: `{least, size, lines}`, or null where boxes are drawn as marks. From `NEAR` on cards cover the labels. */
export function labelStep(zoom) {
  const [least, size, lines] = STEPS.find(([from]) => zoom >= from) ?? [];
  return size ? { least, size, lines } : null;
}

let canvas = null;
/** The width of `text` in pixels. */
export function widthOf(text, size, family = "sans-serif") {
  if (typeof document === "undefined") return text.length * size * USUAL;
  canvas ??= document.createElement("canvas").getContext("2d");
  canvas.font = `${size}px ${family}`;
  return canvas.measureText(text).width;
}

/** `text` in at most `lines` lines of `width` pixels, cut between words and marked with "…" where it is too long. */
export function fitted(text, width, { size, lines }, family) {
  const room = width - PADDING;
  const fits = (line) => widthOf(line, size, family) <= room;
  const words = text.split(" ");
  const done = [];
  while (words.length && done.length < lines) {
    let line = words.shift();
    while (words.length && fits(`${line} ${words[0]}`)) line += ` ${words.shift()}`;
    const isCut = done.length === lines - 1 && words.length > 0;
    if (!fits(isCut ? `${line}…` : line)) {
      const marked = isCut || !fits(line);
      while (line.length > 1 && !fits(`${line}…`)) line = line.slice(0, -1).trimEnd();
      done.push(marked ? `${line}…` : line);
    } else done.push(isCut ? `${line}…` : line);
  }
  return done.join("\n");
}
