// Behaviour of all pages: close menus, update times, report failed requests, confirm destructive actions.

const SECOND = 1000;
const UNITS = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
];

/** Time since `moment`, in the words of apps/ui/words.py. */
export function ago(moment, now = Date.now(), timeZone = undefined) {
  const seconds = (now - moment.getTime()) / SECOND;
  if (seconds >= 7 * 86_400) {
    return moment.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone });
  }
  for (const [size, unit] of UNITS) {
    if (seconds >= size) return `${Math.floor(seconds / size)} ${unit} ago`;
  }
  return "just now";
}

/** Update the `<time data-when>` elements under `root`: in their time zone (`data-zone`), or in the reader's. */
export function updateTimes(root = document) {
  for (const element of root.querySelectorAll("time[data-when]")) {
    const moment = new Date(element.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    const timeZone = element.dataset.zone;
    const words = ago(moment, Date.now(), timeZone);
    if (element.textContent !== words) element.textContent = words;
    element.title = moment.toLocaleString("en-GB", { dateStyle: "full", timeStyle: "long", timeZone });
  }
}

const ASIDE = "toasts--aside";

/** Move the toasts to the other end of the window where they cover the field that is being written. */
function toastsStepAside() {
  const box = document.querySelector(".toasts");
  const field = document.activeElement;
  if (!box?.childElementCount || !field?.matches("input, textarea, select, [contenteditable]")) return;
  const [one, other] = [box, field].map((element) => element.getBoundingClientRect());
  const isCovered = one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
  if (isCovered) box.classList.toggle(ASIDE);
}

/**
 * Show `text` over the page for some seconds; errors stay until they are closed, and cover no field that is being written.
 * Returns its element, null without a place.
 */
export function toast(text, { error = false } = {}) {
  const box = document.querySelector(".toasts");
  if (!box) return null;
  const element = document.createElement("div");
  element.className = `toast row row--between${error ? " toast--error" : ""}`;
  const words = document.createElement("span");
  words.textContent = text;
  const close = document.createElement("button");
  close.type = "button";
  close.className = "button button--quiet button--small";
  close.textContent = "Close";
  close.addEventListener("click", () => element.remove());
  element.append(words, close);
  if (!box.childElementCount) box.classList.remove(ASIDE);
  box.append(element);
  toastsStepAside();
  if (!error) setTimeout(() => element.remove(), 6 * SECOND);
  return element;
}

/** Ask for confirmation; resolves to whether the user agreed. */
export function ask(question, yes = "Yes") {
  const dialog = document.createElement("dialog");
  dialog.className = "dialog";
  const form = document.createElement("form");
  form.method = "dialog";
  form.className = "stack";
  const words = document.createElement("p");
  words.textContent = question;
  words.id = "ask-words";
  dialog.setAttribute("aria-labelledby", words.id);
  const actions = document.createElement("div");
  actions.className = "row row--end";
  for (const [value, label, kind] of [["no", "Go back", ""], ["yes", yes, " button--danger"]]) {
    const button = document.createElement("button");
    button.value = value;
    button.className = `button${kind}`;
    button.textContent = label;
    actions.append(button);
  }
  form.append(words, actions);
  dialog.append(form);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
  });
}

/** Delete what the editor keeps for other accounts: pages for writing offline (writing/kept.js), copies of saved drafts (draft.js). */
export async function forgetOthers(owner) {
  try {
    for (const key of Object.keys(localStorage)) {
      if (key.startsWith("saved:") && !key.startsWith(`saved:${owner}:`)) localStorage.removeItem(key);
    }
    for (const name of (await globalThis.caches?.keys()) ?? []) {
      if (name.startsWith("drafts-") && name !== `drafts-${owner}`) await caches.delete(name);
    }
  } catch { /* Without storage nothing is kept. */ }
}

