// The page of a run: frames from the socket update header, timeline, graph, panel and agents. Everything shown is recorded on
// the server. Without this script the page shows the run as of loading.
import { fetchPart } from "../fetch_part.js";
import { mountLemmaGraph } from "../graph/page.js";
import { mountProofDiffs } from "../proof_diff.js";
import { toast } from "../site.js";
import { throttled } from "../throttled.js";
import { drawCharts } from "./charts.js";
import { FrameLoop } from "./frames.js";
import { KIND } from "./kinds.js";
import { Lanes } from "./lanes.js";
import { mountDivider, mountSheet } from "./panes.js";
import { mountReplay } from "./replay.js";
import { RunStream } from "./run_stream.js";
import { mountSolutions, showSolution, SOLUTION_KINDS } from "./solutions.js";
import { compact, duration, liveness, showInherited } from "./words.js";

const TIMELINE_MS = 500;
const HEADER_MS = 400;
const PANEL_MS = 1500;
const REPLAY_PANEL_MS = 700;
/** Time after the page became live until an idle call counts as waiting for the model. */
const SURE_MS = 2000;
const WATCHING = new Set(["connecting", "catching-up", "live", "stopped"]);
const ENDED = new Set(["finished", "cancelled", "needs_fork"]);
const GRAPH_KINDS = /^(lemma|edge|vote|verdict|proof|control|formulas)\./;
const TIMELINE_KINDS = /^(round|call|vote|verdict|lemma|proof)\./;
const HEADER_KINDS = /^(run|control|budget)\./;
const LINK_WORDS = { connecting: "connecting", "catching-up": "catching up", live: "live", "signed-out": "signed out; sign in again to watch", gone: "this run no longer exists" };

const page = document.querySelector("[data-run]");
const panel = document.getElementById("panel");
const state = { run: { status: page.dataset.live === "yes" ? "queued" : "" }, known: false, generating: {}, link: null, lost: new Set(), newCalls: 0, missed: false, liveSince: Infinity, concluding: false };

const part = (name) => page.querySelector(`#run-header [data-part="${name}"]`);
/** Fetch a part of the page. After a failure all parts are fetched again when the page is live again. */
const fetchInto = (url, target, swap) =>
  fetchPart(url, target, swap).catch(() => {
    state.missed = true;
  });

// --- graph and panel ---

mountDivider(page);
const openSheet = mountSheet(page);
const drawing = page.querySelector("[data-lemma-graph]");
/** Null object for scaffolds without a graph. */
const noGraph = { select: () => {}, refresh: () => {}, view: { selected: "" } };
const graph = drawing ? mountLemmaGraph(drawing, {
  onSelect: (id) => {
    if (drawing.dataset.noun === "solution") showSolution(page, id);
    else if (id.startsWith("proof/")) showPanel({ tab: "proof", proof: id.slice("proof/".length) });
    else if (id && id !== "problem") showPanel({ tab: "lemma", lemma: id });
  },
}) : noGraph;
const solutions = mountSolutions(page, fetchInto);

let shown = panelOfAddress();
/** The current event of the replay; 0 when the page shows the end. */
let asOf = 0;
let isReplayable = false;

function panelOfAddress() {
  const query = new URLSearchParams(location.search);
  const tab = panel.querySelector("[data-tab-shown]")?.dataset.tabShown ?? "agents";
  const subject = panel.querySelector("[data-lemma]")?.dataset.lemma ?? query.get("lemma") ?? "";
  const drawn = page.dataset.live === "yes" ? panel.querySelector("[data-proof]")?.dataset.proof?.replace("proof/", "") : "";
  const proof = query.get("proof") ?? drawn ?? "";
  return { tab, ...(tab === "lemma" && subject ? { lemma: subject } : {}), ...(tab === "proof" && proof ? { proof } : {}) };
}

