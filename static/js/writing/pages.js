// Pages of a draft: photos are sent when they are chosen and wait for a connection; pages are moved, turned and cut in place.
import { toast } from "../site.js";
import { mountDrag } from "./drag.js";
import { smaller } from "./photos.js";

/** The server did not answer with the editor's page. */
class NotSent extends Error {}

/** Send a form and return the editor's page to which the server leads. Raises `NotSent`. */
function sent(url, body, onProgress = () => {}) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", url);
    request.upload.addEventListener("progress", ({ loaded, total }) => onProgress(total ? loaded / total : 0));
    request.addEventListener("error", () => reject(new NotSent("There is no connection.")));
    request.addEventListener("load", () => {
      const found = new DOMParser().parseFromString(request.responseText, "text/html");
      if (request.status < 400 && found.getElementById("pages")) resolve(found);
      else if (found.querySelector('input[type="password"]')) reject(new NotSent("You are signed out. Sign in in another tab."));
      else reject(new NotSent(`The server answered with an error (${request.status}).`));
    });
    request.send(body);
  });
}

/** Show the pages of `found` and return its messages; errors are shown as well. Corrections of proposals stay. */
function taken(found) {
  const old = document.getElementById("pages");
  const fresh = document.adoptNode(found.getElementById("pages"));
  for (const field of fresh.querySelectorAll("textarea")) field.value = document.getElementById(field.id)?.value ?? field.value;
  old.replaceWith(fresh);
  window.htmx?.process(fresh);
  const shown = document.querySelector("[data-pages-count]");
  shown.replaceWith(document.adoptNode(found.querySelector("[data-pages-count]")));
  const messages = [...found.querySelectorAll(".message")];
  for (const message of messages) if (message.matches(".message--error, .message--warning")) toast(message.textContent, { error: true });
  return messages.map((message) => message.textContent).join(" ");
}

/** Send a change of a page. `fields`: those of the form, and the action. Returns the messages, or null if it was not sent. */
export async function changed(form, fields, focused = "") {
  const body = new FormData(form);
  body.delete("ask");
  for (const [name, value] of Object.entries(fields)) body.set(name, String(value));
  const number = [...document.querySelectorAll("form[data-page]")].indexOf(form);
  try {
    const words = taken(await sent(form.getAttribute("action"), body));
    const same = document.querySelector(`form[data-page="${form.dataset.page}"]`) ?? document.querySelectorAll("form[data-page]")[number];
    (same?.querySelector(`[value="${focused}"]`) ?? same?.querySelector("button") ?? document.getElementById("pages")).focus();
    return words;
  } catch (error) {
    if (!(error instanceof NotSent)) throw error;
    toast(`The page was not changed. ${error.message}`, { error: true });
    return null;
  }
}

async function onSubmit(event) {
  const { target: form, submitter } = event;
  if (event.defaultPrevented || !form.matches("form[data-page]") || !submitter) return;
  event.preventDefault();
  if (submitter.value !== "crop") return void changed(form, { action: submitter.value }, submitter.value);
  const { cropped } = await import("./crop.js");
  const cut = await cropped(form.closest("li").querySelector("img"), form.dataset.number);
  if (cut) await changed(form, { action: "cut", ...cut }, "crop");
  else submitter.focus();
}

/** Photos that wait to be sent; they are kept until the server has answered. */
function mountUpload(form) {
  const part = (name) => form.querySelector(`[data-pages-${name}]`);
  const [status, bar, again] = ["status", "progress", "again"].map(part);
  const waiting = [];
  let isSending = false;

  function say(words) { status.textContent = words; }
  const count = (files) => (files.length === 1 ? "1 file" : `${files.length} files`);

  async function sendFirst() {
    const files = waiting[0];
    say(`Sending ${count(files)} …`);
    bar.hidden = false;
    bar.value = 0;
    const body = new FormData();
    body.set("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
    for (const file of files) body.append("files", await smaller(file), file.name);
    const found = await sent(form.getAttribute("action"), body, (share) => {
      bar.value = share;
      if (share === 1) say("The pages are sent and being read …");
    });
    waiting.shift();
    say(taken(found));
  }

  async function work() {
    if (isSending) return;
    isSending = true;
    again.hidden = true;
    try {
      while (waiting.length) await sendFirst();
    } catch (error) {
      say(`Not sent: ${count(waiting.flat())}. ${error.message} Keep this page open: they are kept here and sent again when you are connected.`);
      again.hidden = false;
    } finally {
      bar.hidden = true;
      isSending = false;
    }
  }

  function take(input) {
    if (!input.files.length) return;
    waiting.push([...input.files]);
    input.value = "";
    work();
  }

  for (const input of form.querySelectorAll('input[type="file"]')) {
    input.addEventListener("change", () => take(input));
    take(input); // Chosen before this script ran.
  }
  again.addEventListener("click", work);
  addEventListener("online", work);
  addEventListener("beforeunload", (event) => { if (waiting.length) event.preventDefault(); });
}

export function mountPages(form) {
  if (!form) return; // The time is over: pages can be read only.
  mountUpload(form);
  mountDrag((page, number) => changed(page, { action: "place", number }, "later"));
  document.addEventListener("submit", onSubmit);
}
