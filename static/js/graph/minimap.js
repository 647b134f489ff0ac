// A small picture of the whole drawing with a frame around the visible part. It is shown while a part is outside.

const WIDTH = 168;
const HEIGHT = 112;

/** Mount it on `canvas`; a press or drag moves the drawing there. Returns a function that draws it again. */
export function mountMinimap(view, canvas, tokens) {
  const scale = devicePixelRatio || 1;
  canvas.width = WIDTH * scale;
  canvas.height = HEIGHT * scale;
  const paint = canvas.getContext("2d");
  let box = null;
  let factor = 1;

  const go = (event) => {
    if (!event.buttons && event.type !== "pointerdown") return;
    const [x, y] = [event.offsetX / factor + box.x1, event.offsetY / factor + box.y1];
    const zoom = view.cy.zoom();
    view.cy.pan({ x: view.cy.width() / 2 - x * zoom, y: view.cy.height() / 2 - y * zoom });
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    go(event);
  });
  canvas.addEventListener("pointermove", go);

  return function draw() {
    const extent = view.cy.extent();
    box = view.cy.nodes(":visible").boundingBox({ includeLabels: false, includeUnderlays: false });
    const isInside = box.x1 >= extent.x1 - 1 && box.x2 <= extent.x2 + 1 && box.y1 >= extent.y1 - 1 && box.y2 <= extent.y2 + 1;
    canvas.hidden = isInside || !view.graph.nodes.size;
    if (canvas.hidden) return;
    factor = Math.min(WIDTH / box.w, HEIGHT / box.h);
    const t = tokens();
    paint.setTransform(scale, 0, 0, scale, 0, 0);
    paint.clearRect(0, 0, WIDTH, HEIGHT);
    for (const node of view.cy.nodes(":visible")) {
      const { x, y } = node.position();
      const fill = node.data("fill").replace("ramp", "ramp-");
      paint.fillStyle = node.hasClass("chosen") ? t.accent : (t[fill] ?? t["line-strong"]);
      const [wide, high] = [Math.max(2, node.width() * factor), Math.max(1.5, node.height() * factor)];
      paint.fillRect((x - box.x1) * factor - wide / 2, (y - box.y1) * factor - high / 2, wide, high);
    }
    paint.strokeStyle = t.accent;
    paint.lineWidth = 1.5;
    paint.strokeRect((extent.x1 - box.x1) * factor, (extent.y1 - box.y1) * factor, extent.w * factor, extent.h * factor);
  };
}