function showPanel(wanted, { keep = false } = {}) {
  shown = wanted;
  if (!keep) openSheet();
  const url = new URL(location.href);
  for (const name of ["tab", "lemma", "proof", "role"]) url.searchParams.delete(name);
  for (const [name, value] of Object.entries(wanted)) url.searchParams.set(name, value);
  if (!keep) history.replaceState(history.state, "", url);
  const top = keep ? panel.scrollTop : 0;
  const opened = keep ? [...panel.querySelectorAll("details[data-keep][open]")].map((details) => details.dataset.keep) : [];
  const query = new URLSearchParams(asOf ? { ...wanted, at: asOf } : wanted);
  return fetchInto(`${page.dataset.panelUrl}?${query}`, panel, "innerHTML").then(() => {
    for (const name of opened) panel.querySelector(`details[data-keep="${name}"]`)?.setAttribute("open", "");
    panel.scrollTop = top;
  });
}

panel.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-tab], a[data-node-link], a[data-tab-link]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (link.dataset.nodeLink) {
    const id = link.dataset.nodeLink;
    graph.select(id);
    showPanel(id.startsWith("proof/") ? { tab: "proof", proof: id.slice("proof/".length) } : { tab: "lemma", lemma: id });
  } else {
    const wanted = Object.fromEntries(new URL(link.href).searchParams);
    if (wanted.tab === "lemma" && !wanted.lemma && graph.view.selected && !graph.view.selected.startsWith("proof")) wanted.lemma = graph.view.selected;
    showPanel(wanted);
  }
});

function dress() {
  mountProofDiffs(panel);
  const charts = panel.querySelector("[data-charts]");
  if (charts) drawCharts(charts, { url: asOf ? `${page.dataset.chartsUrl}?at=${asOf}` : page.dataset.chartsUrl, src: page.dataset.plotly });
}

panel.addEventListener("htmx:afterSettle", dress);
document.addEventListener("themechange", dress);
dress();

function renewPanel() {
  const isReading = panel.contains(document.activeElement) && document.activeElement.matches("input, textarea, select");
  return isReading ? Promise.resolve() : showPanel(shown, { keep: true });
}
const refreshPanel = throttled(PANEL_MS, renewPanel);
const followReplay = throttled(REPLAY_PANEL_MS, () => (asOf ? renewPanel() : Promise.resolve()));

/** Does this event change what the panel shows? */
function concernsPanel({ kind, body }) {
  if (shown.tab === "lemma") return GRAPH_KINDS.test(kind) && (body.subject === shown.lemma || body.lemma === shown.lemma || kind.startsWith("control."));
  if (shown.tab === "proof") return kind.startsWith("proof.") || (body.subject ?? "").startsWith("proof/");
  if (shown.tab === "established") return kind === KIND.VERDICT_REACHED || kind.startsWith("control.");
  return shown.tab === "agents" && (kind === KIND.CALL_ENDED || kind === KIND.CALL_FAILED || kind.startsWith("formulas."));
}

/** Does an event of this kind change the log or the charts? A live page does not refresh these by itself. */
const concernsHistory = (kind) => ["log", "charts"].includes(shown.tab) && /^(call\.(ended|failed)|verdict\.reached)$/.test(kind);

function countNewCalls() {
  const place = panel.querySelector("#log .muted");
  if (shown.tab !== "log" || !place) return;
  state.newCalls += 1;
  let pill = panel.querySelector("[data-part='log-new']");
  if (!pill) {
    pill = document.createElement("button");
    pill.type = "button";
    pill.className = "button button--small";
    pill.dataset.part = "log-new";
    pill.addEventListener("click", () => {
      state.newCalls = 0;
      showPanel(shown, { keep: true });
    });
    place.before(pill);
  }
  pill.textContent = `${state.newCalls} new call${state.newCalls === 1 ? "" : "s"}: show`;
}

// --- header and timeline ---

const refreshTimeline = throttled(TIMELINE_MS, async () => {
  const wasOpen = page.querySelector("[data-rounds]")?.open;
  await fetchInto(page.dataset.timelineUrl, "#run-timeline", "outerHTML");
  if (wasOpen) page.querySelector("[data-rounds]")?.setAttribute("open", "");
});
const refreshHeader = throttled(HEADER_MS, async () => {
  if (page.querySelector("#run-header details.menu[open]:not(#steering)")) return;
  await fetchInto(page.dataset.headerUrl, "#run-header", "outerHTML");
});

