// Plays RunStream, FrameLoop and throttled against fakes; prints what happened as JSON.
import { condensed, FrameLoop, joinTokens } from "../../static/js/run/frames.js";
import { RunStream } from "../../static/js/run/run_stream.js";
import { throttled } from "../../static/js/throttled.js";
import { compact, duration, liveness } from "../../static/js/run/words.js";

class Clock {
  constructor() {
    this.time = 0;
    this.timers = new Map();
    this.next = 1;
  }
  setTimeout(work, ms) {
    this.timers.set(this.next, { work, at: this.time + ms });
    return this.next++;
  }
  setInterval(work, ms) {
    this.timers.set(this.next, { work, at: this.time + ms, every: ms });
    return this.next++;
  }
  clearTimeout(id) {
    this.timers.delete(id);
  }
  clearInterval(id) {
    this.timers.delete(id);
  }
  requestAnimationFrame(work) {
    return this.setTimeout(work, 16);
  }
  pass(ms) {
    const end = this.time + ms;
    for (;;) {
      const due = [...this.timers].filter(([, timer]) => timer.at <= end).sort((a, b) => a[1].at - b[1].at)[0];
      if (!due) break;
      const [id, timer] = due;
      this.time = timer.at;
      if (timer.every) timer.at += timer.every;
      else this.timers.delete(id);
      timer.work();
    }
    this.time = end;
  }
}

function scene(after = 0) {
  const clock = new Clock();
  const seen = { urls: [], sent: [], links: [], events: [], frames: [], undone: 0 };
  const sockets = [];
  class FakeSocket {
    constructor(url) {
      seen.urls.push(url);
      sockets.push(this);
      this.readyState = 0;
      this.closed = false;
    }
    open() {
      this.readyState = 1;
      this.onopen();
    }
    send(text) {
      seen.sent.push(JSON.parse(text));
    }
    close() {
      this.readyState = 3;
      this.closed = true;
    }
    say(frame) {
      this.onmessage?.({ data: JSON.stringify(frame) });
    }
    lose(code = 1006) {
      this.readyState = 3;
      this.onclose?.({ code });
    }
  }
  const stream = new RunStream("ws://x/ws/runs/1/", {
    after,
    WebSocketClass: FakeSocket,
    clock,
    now: () => clock.time,
    random: () => 1,
    onLink: (link) => seen.links.push(link.state),
    onUndone: () => (seen.undone += 1),
    onFrame: (frame) => (frame.t === "events" ? seen.events.push(...frame.events.map((event) => event.seq)) : seen.frames.push(frame.t)),
  });
  const events = (...seqs) => ({ t: "events", events: seqs.map((seq) => ({ seq })), has_more: false });
  return { clock, seen, sockets, stream, events, last: () => sockets.at(-1) };
}

const facts = {};

{
  const { seen, stream, events, last, clock } = scene(9);
  stream.start();
  last().open();
  last().say({ t: "hello", seq: 9, status: "running" });
  const before = seen.undone;
  last().lose();
  clock.pass(31_000);
  last().open();
  last().say({ t: "hello", seq: 4, status: "running" });
  last().say(events(10));
  clock.pass(100_000);
  facts.undone = { before, after: seen.undone, events: seen.events, urls: seen.urls.length, link: seen.links.at(-1) };
}