/** Delete this device's copies of the texts at some problems, by their public ids, and the pages kept for writing offline. */
export async function forgetTexts(problems) {
  try {
    for (const key of Object.keys(localStorage)) {
      if (/^(draft|saved):/.test(key) && problems.some((problem) => key.includes(problem))) localStorage.removeItem(key);
    }
    for (const name of (await globalThis.caches?.keys()) ?? []) {
      if (name.startsWith("drafts-")) await caches.delete(name);
    }
  } catch { /* Without storage nothing is kept. */ }
}

function isTyping(element) {
  return element instanceof Element && element.matches("input, textarea, select, [contenteditable]");
}

for (const name of ["focusin", "input"]) document.addEventListener(name, toastsStepAside);

document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
  const copy = event.target instanceof Element ? event.target.closest("[data-copy]") : null;
  if (copy) {
    const source = document.getElementById(copy.dataset.copy);
    navigator.clipboard.writeText((source.value ?? source.textContent).trim()).then(
      () => toast("Copied."),
      () => toast("The browser did not allow copying. Select the text and copy it by hand.", { error: true }),
    );
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    const menu = document.querySelector("details.menu[open]");
    if (menu) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  }
  if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target)) {
    const search = document.querySelector('.filters input[type="search"]');
    if (search) {
      event.preventDefault();
      search.select();
      search.focus();
    }
  }
});

document.addEventListener("submit", (event) => {
  const { target, submitter } = event;
  const fields = [...target.querySelectorAll('input[name="ask"]:enabled')];
  const questions = fields.map((field) => field.value.split("|"));
  const asked = questions.find(([of]) => !of || of === `${submitter?.name}=${submitter?.value}`);
  if (!asked) return;
  event.preventDefault();
  event.stopImmediatePropagation(); // htmx must not send the form before the answer.
  const [, yes, ...words] = asked;
  ask(words.join("|"), yes).then((agreed) => {
    if (!agreed) return;
    for (const field of fields) field.disabled = true; // With the field the server would ask again (apps/ui/asking.py).
    target.requestSubmit(submitter);
    for (const field of fields) field.disabled = false;
  });
}, { capture: true });

document.addEventListener("submit", ({ target, defaultPrevented }) => {
  if (!defaultPrevented && target.dataset.forget !== undefined) forgetTexts(target.dataset.forget.split(" ").filter(Boolean));
});

// A second click would send the form again; its answer would replace the first one, which may be the only one with passwords.
function setOnce(form, isSent) {
  for (const button of form.querySelectorAll("button")) button.disabled = isSent;
}
document.addEventListener("submit", ({ target, defaultPrevented }) => {
  if (!defaultPrevented && target.dataset.once !== undefined) setTimeout(setOnce, 0, target, true); // After the fields were read.
});
window.addEventListener("pageshow", () => document.querySelectorAll("form[data-once]").forEach((form) => setOnce(form, false)));

document.addEventListener("htmx:sendError", () => {
  const element = toast("The server cannot be reached. Your last change may not have been saved. Try again in a moment.", { error: true });
  window.addEventListener("online", () => element?.remove(), { once: true });
});
document.addEventListener("htmx:responseError", (event) => {
  const { xhr, xhr: { status } } = event.detail;
  const words = {
    403: "This page has expired or you are signed out. Reload it, then try again.",
    404: "This no longer exists, or you may not see it.",
  };
  const message = xhr.getResponseHeader("Content-Type")?.startsWith("text/plain") ? xhr.responseText : null; // apps/config/errors.py
  toast(message ?? words[status] ?? `The server answered with an error (${status}). Your last change may not have been saved. Try again in a moment.`, {
    error: true,
  });
});
document.addEventListener("htmx:load", (event) => updateTimes(event.target));

// Pages without an account, as after signing out, have an empty owner; pages of errors have none and leave everything as it is.
if (document.body.dataset.owner !== undefined) forgetOthers(document.body.dataset.owner);
updateTimes();
setInterval(updateTimes, 30 * SECOND);
