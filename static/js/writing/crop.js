// The dialog that turns and crops a page. The server cuts the stored image; this only finds the edges.

const LEAST = 0.06; // More than SIDE_AT_LEAST in apps/submissions/intake.
const STEP = 0.01;
const CORNERS = { "Top left": ["left", "top"], "Top right": ["right", "top"], "Bottom left": ["left", "bottom"], "Bottom right": ["right", "bottom"] };

/** The cut after another quarter turn clockwise. */
export function turned({ turn, left, top, right, bottom }) {
  return { turn: (turn + 90) % 360, left: 1 - bottom, top: left, right: 1 - top, bottom: right };
}

/** The cut with an edge moved to `value`, at least `LEAST` of the page away from the opposite edge. */
export function moved(cut, edge, value) {
  const { left, top, right, bottom } = cut;
  const [low, high] = { left: [0, right - LEAST], right: [left + LEAST, 1], top: [0, bottom - LEAST], bottom: [top + LEAST, 1] }[edge];
  return { ...cut, [edge]: Math.round(1e4 * Math.min(Math.max(value, low), high)) / 1e4 };
}

function made(tag, className, more = {}) {
  return Object.assign(document.createElement(tag), { className, ...more });
}

function button(words, kind, value = "") {
  return made("button", `button${kind}`, { type: value ? "submit" : "button", value, textContent: words });
}

function draw(canvas, image, turn) {
  const isSide = turn % 180 !== 0;
  canvas.width = isSide ? image.naturalHeight : image.naturalWidth;
  canvas.height = isSide ? image.naturalWidth : image.naturalHeight;
  const pen = canvas.getContext("2d");
  pen.translate(canvas.width / 2, canvas.height / 2);
  pen.rotate((turn * Math.PI) / 180);
  pen.drawImage(image, -image.naturalWidth / 2, -image.naturalHeight / 2);
}

const percent = (share) => `${Math.round(100 * share)} %`;

/** Ask for the cut of a page. Resolves to its fields for the server, or null. */
export async function cropped(image, number) {
  await image.decode();
  let cut = { turn: 0, left: 0, top: 0, right: 1, bottom: 1 };
  const dialog = made("dialog", "dialog crop");
  const form = made("form", "stack", { method: "dialog" });
  const stage = made("div", "crop__stage");
  const canvas = made("canvas", "crop__page");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `Page ${number}`);
  const frame = made("div", "crop__frame"); // Cuts off the shade around the box.
  const box = frame.appendChild(made("div", "crop__box"));
  const handles = Object.entries(CORNERS).map(([name, edges]) => {
    const handle = made("button", "crop__handle", { type: "button" });
    handle.setAttribute("role", "slider");
    handle.setAttribute("aria-label", `${name} corner`);
    return { handle, edges };
  });

  function show() {
    Object.assign(box.style, { left: `${100 * cut.left}%`, top: `${100 * cut.top}%`, width: `${100 * (cut.right - cut.left)}%`, height: `${100 * (cut.bottom - cut.top)}%` });
    for (const { handle, edges: [x, y] } of handles) {
      Object.assign(handle.style, { left: `${100 * cut[x]}%`, top: `${100 * cut[y]}%` });
      handle.setAttribute("aria-valuenow", String(Math.round(100 * cut[x])));
      handle.setAttribute("aria-valuetext", `${percent(cut[x])} from the left, ${percent(cut[y])} from the top`);
    }
  }

  for (const { handle, edges: [x, y] } of handles) {
    handle.addEventListener("pointerdown", (event) => { handle.setPointerCapture(event.pointerId); });
    handle.addEventListener("pointermove", (event) => {
      if (!handle.hasPointerCapture(event.pointerId)) return;
      const place = canvas.getBoundingClientRect();
      cut = moved(moved(cut, x, (event.clientX - place.left) / place.width), y, (event.clientY - place.top) / place.height);
      show();
    });
    handle.addEventListener("keydown", (event) => {
      const by = event.shiftKey ? 5 * STEP : STEP;
      const [edge, change] = { ArrowLeft: [x, -by], ArrowRight: [x, by], ArrowUp: [y, -by], ArrowDown: [y, by] }[event.key] ?? [];
      if (!edge) return;
      event.preventDefault();
      cut = moved(cut, edge, cut[edge] + change);
      show();
    });
  }

  const turn = button("Rotate 90°", "");
  turn.addEventListener("click", () => {
    cut = turned(cut);
    draw(canvas, image, cut.turn);
    show();
  });
  const title = made("h2", "", { id: "crop-title", textContent: `Crop page ${number}` });
  const help = made("p", "muted small", { textContent: "Drag the corners, or choose a corner and press the arrow keys." });
  const actions = made("div", "row row--end");
  actions.append(turn, button("Cancel", "", "no"), button("Save", " button--primary", "yes"));
  stage.append(canvas, frame, ...handles.map(({ handle }) => handle));
  form.append(title, help, stage, actions);
  dialog.setAttribute("aria-labelledby", title.id);
  dialog.append(form);
  document.body.append(dialog);
  draw(canvas, image, 0);
  show();
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes" ? cut : null);
    });
  });
}
