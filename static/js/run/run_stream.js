// One WebSocket to one run (docs/socket.md): events without gaps or duplicates, tokens of watched calls, and the state of the
// connection. It reconnects automatically and requests the events after the last one received.

const BEAT_MS = 15_000;
const CHECK_MS = 5_000;
const SILENCE_MS = 2 * BEAT_MS + CHECK_MS;
const SUSPICIOUS_MS = BEAT_MS + CHECK_MS;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
const STEADY_MS = 10_000;
export const SIGNED_OUT = 4401;
export const NO_SUCH_RUN = 4404;

/**
 * `onFrame(frame)` gets every frame with new content; `events` frames contain only events that follow the last one, in order.
 * `onLink({state, retryMs})` gets "connecting", "catching-up", "live", "waiting", "signed-out", "gone" and "stopped".
 * `onUndone()` is called if the run has fewer events than the page: a restore has removed the newest, so the page must reload.
 */
export class RunStream {
  constructor(url, { after = 0, onFrame = () => {}, onLink = () => {}, onUndone = () => {}, WebSocketClass = globalThis.WebSocket, clock = globalThis, now = () => Date.now(), random = Math.random } = {}) {
    this.url = url;
    this.seq = after;
    this.onFrame = onFrame;
    this.onLink = onLink;
    this.onUndone = onUndone;
    this.WebSocketClass = WebSocketClass;
    this.clock = clock;
    this.now = now;
    this.random = random;
    this.watched = [];
    this.link = "stopped";
    this.socket = null;
    this.failures = 0;
    this.heardAt = 0;
    this.openedAt = 0;
    this.retry = null;
    this.checker = null;
  }

  start() {
    if (this.checker !== null) return;
    this.checker = this.clock.setInterval(() => this.#checkSilence(SILENCE_MS), CHECK_MS);
    this.#connect();
  }

  stop(state = "stopped") {
    this.clock.clearInterval(this.checker);
    this.checker = null;
    this.#drop();
    this.#say(state);
  }

  /** Stream these calls' tokens (at most 16); the server answers with their text so far. */
  watch(calls) {
    this.watched = calls.slice(0, 16);
    this.#send({ t: "watch", calls: this.watched });
  }

  /** Ask for the whole text of a call, after a gap in its tokens. */
  askText(call) {
    this.#send({ t: "text", call });
  }

  /** Check the connection now, when the page becomes visible or the network returns. */
  check() {
    if (this.checker === null) return;
    if (this.socket === null) this.#connect();
    else this.#checkSilence(SUSPICIOUS_MS);
  }

  #connect() {
    this.#drop();
    this.#say("connecting");
    const socket = new this.WebSocketClass(`${this.url}?after=${this.seq}`);
    this.socket = socket;
    this.heardAt = this.openedAt = this.now();
    socket.onopen = () => {
      if (socket !== this.socket) return;
      this.heardAt = this.openedAt = this.now();
      this.#say("catching-up");
      if (this.watched.length) this.#send({ t: "watch", calls: this.watched });
    };
    socket.onmessage = (message) => {
      if (socket === this.socket) this.#take(JSON.parse(message.data));
    };
    socket.onclose = (closed) => {
      if (socket === this.socket) this.#lost(closed.code);
    };
  }

  #take(frame) {
    this.heardAt = this.now();
    if (this.heardAt - this.openedAt > STEADY_MS) this.failures = 0;
    if (frame.t === "events") {
      this.#takeEvents(frame);
      return;
    }
    if (frame.t === "hello" && frame.seq < this.seq) {
      this.stop();
      this.onUndone();
      return;
    }
    if (frame.t === "hello" && frame.seq === this.seq) this.#say("live");
    if (frame.t === "beat") {
      if (frame.seq > this.seq) this.#reconnect();
      else this.#say("live");
      return;
    }
    this.onFrame(frame);
  }

  #takeEvents(frame) {
    const fresh = frame.events.filter((event) => event.seq > this.seq);
    let whole = 0;
    while (whole < fresh.length && fresh[whole].seq === this.seq + 1) {
      this.seq += 1;
      whole += 1;
    }
    if (whole) this.onFrame({ ...frame, events: fresh.slice(0, whole) });
    if (whole < fresh.length) this.#reconnect();
    else this.#say(frame.has_more ? "catching-up" : "live");
  }

  /** Reconnect from the last received event after a gap. */
  #reconnect() {
    this.failures += 1;
    this.#waitAndConnect();
  }

  #lost(code) {
    this.socket = null;
    if (code === SIGNED_OUT) this.stop("signed-out");
    else if (code === NO_SUCH_RUN) this.stop("gone");
    else {
      this.failures += 1;
      this.#waitAndConnect();
    }
  }

  #waitAndConnect() {
    this.#drop();
    const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(this.failures - 1, 10));
    const retryMs = Math.round(longest * (0.5 + this.random() / 2));
    this.#say("waiting", retryMs);
    this.retry = this.clock.setTimeout(() => this.#connect(), retryMs);
  }

  #checkSilence(allowed) {
    if (this.socket !== null && this.now() - this.heardAt > allowed) this.#reconnect();
  }

  #drop() {
    this.clock.clearTimeout(this.retry);
    this.retry = null;
    const socket = this.socket;
    this.socket = null;
    if (socket === null) return;
    socket.onclose = socket.onmessage = socket.onopen = null;
    socket.close();
  }

  #send(message) {
    if (this.socket?.readyState === 1) this.socket.send(JSON.stringify(message));
  }

  #say(state, retryMs = 0) {
    if (state === this.link && !retryMs) return;
    this.link = state;
    this.onLink({ state, retryMs });
  }
}
