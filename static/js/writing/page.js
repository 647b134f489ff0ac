// The author's editor. What is needed to write starts at once; formulas, previews and the copy for writing offline load later.
import "../preview.js";
import "../draft.js";
import { mountGoals } from "./goals.js";
import { keepForOffline } from "./kept.js";
import { mountPages } from "./pages.js";
import { mountPalette } from "./palette.js";

const PREVIEW_MS = 300;
const REACHED_WITHIN_MS = 5000;

/** The preview: next to the text, or in its place on a small screen. htmx fetches it at the event `preview`. */
function mountPreview(form) {
  let timer = 0;
  let isStale = false;
  const box = form.querySelector(".editor__preview");

  function refresh() {
    isStale = !window.htmx || !box.checkVisibility() || !navigator.onLine;
    if (!isStale) form.dispatchEvent(new Event("preview"));
  }

  function show(what) {
    form.dataset.shows = what;
    for (const button of form.querySelectorAll("[data-shows-choice]")) {
      button.setAttribute("aria-pressed", String(button.dataset.showsChoice === what));
    }
    if (isStale) refresh();
  }

  form.addEventListener("input", () => {
    isStale = true;
    clearTimeout(timer);
    timer = setTimeout(refresh, PREVIEW_MS);
  });
  for (const button of form.querySelectorAll("[data-shows-choice]")) {
    button.addEventListener("click", () => show(button.dataset.showsChoice));
  }
  form.querySelector("[data-shows-switch]").hidden = false;
  addEventListener("online", () => { if (isStale) refresh(); });
  addEventListener("resize", () => { if (isStale) refresh(); });
  return () => { if (isStale) refresh(); };
}

/** Whether the server answers. `navigator.onLine` is true without a connection to it, and after some reloads without any. */
async function isReached() {
  try {
    await fetch(import.meta.url, { method: "HEAD", cache: "no-store", signal: AbortSignal.timeout(REACHED_WITHIN_MS) });
    return true;
  } catch {
    return false;
  }
}

/** Without a connection a text cannot be handed in. The page says so and keeps the text. */
function mountOffline(form) {
  const notice = form.querySelector("[data-offline]");
  const look = () => { notice.hidden = navigator.onLine; };
  let isSure = false;
  form.addEventListener("submit", async (event) => {
    if (isSure) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    isSure = await isReached();
    notice.hidden = isSure;
    if (isSure) form.requestSubmit(event.submitter);
    else notice.focus();
    isSure = false;
  }, { capture: true });
  addEventListener("online", look);
  addEventListener("offline", look);
  look();
}

function scriptLoaded(src) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = src;
    script.onload = resolve;
    script.onerror = reject;
    document.head.append(script);
  });
}

/** Do `work` again with the next connection until it succeeds. */
async function untilDone(work) {
  for (;;) {
    try {
      return await work();
    } catch {
      await new Promise((resolve) => { addEventListener("online", resolve, { once: true }); });
    }
  }
}

async function loadLater(form, { htmx, mathsStyle, worker }, previewReady) {
  if (document.readyState !== "complete") await new Promise((resolve) => { addEventListener("load", resolve, { once: true }); });
  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = mathsStyle;
  document.head.append(style);
  await Promise.all([untilDone(() => scriptLoaded(htmx)).then(previewReady), untilDone(() => import("../maths.js"))]);
  await document.fonts.ready;
  await untilDone(() => keepForOffline(form.dataset.draftOwner, worker));
}

const form = document.getElementById("editor");
const previewReady = mountPreview(form);
if (form.elements.text.value !== form.elements.text.defaultValue) form.dispatchEvent(new Event("input"));
mountOffline(form);
mountPalette(document.querySelector("[data-palette]"), form.elements.text, form.elements.text_format);
mountPages(document.querySelector("[data-pages-add]"));
mountGoals(document.getElementById("id_text"));
loadLater(form, document.querySelector("[data-later]").dataset, previewReady);
