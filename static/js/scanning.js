// Uploads of scans: files go in pieces, so that a lost connection or a closed page costs one piece.

const AGAIN_MS = 3000;
const AT_ONCE = 2;

/** The bytes that are there already, and where to send the next ones. */
async function begun(form, file, path, send) {
  const body = new FormData(form);
  body.delete("files");
  body.set("path", path);
  body.set("size", String(file.size));
  body.set("mark", String(file.lastModified));
  return answered(await send(form.dataset.scans, { method: "POST", body }));
}

/** The answer as JSON. Throws its error with `isFinal` if trying again is useless. */
async function answered(answer) {
  if (answer.ok) return answer.json();
  const words = answer.status === 422 ? (await answer.json()).error : answer.status === 403 || answer.status === 404 ? "You are signed out, or may not add scans." : "";
  throw Object.assign(new Error(words || "The server cannot be reached."), { isFinal: Boolean(words) });
}

/** Send a file to its end. Calls `more` with the number of bytes that came. Tries again for as long as the connection is lost. */
export async function sendFile(form, file, path, { send = fetch.bind(window), more = () => {}, wait = (ms) => new Promise((done) => { setTimeout(done, ms); }), trouble = () => {} } = {}) {
  const token = form.elements.namedItem("csrfmiddlewaretoken").value;
  for (;;) {
    try {
      let { file: id, received, piece } = await begun(form, file, path, send);
      more(received);
      while (received < file.size) {
        const url = `${form.dataset.piece.replace("00000000-0000-0000-0000-000000000000", id)}?at=${received}`;
        const body = file.slice(received, received + piece);
        const found = await answered(await send(url, { method: "POST", body, headers: { "X-CSRFToken": token, "Content-Type": "application/octet-stream" } }));
        more(found.received - received);
        received = found.received;
      }
      return;
    } catch (error) {
      trouble(error.message);
      if (error.isFinal) throw error;
      await wait(AGAIN_MS);
    }
  }
}

/** The files below a dropped or chosen folder, with their paths. */
async function filesBelow(entry, path = "") {
  if (entry.isFile) {
    const file = await new Promise((done, failed) => { entry.file(done, failed); });
    return [{ file, path: path + file.name }];
  }
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const some = await new Promise((done, failed) => { reader.readEntries(done, failed); });
    if (!some.length) break;
    for (const one of some) found.push(...(await filesBelow(one, `${path}${entry.name}/`)));
  }
  return found;
}

function watch(form) {
  const bar = form.querySelector("progress");
  const status = form.querySelector("[role=status]");
  const queue = [];
  const state = { sent: 0, size: 0, files: 0, ended: 0, running: 0, refused: [] };
  for (const element of form.querySelectorAll("[data-needs-script]")) element.hidden = false;

  function show(words = "") {
    bar.hidden = !state.files;
    bar.max = Math.max(state.size, 1);
    bar.value = state.sent;
    const done = state.ended === state.files;
    status.textContent = words || [`${state.ended} of ${state.files} file${state.files === 1 ? "" : "s"} sent.`, ...state.refused.slice(0, 5), done ? "" : "Keep this page open."].filter(Boolean).join(" ");
  }

  async function next() {
    const one = queue.shift();
    if (!one) return;
    state.running += 1;
    try {
      await sendFile(form, one.file, one.path, {
        more: (bytes) => { state.sent += bytes; show(); },
        trouble: (words) => show(`${words} Trying again …`),
      });
    } catch (error) {
      state.refused.push(error.message);
    }
    state.running -= 1;
    state.ended += 1;
    show();
    document.body.dispatchEvent(new CustomEvent("scans-added", { bubbles: true }));
    await next();
  }

  function add(found) {
    for (const one of found) {
      if (/(^|\/)(\.|__MACOSX|Thumbs\.db|desktop\.ini)/.test(one.path)) continue;
      queue.push(one);
      state.files += 1;
      state.size += one.file.size;
    }
    show();
    while (state.running < AT_ONCE && queue.length) next();
  }

  for (const input of form.querySelectorAll("input[type=file]")) {
    input.addEventListener("change", () => {
      add([...input.files].map((file) => ({ file, path: file.webkitRelativePath || file.name })));
      input.value = "";
    });
  }
  form.addEventListener("dragover", (event) => { event.preventDefault(); form.classList.add("scans-drop--over"); });
  form.addEventListener("dragleave", () => form.classList.remove("scans-drop--over"));
  form.addEventListener("drop", async (event) => {
    event.preventDefault();
    form.classList.remove("scans-drop--over");
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
    for (const entry of entries) add(await filesBelow(entry));
  });
  window.addEventListener("beforeunload", (event) => { if (state.ended < state.files) event.preventDefault(); });
}

for (const form of document.querySelectorAll("form[data-scans]")) watch(form);