function showState() {
  const place = part("liveness");
  const isWatching = WATCHING.has(state.link?.state ?? "connecting");
  const calls = isWatching ? state.generating : Object.fromEntries(Object.entries(state.generating).map(([call, { n }]) => [call, { n, rate: 0 }]));
  const found = state.known ? liveness(state.run, calls, lanes?.running ?? 0, {
    sure: performance.now() - state.liveSince > SURE_MS, concluding: state.concluding,
  }) : null;
  const words = found && (isWatching ? found.words : `not connected; last known: ${found.words}`);
  if (found && place && place.textContent !== words) {
    place.textContent = words;
    place.className = `status status--${isWatching ? found.state : "unknown"}`;
  }
  for (const box of page.querySelectorAll("#run-header [data-meter]")) showMeter(box);
}

/** The amount that running calls will add to a budget when they end: tokens written so far, or the number of calls. */
function underWay(name) {
  if (!lanes || state.run.status === "queued" || ENDED.has(state.run.status)) return 0;
  if (name === "calls") return lanes.running;
  return name === "tokens" ? Object.values(state.generating).reduce((sum, call) => sum + call.n, 0) : 0;
}

function showMeter(box) {
  const name = box.dataset.meter;
  const used = state.run[name];
  if (used === undefined) return;
  const words = name === "seconds" ? duration : compact;
  const more = underWay(name);
  box.querySelector('[data-part="used"]').textContent = words(used);
  const running = box.querySelector('[data-part="under-way"]');
  running.hidden = !more;
  running.textContent = ` + ${words(more)}`;
  showInherited(box, state.run[`inherited_${name}`]);
  const limit = state.run.budget?.[name];
  const bar = box.querySelector(".meter");
  if (!limit || !bar) return;
  const share = Math.min(1, used / limit);
  box.querySelector('[data-part="limit"]').textContent = words(limit);
  bar.style.setProperty("--value", share.toFixed(4));
  bar.style.setProperty("--reach", Math.min(1, (used + more) / limit).toFixed(4));
  bar.setAttribute("aria-valuenow", String(Math.round(used)));
  bar.setAttribute("aria-valuemax", String(Math.round(limit)));
  bar.classList.toggle("meter--warn", share >= 0.8 && share < 1);
  bar.classList.toggle("meter--full", share >= 1);
}

function showLink() {
  const place = part("link");
  if (!place || !state.link) return;
  const { state: name, retryMs } = state.link;
  place.hidden = name === "stopped";
  place.className = `badge${name === "live" ? " badge--good" : " badge--warn"}`;
  place.textContent = name === "waiting" ? `connection lost; trying again in ${Math.max(1, Math.round(retryMs / 1000))} s` : (LINK_WORDS[name] ?? name);
}

/** Give a submitted form a new command id: its next submission is a new command. */
page.addEventListener("htmx:afterRequest", (event) => {
  const form = event.target.closest?.("form");
  if (!form?.querySelector('[name="command_id"]') || !event.detail.successful) return;
  form.querySelector('[name="command_id"]').value = crypto.randomUUID();
  if (form.closest("#steering")) form.reset();
});
page.addEventListener("htmx:afterSwap", (event) => {
  if (event.target.id !== "run-header" && !event.detail.elt?.closest?.("#run-header")) return;
  showState();
  showLink();
  const said = page.querySelector("#run-header [data-said]");
  if (said) {
    toast(said.textContent, { error: said.dataset.said === "error" });
    said.remove();
  }
  const wasResumed = part("liveness")?.classList.contains("status--queued");
  if (wasResumed) stream?.start();
});

// --- live ---

let stream = null;
let lanes = null;

