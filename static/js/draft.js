// The author's editor: saves the draft during typing, survives a lost connection, and never overwrites a newer draft.

const PAUSE_MS = 800;
const AGAIN_MS = 5000;
// Between two saves while the author types. A server with much to do gets fifty times as long as it needed for its answer.
const REST_MS = { least: 10_000, most: 60_000, timesAnswer: 50 };
const WORDS = "words-"; // Fields for answers to a model's proposals; they are next to the pages, outside the form.

/** The server answered without saving. */
class Refused extends Error {}

/** Whether a field differs from its value in the loaded page. */
function isTouched(field) {
  const chosen = [...(field.options ?? [])].find((option) => option.defaultSelected);
  return field.value !== (chosen?.value ?? field.defaultValue ?? field.value);
}

/** A short mark of a text (FNV-1a), by which it is recognised in an answer. */
function markOf(text, format) {
  const plain = `${format}:${text}`;
  let hash = 0x811c9dc5;
  for (let at = 0; at < plain.length; at += 1) hash = Math.imul(hash ^ plain.charCodeAt(at), 0x01000193);
  return `${plain.length}:${hash >>> 0}`;
}

/** Watch a form with `data-draft`, the URL that saves drafts. */
export function watchDraft(form, { send = fetch.bind(window), store = window.localStorage } = {}) {
  const text = form.elements.namedItem("text");
  const format = form.elements.namedItem("text_format");
  const basedOn = form.elements.namedItem("based_on");
  const status = form.querySelector("[data-draft-status]");
  const conflict = form.querySelector("[data-draft-conflict]");
  const key = `draft:${form.dataset.draftOwner}:${form.dataset.draft}`;
  // What the server has, for a page from this device's memory (writing/kept.js); site.js deletes it with another account.
  const savedKey = `saved:${form.dataset.draftOwner}:${form.dataset.draft}`;
  const state = { timer: 0, sending: false, dirty: false, theirs: null, next: 0 };
  // Marks of texts that were sent without an answer. The server may have stored any of them: it is no other window's text.
  const unheard = new Set();

  const say = (words) => { status.textContent = words; };
  const wordFields = () => [...form.elements].filter(({ name }) => name?.startsWith(WORDS));
  const words = () => Object.fromEntries(wordFields().map(({ name, value }) => [name, value]));
  const values = () => JSON.stringify({ text: text.value, format: format.value, words: words(), basedOn: basedOn.value, ...(unheard.size ? { unheard: [...unheard] } : {}) });

  function putWords(kept = {}) {
    for (const field of wordFields()) field.value = kept[field.name] ?? field.value;
  }

  function later(ms = Math.max(PAUSE_MS, state.next - Date.now())) {
    clearTimeout(state.timer);
    state.timer = setTimeout(save, ms);
  }

  function keep(name) {
    try { store.setItem(name, values()); } catch { /* Without storage only the local copy is lost. */ }
  }

  function changed() {
    if (!state.dirty && !state.sending && !state.theirs) say("Not saved yet. Your text is kept on this device.");
    state.dirty = true;
    keep(key);
    if (!state.theirs) later();
  }

  async function save() {
    if (state.sending || state.theirs || !state.dirty) return;
    state.sending = true;
    state.dirty = false;
    const sent = values();
    const began = Date.now();
    unheard.add(markOf(text.value, format.value));
    say("Saving …");
    try {
      const answer = await send(form.dataset.draft, { method: "POST", body: new FormData(form), headers: { Accept: "application/json" } });
      const rest = Math.min(REST_MS.most, Math.max(REST_MS.least, REST_MS.timesAnswer * (Date.now() - began)));
      if (answer.ok) state.next = document.visibilityState === "hidden" ? 0 : Date.now() + rest;
      await handleAnswer(answer, sent);
    } catch (error) {
      state.dirty = true;
      const why = error instanceof Refused ? "The server cannot save at the moment." : "No connection.";
      say(`${why} Your text is kept on this device and saved as soon as possible.`);
      state.next = Date.now() + AGAIN_MS;
    } finally {
      state.sending = false;
      if (state.dirty && !state.theirs) later();
    }
  }

  async function handleAnswer(answer, sent) {
    if (answer.ok) {
      const kept = await answer.json();
      basedOn.value = String(kept.row_version);
      unheard.clear();
      if (values().replace(/"basedOn":.*/, "") === sent.replace(/"basedOn":.*/, "")) {
        keep(savedKey);
        store.removeItem(key);
      }
      say(`Saved ${new Date(kept.saved_at ?? Date.now()).toLocaleTimeString("en-GB")}`);
    } else if (answer.status === 409) {
      const theirs = await answer.json();
      if (unheard.has(markOf(theirs.text, theirs.format))) {
        basedOn.value = String(theirs.row_version);
        state.dirty = true;
        return;
      }
      state.theirs = theirs;
      conflict.hidden = false;
      say("Not saved.");
    } else if (answer.status === 422) {
      say((await answer.json()).error);
    } else {
      throw new Refused(String(answer.status));
    }
  }

  function settle(take) {
    basedOn.value = String(state.theirs.row_version);
    if (take) {
      text.value = state.theirs.text;
      format.value = state.theirs.format;
      putWords(state.theirs.words);
      store.removeItem(key);
      text.dispatchEvent(new Event("input", { bubbles: true }));
    }
    state.theirs = null;
    conflict.hidden = true;
    changed();
  }

  /** A page that is older than the last saved draft comes from this device's memory: show what was saved since. */
  function takeSaved() {
    const saved = JSON.parse(store.getItem(savedKey) ?? "null");
    if (!saved || isTouched(text)) return;
    if (!(Number(saved.basedOn) > Number(basedOn.value)) || form.dataset.draftStored === undefined) {
      store.removeItem(savedKey);
      return;
    }
    text.value = saved.text;
    format.value = saved.format;
    basedOn.value = saved.basedOn;
    putWords(saved.words);
  }

  /** Restore the local copy. It is deleted only once the server has saved it: sending a form may fail. */
  function restore() {
    takeSaved();
    const kept = JSON.parse(store.getItem(key) ?? "null");
    if (!kept) {
      // Input from before this script ran. The browser restores none: autocomplete is off.
      if ([text, format, ...wordFields()].some(isTouched)) text.dispatchEvent(new Event("input", { bubbles: true }));
      return;
    }
    // A shorter text based on this very revision was shortened here.
    const isOlder = kept.basedOn !== basedOn.value || kept.text.trimEnd() === text.value.trimEnd();
    const isStored = isOlder && form.dataset.draftStored !== undefined && text.value.startsWith(kept.text.trimEnd());
    const isCorrected = wordFields().some(({ name, value }) => (kept.words?.[name] ?? value) !== value);
    if (isStored && !isCorrected) { store.removeItem(key); return; }
    if (kept.text === text.value && !isCorrected) return;
    if (kept.basedOn !== basedOn.value && !kept.unheard?.includes(markOf(text.value, format.value))) {
      state.theirs = { row_version: basedOn.value, text: text.value, format: format.value, words: words() };
      conflict.hidden = false;
      say("Not saved.");
    }
    if (!isStored) {
      text.value = kept.text;
      format.value = kept.format;
    }
    putWords(kept.words);
    text.dispatchEvent(new Event("input", { bubbles: true }));
  }

  form.addEventListener("input", changed);
  form.addEventListener("change", () => { if (state.dirty && !state.theirs) later(PAUSE_MS); }); // The author left the field.
  document.addEventListener("input", ({ target }) => { if (target.form === form && !form.contains(target)) changed(); });
  form.addEventListener("submit", () => clearTimeout(state.timer));
  form.querySelector("[data-draft-keep]").addEventListener("click", () => settle(false));
  form.querySelector("[data-draft-take]").addEventListener("click", () => settle(true));
  window.addEventListener("online", () => later(0));
  document.addEventListener("visibilitychange", () => { if (document.visibilityState === "hidden") save(); });
  restore();
}

function watchAll() {
  for (const form of document.querySelectorAll("form[data-draft]")) watchDraft(form);
}

watchAll();
