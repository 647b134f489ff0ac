// The lemma graph on a page: fetches its data, keeps it up to date, and ties drawing, outline, focus controls and addresses
// together. The markup is templates/lemmas/_graph.html; panels are the caller's.
import { MODES } from "./focus.js";
import { moveInOutline, moveInGraph } from "./keys.js";
import { nodeName, nodeState, outlineAsOf, pillWords } from "./nouns.js";
import { drawLegend } from "./style.js";
import { fetchPart } from "../fetch_part.js";
import { announce, drawText } from "../proof_diff.js";
import { throttled } from "../throttled.js";
import { GraphView } from "./view.js";

const REFRESH_MS = 250;
const OUTLINE_MS = 1500;
const FOLDED_OUTLINE_MS = 3000;
const SAY_MS = 10_000;
const PARAMETERS = ["focus", "node", "depth", "round", "rollout", "layout"];

/**
 * Mount the graph into `root` (the element of `_graph.html`).
 * `onSelect(id, node, url)` is called when a user selects a node ("" for none). Returns
 * `{refresh, focus, select, view, ready, destroy}`: `refresh()` may be called for every event, it fetches at most four times
 * a second; `select(id)` selects without calling it; `ready` resolves when the first data is drawn. `root.lemmaGraph` is the same.
 */
