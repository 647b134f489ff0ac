// The author's editor: keeps the draft as it is typed, also over a lost connection, and never overwrites a newer one.

const PAUSE_MS = 800;
const AGAIN_MS = 5000;

/** Watch a form with `data-draft`, the address that keeps drafts. */
export function watchDraft(form, { send = fetch.bind(window), store = window.localStorage } = {}) {
  const text = form.elements.namedItem("text");
  const format = form.elements.namedItem("text_format");
  const basedOn = form.elements.namedItem("based_on");
  const status = form.querySelector("[data-draft-status]");
  const conflict = form.querySelector("[data-draft-conflict]");
  const key = `draft:${form.dataset.draftOwner}:${form.dataset.draft}`;
  const state = { timer: 0, sending: false, dirty: false, theirs: null };

  const say = (words) => { status.textContent = words; };
  const values = () => JSON.stringify({ text: text.value, format: format.value, basedOn: basedOn.value });

  function later(ms = PAUSE_MS) {
    clearTimeout(state.timer);
    state.timer = setTimeout(save, ms);
  }

  function changed() {
    state.dirty = true;
    try { store.setItem(key, values()); } catch { /* A full or closed store costs the copy on this computer only. */ }
    if (!state.theirs) later();
  }

  async function save() {
    if (state.sending || state.theirs || !state.dirty) return;
    state.sending = true;
    state.dirty = false;
    const sent = values();
    say("Saving …");
    try {
      const answer = await send(form.dataset.draft, { method: "POST", body: new FormData(form), headers: { Accept: "application/json" } });
      await told(answer, sent);
    } catch {
      state.dirty = true;
      say("No connection. Your text is kept on this computer and saved as soon as it is back.");
      later(AGAIN_MS);
    } finally {
      state.sending = false;
      if (state.dirty && !state.theirs) later();
    }
  }

  async function told(answer, sent) {
    if (answer.ok) {
      const kept = await answer.json();
      basedOn.value = String(kept.row_version);
      if (values().replace(/"basedOn":.*/, "") === sent.replace(/"basedOn":.*/, "")) store.removeItem(key);
      say(`Saved ${new Date(kept.saved_at ?? Date.now()).toLocaleTimeString("en-GB")}`);
    } else if (answer.status === 409) {
      state.theirs = await answer.json();
      conflict.hidden = false;
      say("Not saved.");
    } else if (answer.status === 422) {
      say((await answer.json()).error);
    } else {
      throw new Error(String(answer.status));
    }
  }

  function settle(take) {
    basedOn.value = String(state.theirs.row_version);
    if (take) {
      text.value = state.theirs.text;
      format.value = state.theirs.format;
      store.removeItem(key);
      text.dispatchEvent(new Event("input", { bubbles: true }));
    }
    state.theirs = null;
    conflict.hidden = true;
    changed();
  }

  function restore() {
    const kept = JSON.parse(store.getItem(key) ?? "null");
    if (!kept || kept.text === text.value) return;
    if (kept.basedOn !== basedOn.value) { store.removeItem(key); return; }
    text.value = kept.text;
    format.value = kept.format;
    text.dispatchEvent(new Event("input", { bubbles: true }));
  }

  form.addEventListener("input", changed);
  form.addEventListener("submit", () => { clearTimeout(state.timer); store.removeItem(key); });
  form.querySelector("[data-draft-keep]").addEventListener("click", () => settle(false));
  form.querySelector("[data-draft-take]").addEventListener("click", () => settle(true));
  window.addEventListener("online", () => later(0));
  document.addEventListener("visibilitychange", () => { if (document.visibilityState === "hidden") save(); });
  restore();
}

for (const form of document.querySelectorAll("form[data-draft]")) watchDraft(form);
