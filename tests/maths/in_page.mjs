// What the browser tests do inside the page. Each function gets StreamText and the test's value.

/** Stream each text sign by sign, drawing every time. */
export function streamAll({ StreamText }, texts) {
  const main = document.querySelector("#main");
  for (const text of texts) {
    const box = document.createElement("div");
    main.append(box);
    const stream = new StreamText(box);
    for (const sign of text) {
      stream.append(stream.length, sign);
      stream.draw();
    }
    stream.seal();
  }
}

/** Texts whose nodes differ between growing by three signs and coming whole. */
export function differences({ StreamText }, texts) {
  const html = (fill) => {
    const box = document.createElement("div");
    const stream = new StreamText(box);
    fill(stream);
    stream.seal();
    box.normalize();
    return box.innerHTML;
  };
  const wrong = [];
  for (const text of texts) {
    const signs = [...text];
    const whole = html((stream) => stream.append(0, text));
    const grown = html((stream) => {
      for (let at = 0; at < signs.length; at += 3) {
        stream.append(at, signs.slice(at, at + 3).join(""));
        stream.draw();
      }
    });
    if (whole !== grown) wrong.push({ text, whole, grown });
  }
  return wrong;
}

/** Pieces twice, overlapping, after a gap; then a reset. */
export function offsets({ StreamText }) {
  const box = document.createElement("div");
  const stream = new StreamText(box);
  const pieces = [[0, "a😀b"], [0, "a😀b"], [1, "😀bc"], [9, "x"], [4, "d"]];
  const answers = pieces.map(([offset, text]) => stream.append(offset, text));
  stream.seal();
  const before = box.textContent;
  stream.reset("new");
  answers.push(stream.append(3, "!"));
  stream.seal();
  return { answers, before, after: box.textContent, length: stream.length };
}

/** [source of the open formula, number of drawn formulas] after each piece. */
export function openFormula({ StreamText }, pieces) {
  const box = document.createElement("div");
  const stream = new StreamText(box);
  return pieces.map((piece) => {
    stream.append(stream.length, piece);
    stream.draw();
    return [box.querySelector(".math-open")?.textContent ?? "", box.querySelectorAll(".katex").length];
  });
}

/** Streams at 60 tokens/s each, in frames of 50 ms, for `seconds`: the longest task and the time a token takes, in ms. */
export async function pace({ StreamText }, { text, streams: count, seconds }) {
  const tasks = [];
  new PerformanceObserver((list) => tasks.push(...list.getEntries().map((entry) => entry.duration))).observe({ entryTypes: ["longtask"] });
  const streams = Array.from({ length: count }, () => {
    const frame = document.createElement("div"); // As in the agents' lines: each text scrolls in a box of its own.
    frame.style = "block-size: 12rem; overflow: auto; contain: strict";
    const box = document.createElement("div");
    box.className = "prose";
    frame.append(box);
    document.querySelector("#main").append(frame);
    return new StreamText(box);
  });
  await new Promise((done) => setTimeout(done, 300));
  tasks.length = 0;
  let drawing = 0;
  const draw = StreamText.prototype.draw;
  StreamText.prototype.draw = function timed() {
    const start = performance.now();
    draw.call(this);
    drawing += performance.now() - start;
  };
  const tokens = text.match(/[^]{1,4}/gu);
  let sent = 0;
  const end = performance.now() + 1000 * seconds;
  for (let at = 0; performance.now() < end; at += 3) {
    const places = streams.map((_, index) => (at + index * 97) % tokens.length);
    for (const [index, stream] of streams.entries()) stream.append(stream.length, tokens.slice(places[index], places[index] + 3).join(""));
    sent += 3 * count;
    await new Promise((done) => setTimeout(done, 50));
  }
  StreamText.prototype.draw = draw;
  document.querySelector("#main").replaceChildren();
  return { tasks, perToken: drawing / sent, sent };
}
