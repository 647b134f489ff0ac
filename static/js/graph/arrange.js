// Asks the worker for a layout by Graphviz. Without an answer in time the caller keeps the layout that it has.

let worker = null;
let number = 0;
let asked = new Map();

/** Start the worker before it is needed: it loads Graphviz, 1.2 MB. */
export function prepare() {
  if (worker) return;
  // The page knows the worker's name with its hash; a name in a script is not rewritten when static files are collected.
  const named = document.querySelector("[data-layout-worker]")?.dataset.layoutWorker;
  worker = new Worker(named ?? new URL("./layout_worker.js", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }) => settle(data.number, data.trouble ? null : data);
  worker.onerror = stop;
}

/**
 * A layout of `nodes` and `edges` for a `room` ({width, height} in pixels), as `adopt` of layout.js takes it; null if there is
 * none after `limitMs`, or if Graphviz failed.
 */
export function arrange(nodes, edges, room, limitMs) {
  prepare();
  number += 1;
  const mine = number;
  const plain = nodes.map(({ id, kind, round, first_seq }) => ({ id, kind, round, first_seq }));
  return new Promise((resolve) => {
    asked.set(mine, { resolve, timer: setTimeout(stop, limitMs) });
    worker.postMessage({ number: mine, nodes: plain, edges: edges.map(({ id, source, target }) => ({ id, source, target })), room });
  });
}

function settle(which, found) {
  const waiting = asked.get(which);
  if (!waiting) return;
  asked.delete(which);
  clearTimeout(waiting.timer);
  waiting.resolve(found?.positions ? found : null);
}

/** A layout cannot be interrupted, so the worker ends; the next request starts another. */
function stop() {
  worker?.terminate();
  worker = null;
  const all = asked;
  asked = new Map();
  for (const { resolve, timer } of all.values()) {
    clearTimeout(timer);
    resolve(null);
  }
}
