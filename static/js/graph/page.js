// The lemma graph on a page: fetches its data, keeps it up to date, and ties drawing, outline, controls and addresses together.
// The markup is templates/lemmas/_graph.html; panels are the caller's.
import { mountCards } from "./cards.js";
import { Controls, readAddress, writeAddress } from "./controls.js";
import { moveInGraph } from "./keys.js";
import { NEAR } from "./labels.js";
import { mountLanes } from "./lanes.js";
import { drawLegend } from "./legend.js";
import { mountMinimap } from "./minimap.js";
import { pillWords } from "./nouns.js";
import { Outline } from "./outline.js";
import { readTokens } from "./style.js";
import { svgOf } from "./svg.js";
import { throttled } from "../throttled.js";
import { showTip } from "./tip.js";
import { GraphView } from "./view.js";

const REFRESH_MS = 250;
const SAY_MS = 10_000;
const MINIMAP_MS = 120;

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
  const state = { seq: 0, base: "", follow: true, fresh: 0, said: 0, unsaid: [] };
  const outline = new Outline(root, (id) => choose(id));
  const controls = new Controls(root, view, {
    choose: (id) => choose(id),
    stay: () => stay(),
    changed: ({ hasGrown }) => {
      if (!hasGrown) {
        state.follow = true;
        view.fit();
      }
      outline.filter(controls.focusing.mode === "overview" ? () => true : (id) => view.isShown(id));
    },
  });

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
    part("empty").hidden = data.nodes.length > 1;
    controls.fillNumbers(data);
    const asked = readAddress();
    await view.setGraph(data, asked.node);
    await controls.apply(asked.node || asked.hide || asked.focus ? asked : { focus: controls.first }, { write: false });
    if (asked.node) choose(asked.node, { write: false });
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
    controls.fillNumbers(data);
    controls.grown();
    if (!added.length && !voted.length && !data.edges.length) return;
    part("empty").hidden = view.graph.nodes.size > 1;
    if (state.follow) view.fit();
    else state.fresh += added.length;
    showPill();
    outline.refresh();
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
      part("live").textContent = `${view.stage} ${round}: ${lemmas} new, ${votes} with new votes; ${view.graph.nodes.size - 1} in all.`;
    }, Math.max(0, state.said + SAY_MS - Date.now()));
  }

  /** Leave the overview for the group of a lemma that it does not draw. */
  async function openGroup(id) {
    const { round, rollout } = view.graph.nodes.get(id);
    if (view.isDrawn(id)) return;
    await controls.apply({ focus: "group", round, rollout, node: id });
    view.select(id);
  }

  function choose(id, { notify = true, write = true, reveal = true } = {}) {
    if (!view.select(id, { reveal })) return false;
    if (id && reveal && controls.focusing.mode === "overview") openGroup(id);
    outline.mark(id);
    controls.chosen(id);
    if (write) writeAddress({ node: id });
    if (notify) onSelect(id, view.graph.nodes.get(id), urlOf(id));
    return true;
  }

  // --- wiring ---

  /** The reader looks around: the drawing stays where it is when lemmas arrive. */
  function stay() {
    state.follow = false;
  }

  function zoom(factor) {
    stay();
    view.zoomBy(factor);
  }

  async function tidy() {
    if ((await view.tidy()) !== null) return;
    part("trouble").hidden = false;
    part("trouble").textContent = "The graph is too large for a new layout within half a minute. Show a part of it, then press Tidy.";
  }

  function download(content, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(content);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), SAY_MS);
  }

  async function fullScreen() {
    const frame = root.closest("[data-full-screen]") ?? root;
    if (document.fullscreenElement) await document.exitFullscreen();
    else await frame.requestFullscreen?.();
  }

  const actions = {
    fit: follow,
    "zoom-in": () => zoom(1.3),
    "zoom-out": () => zoom(1 / 1.3),
    "full-screen": fullScreen,
    tidy,
    png: async () => download(await view.exportPng(), `${noun}s.png`),
    svg: () => download(new Blob([svgOf(view)], { type: "image/svg+xml" }), `${noun}s.svg`),
  };

  root.addEventListener("click", (event) => {
    const button = event.target.closest("[data-action]");
    if (button) actions[button.dataset.action]?.(button);
  });
  part("pill").addEventListener("click", follow);
  part("canvas").addEventListener("keydown", (event) => moveInGraph(event, view, choose, { fullScreen, zoom, fit: follow, search: () => part("search").focus() }));
  view.onSelect((id, node) => {
    if (node?.members) controls.apply({ focus: "group", round: node.round, rollout: node.rollout });
    else choose(id, { reveal: false });
  });
  view.onHover((node, box) => showTip(part("tip"), part("canvas"), view.cy.zoom() < NEAR ? node : null, box, view.rollouts));
  view.onViewport(stay);
  part("minimap").addEventListener("pointerdown", stay);
  const drawn = [mountLanes(view, part("lanes")), mountCards(view, part("cards"))];
  const drawMap = mountMinimap(view, part("minimap"), readTokens);
  const drawMapSoon = throttled(MINIMAP_MS, drawMap);
  view.onDraw(() => {
    for (const draw of drawn) draw();
    drawMapSoon();
  });
  const resized = new ResizeObserver(() => (state.follow ? view.fit() : view.cy.resize()));
  resized.observe(part("canvas"));
  drawLegend(part("legend"), noun);

  const ready = start().catch((reason) => {
    part("trouble").hidden = false;
    part("trouble").textContent = `The graph could not be loaded (${reason.message}). The outline below says the same; load the page again to draw it.`;
  });

  root.lemmaGraph = {
    refresh,
    view,
    ready,
    focus: (mode, id = view.selected, depth = 0) => controls.apply({ focus: mode, node: id, depth }),
    select: (id) => choose(id, { notify: false }),
    asOf: (then) => {
      view.asOf(then);
      controls.grown();
      outline.asOf(then);
      part("empty").hidden = view.graph.nodes.size > 1;
      part("empty").textContent = part("empty").dataset.before;
    },
    destroy: () => {
      refresh.stop();
      drawMapSoon.stop();
      outline.stop();
      resized.disconnect();
      view.destroy();
    },
  };
  return root.lemmaGraph;
}