export function mountLemmaGraph(root, { dataUrl = root.dataset.graphUrl, onSelect = () => {} } = {}) {
  const part = (name) => root.querySelector(`[data-part="${name}"]`);
  const noun = root.dataset.noun ?? "lemma";
  const view = new GraphView(part("canvas"));
  const state = { seq: 0, base: "", follow: true, fresh: 0, outlineTimer: 0, said: 0, unsaid: [] };

  const urlOf = (id) => {
    if (!id || id === "problem" || noun !== "lemma") return "";
    const path = id.split("/").map(encodeURIComponent).join("/");
    return `${state.base}${id.startsWith("proof/") ? path.replace("proof/", "proofs/") : `lemmas/${path}`}/`;
  };

  async function load(after) {
    const response = await fetch(after ? `${dataUrl}?after=${after}` : dataUrl, { headers: { Accept: "application/json" } });
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    return response.json();
  }

  async function start() {
    const data = await load(0);
    state.seq = data.seq;
    state.base = data.base;
    const asked = readAddress();
    view.setGraph(data, { tidied: asked.layout === "tidy" });
    part("tidy").setAttribute("aria-pressed", String(asked.layout === "tidy"));
    part("empty").hidden = data.nodes.length > 1;
    fillNumbers(data);
    applyFocus(asked, { write: false });
    if (asked.node) choose(asked.node, { notify: true, write: false });
    view.fit();
  }

  const refresh = throttled(REFRESH_MS, async () => {
    try {
      await ready;
      const data = await load(state.seq);
      state.seq = data.seq;
      take(data);
      part("trouble").hidden = true;
    } catch (reason) {
      part("trouble").hidden = false;
      part("trouble").textContent = `The graph could not be brought up to date (${reason.message}). It tries again with the next event.`;
    }
  });

  function take(data) {
    const { added, voted } = view.applyDelta(data);
    fillNumbers(data);
    countFocus();
    if (!added.length && !voted.length && !data.edges.length) return;
    part("empty").hidden = view.graph.nodes.size > 1;
    if (state.follow) view.fit();
    else state.fresh += added.length;
    showPill();
    refreshOutline();
    say(added.length, voted.length, data.rounds);
  }

  function showPill() {
    part("pill").hidden = !state.fresh;
    part("pill").textContent = pillWords(noun, state.fresh);
  }

  function follow() {
    state.follow = true;
    state.fresh = 0;
    showPill();
    view.fit();
  }

  function say(added, voted, round) {
    state.unsaid.push([added, voted]);
    if (state.unsaid.length > 1) return;
    setTimeout(() => {
      const [lemmas, votes] = state.unsaid.reduce(([a, b], [c, d]) => [a + c, b + d], [0, 0]);
      state.unsaid = [];
      state.said = Date.now();
      part("live").textContent = `Round ${round}: ${lemmas} new, ${votes} with new votes; ${view.graph.nodes.size - 1} in all.`;
    }, Math.max(0, state.said + SAY_MS - Date.now()));
  }

  // --- choice and focus ---

  function choose(id, { notify = true, write = true, reveal = true } = {}) {
    if (!view.select(id, { reveal })) return false;
    markOutline(id);
    if (["ancestors", "descendants"].includes(view.focusing.mode)) view.focus({ ...view.focusing, id });
    countFocus();
    if (write) writeAddress({ node: id });
    if (notify) onSelect(id, view.graph.nodes.get(id), urlOf(id));
    return true;
  }

  function applyFocus({ focus: mode = "all", depth = 0, round = 0, rollout = 0, node = view.selected }, { write = true } = {}) {
    const known = Object.hasOwn(MODES, mode) ? mode : "all";
    view.focus({ mode: known, id: node, depth: Number(depth) || 0, round: Number(round) || 0, rollout: Number(rollout) || 0 });
    part("focus").value = known;
    part("depth").value = String(Number(depth) || 0);
    part("round").value = String(Number(round) || 1);
    part("depth").closest("label").hidden = !["ancestors", "descendants"].includes(known);
    part("rollout").value = String(Number(rollout) || 0);
    part("round").closest("label").hidden = known !== "round";
    part("rollout").closest("label").hidden = known !== "rollout";
    countFocus();
    if (!write) return;
    const numbers = { round: known === "round" ? Number(round) || 1 : 0, rollout: known === "rollout" ? String(Number(rollout) || 0) : "" };
    writeAddress({ focus: known, depth: Number(depth) || 0, ...numbers });
  }

  function countFocus() {
    const needsNode = ["ancestors", "descendants"].includes(view.focusing.mode) && !view.selected;
    const all = view.graph.nodes.size - 1;
    part("count").textContent = needsNode ? `choose a ${noun}` : view.shown === all ? `${all} ${all === 1 ? "node" : "nodes"}` : `${view.shown} of ${all}`;
  }

  function focusFromControls() {
    applyFocus({ focus: part("focus").value, depth: part("depth").value, round: part("round").value, rollout: part("rollout").value });
    view.fit();
  }

  /** Rounds count from 1, rollouts from 0. */
  function fillNumbers({ rounds, rollouts }) {
    for (const [name, count, first] of [["round", rounds, 1], ["rollout", rollouts, 0]]) {
      const { options } = part(name);
      while (options.length < count) options.add(new Option(String(options.length + first)));
    }
    part("focus").querySelector('[value="rollout"]').hidden = rollouts < 2;
  }

  function readAddress() {
    const query = new URLSearchParams(location.search);
    return Object.fromEntries(PARAMETERS.filter((name) => query.has(name)).map((name) => [name, query.get(name)]));
  }

  function writeAddress(changes) {
    const url = new URL(location.href);
    for (const [name, value] of Object.entries(changes)) {
      if (!value || value === "all") url.searchParams.delete(name);
      else url.searchParams.set(name, value);
    }
    history.replaceState(history.state, "", url);
  }

  // --- outline ---

  function refreshOutline() {
    if (!root.dataset.outlineUrl || state.outlineTimer) return;
    state.outlineTimer = setTimeout(fetchOutline, part("outline").closest("details").open ? OUTLINE_MS : FOLDED_OUTLINE_MS);
  }

  async function fetchOutline() {
    state.outlineTimer = 0;
    const outline = part("outline");
    try {
      const held = outline.contains(document.activeElement) ? document.activeElement.dataset.node : "";
      await fetchPart(root.dataset.outlineUrl, outline);
      markOutline(view.selected);
      if (held) outline.querySelector(`[data-node="${CSS.escape(held)}"]`)?.focus();
    } catch {
      refreshOutline();
    }
  }

  /** The user opens the outline: fetch waiting rows now. */
  function openOutline() {
    if (!state.outlineTimer || !part("outline").closest("details").open) return;
    clearTimeout(state.outlineTimer);
    fetchOutline();
  }

  function markOutline(id) {
    const rows = [...part("outline").querySelectorAll("[data-node]")];
    const chosen = rows.find((row) => row.dataset.node === id) ?? rows[0];
    for (const row of rows) {
      row.tabIndex = row === chosen ? 0 : -1;
      row.toggleAttribute("aria-current", row.dataset.node === id && Boolean(id));
    }
  }

  // --- wiring ---

  function hover(node, box) {
    const tip = part("tip");
    tip.hidden = !node;
    if (!node) return;
    tip.replaceChildren();
    const name = document.createElement("strong");
    name.textContent = nodeName(node, view.rollouts);
    const votes = nodeState(node);
    const words = document.createElement("span");
    words.className = "muted";
    words.textContent = [votes, node.check === "refuted" ? "a formula refuted" : ""].filter(Boolean).map((said) => ` · ${said}`).join("");
    const statement = document.createElement("p");
    drawText(statement, node.statement);
    tip.append(name, words, statement);
    announce(statement);
    const area = part("canvas");
    tip.style.left = `${Math.max(0, Math.min(box.x1, area.clientWidth - tip.offsetWidth - 8))}px`;
    const below = box.y2 + 8;
    tip.style.top = `${below + tip.offsetHeight < area.clientHeight ? below : Math.max(0, box.y1 - tip.offsetHeight - 8)}px`;
  }

  const actions = {
    fit: follow,
    "zoom-in": () => view.zoomBy(1.3),
    "zoom-out": () => view.zoomBy(1 / 1.3),
    tidy: (button) => {
      const undo = button.getAttribute("aria-pressed") === "true";
      if (undo) view.untidy();
      else view.tidy();
      button.setAttribute("aria-pressed", String(!undo));
      writeAddress({ layout: undo ? "" : "tidy" });
    },
    png: async () => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(await view.exportPng());
      link.download = "lemmas.png";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), SAY_MS);
    },
  };

  root.addEventListener("click", (event) => {
    const button = event.target.closest("[data-action]");
    if (button) actions[button.dataset.action]?.(button);
    const row = event.target.closest('[data-part="outline"] [data-node]');
    if (row && !event.ctrlKey && !event.metaKey && choose(row.dataset.node)) event.preventDefault();
  });
  part("pill").addEventListener("click", follow);
  part("outline").closest("details").addEventListener("toggle", openOutline);
  for (const name of ["focus", "depth", "round", "rollout"]) part(name).addEventListener("change", focusFromControls);
  part("canvas").addEventListener("keydown", (event) => moveInGraph(event, view, choose));
  part("outline").addEventListener("keydown", (event) => moveInOutline(event, choose));
  view.onSelect((id) => choose(id, { reveal: false }));
  view.onHover(hover);
  view.onViewport(() => {
    state.follow = false;
  });
  const resized = new ResizeObserver(() => (state.follow ? view.fit() : view.cy.resize()));
  resized.observe(part("canvas"));
  drawLegend(part("legend"), noun);
  if (matchMedia("(max-width: 900px)").matches) part("legend").closest("details").open = false;
  markOutline("");

  const ready = start().catch((reason) => {
    part("trouble").hidden = false;
    part("trouble").textContent = `The graph could not be loaded (${reason.message}). The outline below says the same; load the page again to draw it.`;
  });

  root.lemmaGraph = {
    refresh,
    view,
    ready,
    focus: (mode, id = view.selected, depth = 0) => applyFocus({ focus: mode, node: id, depth }),
    select: (id) => choose(id, { notify: false }),
    asOf: (then) => {
      view.asOf(then);
      countFocus();
      outlineAsOf(part("outline"), then);
      part("empty").hidden = view.graph.nodes.size > 1;
      part("empty").textContent = part("empty").dataset.before;
    },
    destroy: () => {
      refresh.stop();
      clearTimeout(state.outlineTimer);
      resized.disconnect();
      view.destroy();
    },
  };
  return root.lemmaGraph;
}
