// Bands and names of the rounds behind the drawing.

/** Pixels that the name of a round takes. */
const ROOM_FOR_A_NAME = 56;
const ROOM_FOR_A_NUMBER = 24;

/** Draw the lanes of `view` into `layer`, an element of the drawing's size. Returns a function that draws them again. */
export function mountLanes(view, layer) {
  const bands = new Map();
  return function draw() {
    const zoom = view.cy.zoom();
    const pan = view.cy.pan();
    const rounds = lanesOf(view);
    for (const [round, band] of bands) if (!rounds.some((lane) => lane.round === round)) remove(round, band);
    let free = -Infinity; // Names of rounds that share rows must not cover each other.
    rounds.forEach(({ round, title, top, bottom, isClear }, at) => {
      const band = bands.get(round) ?? add(round);
      const height = (bottom - top) * zoom;
      const start = top * zoom + pan.y;
      const name = start < free ? "" : height > ROOM_FOR_A_NAME ? title : height > ROOM_FOR_A_NUMBER ? `${view.stage[0]}${round}` : "";
      if (name) free = start + (name === title ? ROOM_FOR_A_NAME : ROOM_FOR_A_NUMBER);
      band.firstChild.textContent = name;
      band.classList.toggle("graph__lane--even", at % 2 === 1);
      band.classList.toggle("graph__lane--mixed", !isClear);
      band.style.translate = `0 ${start}px`;
      band.style.height = `${height}px`;
    });
  };

  function add(round) {
    const band = document.createElement("div");
    band.className = "graph__lane";
    band.append(document.createElement("span"));
    layer.append(band);
    bands.set(round, band);
    return band;
  }

  function remove(round, band) {
    band.remove();
    bands.delete(round);
  }
}

/** The rounds with lemmas and their heights. `isClear`: no other round has a node between. */
function lanesOf(view) {
  const lanes = new Map();
  const { position, nodes } = view.layout;
  const half = 23;
  for (const [id, { y }] of position) {
    const { kind, round } = nodes.get(id);
    if (kind === "problem" || kind === "proof" || !round || !view.isDrawn(id)) continue;
    const lane = lanes.get(round) ?? { round, title: `${view.stage} ${round}`, top: Infinity, bottom: -Infinity };
    lane.top = Math.min(lane.top, y - half);
    lane.bottom = Math.max(lane.bottom, y + half);
    lanes.set(round, lane);
  }
  const sorted = [...lanes.values()].sort((a, b) => a.round - b.round);
  return sorted.map((lane) => ({
    ...lane, isClear: sorted.every((other) => other === lane || other.bottom <= lane.top + 1 || other.top >= lane.bottom - 1),
  }));
}
