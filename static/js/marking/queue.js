// Commands for the server: sent in order, one at a time, each with an id, and stored in the browser until answered. After a
// lost connection, a closed tab or a reload, waiting commands are sent again with the same id, and the server answers as it did
// the first time.

const AGAIN_MS = [1000, 2000, 5000, 10000];
export const PAUSE_MS = 800;

/** A random UUID, also on pages served over plain http. */
export function freshId() {
  if (globalThis.crypto.randomUUID) return globalThis.crypto.randomUUID();
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/**
 * `send(entry, version)` resolves to `{ status, body }` or rejects without a connection. Callbacks in `on`: `change` (the
 * server's state or the waiting commands changed), `status` (saved, saving, waiting, offline, error, signed-out), `conflict`,
 * `refused`, `gone`.
 */
export class CommandQueue {
  constructor({ send, store, key, tab, state, on, later = setTimeout.bind(globalThis), cancel = clearTimeout.bind(globalThis), now = Date.now }) {
    Object.assign(this, { send, store, key, tab, state, on, later, cancel, now });
    this.entries = [];
    this.sending = null;
    this.timer = 0;
    this.failures = 0;
    this.blocked = ""; // "conflict" or "gone"
    this.waiters = [];
    this.#adopt();
  }

  get isIdle() {
    return this.entries.length === 0;
  }

  /** Add a command. `pause`: delay in ms for more of the same `merge`; a later one of the same `merge` replaces it. */
  push(verb, args, { merge = "", pause = 0 } = {}) {
    if (this.blocked === "gone") return;
    const last = this.entries.at(-1);
    const due = this.now() + pause;
    if (merge && last && last.merge === merge && last !== this.sending && !last.tried) {
      Object.assign(last, { verb, args, due });
    } else {
      for (const entry of this.entries) entry.due = 0;
      this.entries.push({ id: freshId(), verb, args, merge, due });
    }
    this.#keep();
    this.on.change();
    this.#go();
  }

  /** Drop unsent commands with this `merge`. */
  drop(merge) {
    this.entries = this.entries.filter((one) => one.merge !== merge || one === this.sending || one.tried);
    this.#keep();
    this.on.change();
  }

  /** Send everything now; resolves to false if that is not possible. */
  flush() {
    for (const entry of this.entries) entry.due = 0;
    if (this.isIdle) return Promise.resolve(true);
    if (this.blocked) return Promise.resolve(false);
    const done = new Promise((resolve) => { this.waiters.push(resolve); });
    this.#go(0);
    return done;
  }

  /** Take over the state from an answer outside the queue (undo, redo). */
  take(state) {
    this.state = state;
    this.on.change();
    this.#report();
  }

  /** After a conflict: `mine` sends the waiting commands on top of the other state; otherwise they are discarded. */
  settle(mine) {
    this.state = this.theirs;
    this.theirs = null;
    this.blocked = "";
    if (!mine) this.entries = [];
    for (const entry of this.entries) delete entry.version;
    this.#keep();
    this.on.change();
    this.#report();
    this.#go(0);
  }

  stop() {
    this.cancel(this.timer);
    this.blocked = "gone";
  }

  #go(wait) {
    this.cancel(this.timer);
    const [first] = this.entries;
    if (!first || this.sending || this.blocked) return;
    const ms = wait ?? Math.max(0, first.due - this.now());
    if (ms === 0) this.#sendFirst();
    else this.timer = this.later(() => this.#sendFirst(), ms);
    this.#report();
  }

  async #sendFirst() {
    const [entry] = this.entries;
    if (!entry || this.sending || this.blocked) return;
    this.sending = entry;
    this.#report();
    try {
      const answer = await this.send(entry, entry.version ?? this.state.row_version);
      entry.tried = true;
      this.#answered(entry, answer);
    } catch {
      entry.tried = true;
      this.#failed("offline");
    } finally {
      this.sending = null;
    }
    if (!this.failures) this.#go();
    if (this.isIdle) this.#resolve(true);
  }

  #answered(entry, { status, body }) {
    if (status === 403) return this.#failed("signed-out");
    if (status >= 500 || status === 0) return this.#failed("error");
    this.failures = 0;
    if (status === 200) {
      this.#remove(entry);
      this.state = body;
    } else if (status === 409) {
      this.theirs = body;
      this.blocked = "conflict";
      this.on.conflict(body);
      this.#resolve(false);
    } else if (status === 422) {
      this.#remove(entry);
      this.on.refused(body.message, entry);
    } else {
      this.blocked = "gone";
      this.on.gone(body?.message ?? "This script can no longer be marked here.");
      this.#resolve(false);
    }
    this.#keep();
    this.on.change();
    this.#report();
  }

  #failed(status) {
    const ms = AGAIN_MS[Math.min(this.failures, AGAIN_MS.length - 1)];
    this.failures += 1;
    this.on.status(status);
    this.#resolve(false);
    this.timer = this.later(() => this.#sendFirst(), ms);
  }

  /** Retry at once, when the connection is back. */
  retry() {
    this.cancel(this.timer);
    this.#sendFirst();
  }

  #remove(entry) {
    this.entries = this.entries.filter((one) => one !== entry);
  }

  #resolve(value) {
    for (const resolve of this.waiters.splice(0)) resolve(value);
  }

  #report() {
    if (this.failures || this.blocked) return;
    this.on.status(this.isIdle ? "saved" : this.sending ? "saving" : "waiting");
  }

  #keep() {
    const own = `${this.key}:${this.tab}`;
    try {
      if (this.isIdle) this.store.removeItem(own);
      else this.store.setItem(own, JSON.stringify({ version: this.state.row_version, entries: this.entries }));
    } catch { /* Without storage, only the local copy is missing. */ }
  }

  /** Adopt unsent commands of earlier tabs. If such a tab is still open, the ids prevent double execution. */
  #adopt() {
    let names = [];
    try {
      names = Object.keys(this.store).filter((name) => name.startsWith(`${this.key}:`));
    } catch { /* Storage may be forbidden. */ }
    for (const name of names) {
      try {
        const { version, entries } = JSON.parse(this.store.getItem(name));
        // The first one may be based on an outdated state; the server then reports a conflict.
        this.entries.push(...entries.map((entry, index) => ({ ...entry, due: 0, tried: true, version: index ? undefined : version })));
      } catch { /* Ignore unreadable entries. */ }
      this.store.removeItem(name);
    }
    if (this.entries.length) {
      this.#keep();
      this.timer = this.later(() => this.#sendFirst(), 0);
    }
  }
}