{
  const { seen, stream, events, last, clock } = scene(3);
  stream.start();
  last().open();
  last().say({ t: "hello", seq: 6, status: "running" });
  last().say({ ...events(4, 5), has_more: true });
  last().say(events(5, 6));
  last().say(events(4));
  last().say(events(9));
  clock.pass(600);
  last().open();
  last().say(events(7, 8, 9));
  facts.gap = { urls: seen.urls, events: seen.events, links: seen.links };
}
{
  const { seen, stream, last, clock, sockets } = scene();
  stream.start();
  for (let n = 0; n < 9; n++) {
    last().lose();
    clock.pass(31_000);
  }
  facts.backoff = { tries: sockets.length, waits: seen.links.filter((link) => link === "waiting").length };
}
{
  const { seen, stream, last, clock } = scene();
  stream.start();
  last().open();
  clock.pass(30_000);
  const early = seen.urls.length;
  clock.pass(20_000);
  facts.silence = { early, later: seen.urls.length > early };
}
{
  const { seen, stream, last, clock } = scene(2);
  stream.start();
  last().open();
  last().say({ t: "beat", seq: 2 });
  const before = seen.urls.length;
  last().say({ t: "beat", seq: 5 });
  clock.pass(600);
  facts.beat = { before, after: seen.urls.length, url: seen.urls.at(-1) };
}
{
  const { seen, stream, last, clock } = scene();
  stream.start();
  last().open();
  stream.watch(Array.from({ length: 20 }, (_, n) => `c${n}`));
  last().lose(4408);
  clock.pass(600);
  last().open();
  facts.watch = { sizes: seen.sent.map((message) => message.calls.length), kinds: seen.sent.map((message) => message.t) };
}
{
  const ends = {};
  for (const code of [4401, 4404]) {
    const { seen, stream, last, clock } = scene();
    stream.start();
    last().open();
    last().lose(code);
    clock.pass(200_000);
    ends[code] = { link: seen.links.at(-1), sockets: seen.urls.length };
  }
  facts.ends = ends;
}
{
  const { seen, stream, last, clock } = scene();
  stream.start();
  last().open();
  clock.pass(22_000);
  stream.check();
  clock.pass(600);
  const suspicious = seen.urls.length;
  stream.stop();
  stream.check();
  clock.pass(200_000);
  facts.check = { suspicious, stopped: seen.urls.length, link: seen.links.at(-1) };
}
{
  const clock = new Clock();
  let hidden = false;
  const applied = [];
  const dropped = [];
  const loop = new FrameLoop({ apply: (item) => applied.push(item.t), dropped: (calls) => dropped.push(...calls), isHidden: () => hidden, clock, now: () => clock.time });
  const item = (off, text, call = "a") => ({ call, attempt: 1, ch: "text", off, text });
  loop.push({ t: "tokens", items: [item(0, "𝑥y"), item(2, "z"), item(9, "q")] });
  loop.push({ t: "events", events: [{ seq: 1 }, { seq: 2 }] });
  clock.pass(100);
  hidden = true;
  loop.push({ t: "tokens", items: [item(3, "w", "b")] });
  loop.push({ t: "state" });
  clock.pass(1000);
  facts.loop = { applied, dropped, joined: joinTokens([item(0, "𝑥y"), item(2, "z"), item(9, "q")]).map((one) => one.text) };
}
{
  // Drawing a thing takes a tenth of a second here, and forty come in a second: one by one the page would never catch up.
  const clock = new Clock();
  const drawn = [];
  const slow = (entry) => {
    drawn.push(entry.t === "piece" ? entry.item.text.length : entry.t === "event" ? entry.event.seq : entry.t);
    clock.time += 100;
  };
  const loop = new FrameLoop({ apply: slow, isHidden: () => false, clock, now: () => clock.time });
  let busy = 0;
  for (let n = 0; n < 400; n++) {
    clock.setTimeout(() => {
      loop.push({ t: "tokens", items: [{ call: "a", attempt: 1, ch: "text", off: n, text: "x" }] });
      loop.push({ t: n % 40 === 39 ? "state" : "counters" });
      busy = Math.max(busy, loop.queue.length);
    }, n * 25);
  }
  clock.setTimeout(() => loop.push({ t: "events", events: [{ seq: 7 }] }), 10_001);
  for (let n = 0; n < 300 && drawn.at(-1) !== 7; n++) clock.pass(50);
  const text = drawn.filter((one) => Number.isInteger(one) && one !== 7).reduce((sum, one) => sum + one, 0);
  facts.behind = { text, last: drawn.at(-1), seconds: clock.time / 1000 };
}
{
  const clock = new Clock();
  const seen = [];
  const loop = new FrameLoop({
    apply: (entry) => {
      seen.push(entry.t);
      if (entry.t === "text") throw new Error("cannot be drawn");
    },
    isHidden: () => false, clock, now: () => clock.time,
  });
  loop.push({ t: "text" });
  loop.push({ t: "state" });
  let message = "";
  try {
    clock.pass(100);
  } catch (error) {
    message = error.message;
  }
  clock.pass(100);
  facts.error = { seen, message };
}
{
  const piece = (off, text, call = "a") => ({ t: "piece", item: { call, attempt: 1, ch: "text", off, text } });
  const entries = condensed([
    piece(0, "𝑥"), { t: "counters", n: 1 }, piece(0, "u", "b"), { t: "event" }, piece(1, "y"), { t: "state", n: 1 }, piece(9, "q"),
    { t: "text" }, piece(10, "r"), { t: "counters", n: 2 }, { t: "state", n: 2 },
  ]);
  facts.condensed = entries.map((entry) => entry.item?.text ?? entry.t + (entry.n ?? ""));
}
{
  const clock = new Clock();
  let runs = 0;
  let release = () => {};
  const work = throttled(500, () => {
    runs += 1;
    return new Promise((resolve) => {
      release = resolve;
    });
  }, { clock });
  for (let n = 0; n < 10; n++) work();
  clock.pass(500);
  const once = runs;
  work();
  work();
  clock.pass(5000);
  const held = runs;
  release();
  await new Promise((resolve) => setImmediate(resolve));
  clock.pass(500);
  facts.throttled = { once, held, after: runs };
}
{
  // A second of work each time, asked for all the time: four fifths of it stay free.
  const clock = new Clock();
  let runs = 0;
  let worked = 0;
  const work = throttled(500, () => {
    runs += 1;
    worked += 1000;
  }, { clock, now: () => clock.time + worked });
  for (let n = 0; n < 1000; n++) {
    work();
    clock.pass(100);
    await Promise.resolve();
  }
  facts.rest = { runs, seconds: (clock.time + worked) / 1000 };
}
facts.words = {
  compact: [0, 9999, 12_400, 3_000_000].map(compact),
  duration: [0.4, 42, 200, 7500].map(duration),
  liveness: [
    liveness({ status: "queued" }),
    liveness({ status: "running" }, { a: { n: 1240, rate: 57 } }, 1),
    liveness({ status: "running" }, { a: { n: 0, rate: 0 } }, 2),
    liveness({ status: "running" }),
    liveness({ status: "running" }, {}, 0, { concluding: true }),
    liveness({ status: "running", stalled: true }),
    liveness({ status: "finished" }),
  ].map((part) => part?.words ?? null),
};
console.log(JSON.stringify(facts));