function takeEvent(event) {
  const { kind, body } = event;
  if (kind === KIND.CALL_BEGAN) lanes.began(body);
  else if (kind === KIND.CALL_RETRIED) lanes.retried(body);
  else if (kind === KIND.CALL_ENDED || kind === KIND.CALL_FAILED) {
    delete state.generating[body.call];
    lanes.ended(body.call, body.reason ?? "");
    countNewCalls();
    if (page.querySelector('#run-header [data-meter="money"]')) refreshHeader();
  }
  if (TIMELINE_KINDS.test(kind)) refreshTimeline();
  if (GRAPH_KINDS.test(kind)) graph.refresh();
  if (SOLUTION_KINDS.test(kind)) {
    solutions.refresh();
    graph.refresh();
  }
  if (HEADER_KINDS.test(kind)) refreshHeader();
  if (concernsPanel(event)) refreshPanel();
  if (kind === KIND.PROOF_SELECTED) {
    state.concluding = true;
    showState();
    if (shown.tab === "agents") showPanel({ tab: "proof" });
  }
}

function takeState(frame) {
  const before = state.run.status;
  const wasStalled = state.run.stalled;
  state.run = frame;
  state.known = true;
  state.generating = frame.generating ?? state.generating;
  lanes.generating(state.generating);
  if (before !== frame.status || wasStalled !== frame.stalled) refreshHeader();
  showState();
  if (ENDED.has(frame.status) && stream.seq >= frame.seq) {
    stream.stop();
    lanes.closeAll();
    refreshHeader();
    refreshTimeline();
    const empty = drawing?.querySelector('[data-part="empty"]');
    if (empty) empty.textContent = empty.dataset.ended;
    offerReplay();
  }
}

const handlers = {
  event: ({ event }) => takeEvent(event),
  piece: ({ item }) => lanes.piece(item),
  text: (frame) => lanes.snapshot(frame),
  resync: ({ calls }) => lanes.resync(calls),
  state: takeState,
  counters: ({ calls }) => {
    state.generating = calls;
    lanes.generating(calls);
    showState();
  },
  hello: () => {},
};

function catchUp() {
  state.missed = false;
  refreshHeader();
  refreshTimeline();
  refreshPanel();
  graph.refresh();
  solutions.refresh();
}

function goLive() {
  const loop = new FrameLoop({
    apply: (item) => handlers[item.t]?.(item),
    dropped: (calls) => calls.forEach((call) => state.lost.add(call)),
  });
  const { protocol, host } = location;
  stream = new RunStream(`${protocol === "https:" ? "wss" : "ws"}://${host}${page.dataset.socket}`, {
    after: Number(page.dataset.seq),
    onFrame: (frame) => loop.push(frame),
    onUndone: () => window.location.reload(),
    onLink: (link) => {
      if (link.state === "live" && state.link?.state !== "live") {
        state.liveSince = performance.now();
        setTimeout(showState, SURE_MS + 100);
      }
      state.link = link;
      showLink();
      showState();
      if (link.state === "live" && state.missed) catchUp();
    },
  });
  const base = location.pathname.replace(/\/?$/, "/");
  lanes = new Lanes(document.getElementById("lanes"), { stream, callUrl: (call) => `${base}calls/${call.split("/").map(encodeURIComponent).join("/")}/` });
  stream.start();
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    stream.check();
    lanes.resync(state.lost);
    state.lost.clear();
  });
  addEventListener("online", () => stream.check());
}

/** Offer the replay of a run that has ended. */
function offerReplay() {
  if (isReplayable) return;
  isReplayable = true;
  mountReplay(page, {
    graph,
    graphUrl: drawing?.dataset.graphUrl ?? "",
    moved: (seq, passed) => {
      const isFirst = !asOf;
      asOf = seq;
      const label = panel.querySelector('[data-part="as-of"]');
      if (label) label.textContent = `As of event ${seq}.`;
      if (isFirst || passed.some(([, , kind, body]) => concernsPanel({ kind, body }) || concernsHistory(kind))) followReplay();
    },
    done: () => {
      asOf = 0;
      refreshHeader();
      refreshTimeline();
      showPanel(shown, { keep: true });
    },
  });
}

// A failed run can be resumed from this page, so its socket is opened too.
if (page.dataset.live === "yes" || page.querySelector("#run-header .status--failed")) goLive();
if (page.dataset.live !== "yes") offerReplay();
