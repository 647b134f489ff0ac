// Curves of a training job, or of runs side by side: fetched repeatedly while one trains, drawn in the page's colours. A click on
// a point of a job shows its rows. The ticks of a table of runs choose whose curves are drawn.

import { fetchPart } from "./fetch_part.js";
import { plotly, themed } from "./run/charts.js";

const EVERY_MS = 2000;
const root = document.getElementById("curves");
const state = root.querySelector("[data-curves-state]");
const place = root.querySelector("[data-charts]");
const asked = { x: "step", smooth: false, log: false };
const RUN_COLOURS = ["--accent", "--series-1", "--series-2", "--series-3", "--bad", "--series-4"]; // As in learning.css.
const RUN_DASHES = ["solid", "dash", "dot", "longdash", "dashdot", "longdashdot"];
const PALE = 0.35; // Of the values below a smoothed line.
const BAND_ALPHA = "2b"; // Appended to a colour of the tokens, which are written as #rrggbb.
const visible = new Set(); // Charts in or near the viewport; the others are drawn when they get there.
const stale = new Set(); // Charts with newer curves than those drawn.
const sight = new IntersectionObserver(updateVisible, { rootMargin: "50px" });
let seen = "";
let charts = [];
let isDrawing = false;
let underWay = false;
let again = false; // Something else was asked for during an update.
let timer = 0;

function address() {
  const url = new URL(root.dataset.curves, location.href);
  const width = Math.round((place.querySelector("[data-chart]")?.clientWidth || 420) * Math.min(2, devicePixelRatio));
  url.searchParams.set("x", asked.x);
  url.searchParams.set("width", String(width));
  if (asked.smooth) url.searchParams.set("smooth", "1");
  if (seen) url.searchParams.set("seen", seen);
  for (const run of document.querySelectorAll("[data-draw]:checked")) url.searchParams.append("job", run.dataset.draw);
  return url;
}

function boxOf(chart) {
  let figure = place.querySelector(`[data-figure="${chart.name}"]`);
  if (!figure) {
    figure = document.createElement("figure");
    figure.className = "training-chart";
    figure.dataset.figure = chart.name;
    const caption = document.createElement("figcaption");
    caption.textContent = chart.title;
    caption.title = chart.about;
    const box = document.createElement("div");
    box.className = "chart";
    box.dataset.chart = chart.name;
    box.setAttribute("role", "img");
    box.setAttribute("aria-label", `${chart.title}. ${chart.about}`);
    figure.append(caption, box);
    place.append(figure);
    sight.observe(box);
  }
  return figure.querySelector("[data-chart]");
}

/** Colour at a position on the ramp of five colours, interpolated. */
function onRamp(at, token) {
  const [low, high] = [Math.floor(at), Math.ceil(at)].map((step) => token(`--ramp-${step}`));
  const part = (hex, from) => Number.parseInt(hex.slice(from, from + 2), 16);
  const mixed = (from) => Math.round(part(low, from) + (at % 1) * (part(high, from) - part(low, from)));
  return `rgb(${[1, 3, 5].map(mixed).join(", ")})`;
}

/** Name, colour and dash of a run's curve, as its row in the table has them. */
function asRun(trace, token) {
  const { label, colour, dash } = document.querySelector(`[data-draw="${trace.meta.run}"]`)?.dataset ?? {};
  if (label === undefined) return null;
  trace.name = label;
  trace.line = { ...trace.line, dash: RUN_DASHES[dash] };
  return token(RUN_COLOURS[colour]);
}

/** Give a curve the same colour in every job; jobs differ in their dashes. Runs side by side have their own colours. */
function coloured(figure) {
  const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const palette = ["--accent", "--good", "--bad", "--warn", "--ink", "--muted"].map(token);
  const { data, layout } = themed(figure);
  for (const trace of data) {
    const { number, shade, pale, band } = trace.meta;
    const plain = () => (shade === undefined ? palette[number % palette.length] : onRamp(shade, token));
    const colour = asRun(trace, token) ?? plain();
    if (trace.type === "bar") trace.marker = { color: colour };
    else trace.line = { ...trace.line, color: colour };
    if (shade !== undefined) trace.fillcolor = colour;
    if (band) trace.fillcolor = `${colour}${BAND_ALPHA}`;
    if (pale) trace.opacity = PALE;
  }
  const hoverlabel = { bgcolor: token("--surface"), bordercolor: token("--line"), font: { color: token("--ink") } };
  return { data, layout: { ...layout, hoverlabel, legend: { ...layout.legend, font: { color: token("--ink") } } } };
}

function draw() {
  const names = new Set(charts.map((chart) => chart.name));
  for (const figure of place.querySelectorAll("[data-figure]")) if (!names.has(figure.dataset.figure)) figure.remove();
  for (const chart of charts) {
    boxOf(chart);
    stale.add(chart.name);
  }
  return drawVisible();
}

function updateVisible(entries) {
  for (const { target, isIntersecting } of entries) visible[isIntersecting ? "add" : "delete"](target.dataset.chart);
  drawVisible().catch(reportDrawing);
}

/** Redraw visible stale charts, yielding after each one so that the page stays responsive. */
async function drawVisible() {
  if (isDrawing) return;
  isDrawing = true;
  try {
    const Plotly = await plotly(root.dataset.plotly);
    const next = () => charts.find(({ name }) => stale.has(name) && visible.has(name));
    for (let chart = next(); chart; chart = next()) {
      stale.delete(chart.name);
      await drawChart(Plotly, chart);
      await new Promise((done) => { setTimeout(done); });
    }
  } finally {
    isDrawing = false;
  }
}

async function drawChart(Plotly, chart) {
  const box = boxOf(chart);
  const { data, layout } = coloured(chart.figure);
  if (asked.log && chart.may_be_log) layout.yaxis = { ...layout.yaxis, type: "log", range: undefined, rangemode: "normal" };
  const isNew = !box.classList.contains("js-plotly-plot");
  await Plotly.react(box, data, layout, { displaylogo: false, responsive: true, displayModeBar: false });
  if (isNew && root.dataset.samples) box.on("plotly_click", (event) => showRows(event.points[0]));
}

function report(reason, action = "fetched") {
  state.hidden = false;
  state.textContent = `The curves could not be ${action} (${reason.message}). Trying again.`;
}

/** What is said where there are no charts. */
function empty() {
  const isUnticked = document.querySelector("[data-draw]") && !document.querySelector("[data-draw]:checked");
  return isUnticked ? "No run is ticked." : "No metrics yet. Curves appear after the first step.";
}

const reportDrawing = (reason) => report(reason, "drawn");

function showRows(point) {
  const step = point?.customdata;
  if (!Number.isInteger(step)) return;
  const url = new URL(root.dataset.samples, location.href);
  url.searchParams.set("step", String(step));
  fetchPart(url.pathname + url.search, "#samples").catch(() => {}); // The site's script reports an unreachable server.
  document.getElementById("samples").scrollIntoView({ block: "nearest" });
}

async function update() {
  again = underWay;
  if (underWay) return;
  underWay = true;
  clearTimeout(timer);
  let isLive = true;
  try {
    const response = await fetch(address(), { headers: { Accept: "application/json" } });
    if (response.status === 200) {
      const found = await response.json();
      ({ seen, charts } = found);
      isLive = found.live;
      state.textContent = charts.length ? "" : empty();
      state.hidden = charts.length > 0;
      await draw();
    } else if (response.status !== 204) throw new Error(`the server answered ${response.status}`);
  } catch (reason) {
    report(reason);
  } finally {
    underWay = false;
  }
  if (again) return update();
  if (isLive || document.querySelector("#job[hx-get], #runs[hx-get]")) timer = setTimeout(update, EVERY_MS);
}

for (const button of root.querySelectorAll("[data-axis]")) {
  button.addEventListener("click", () => {
    asked.x = button.dataset.axis;
    for (const other of root.querySelectorAll("[data-axis]")) other.setAttribute("aria-pressed", String(other === button));
    seen = "";
    update();
  });
}
root.querySelector("[data-smooth]").addEventListener("click", (event) => {
  asked.smooth = !asked.smooth;
  event.currentTarget.setAttribute("aria-pressed", String(asked.smooth));
  seen = "";
  update();
});
root.querySelector("[data-log]").addEventListener("click", (event) => {
  asked.log = !asked.log;
  event.currentTarget.setAttribute("aria-pressed", String(asked.log));
  draw().catch(reportDrawing);
});
function redraw() {
  seen = "";
  update();
}
document.addEventListener("change", (event) => event.target.matches("[data-draw]") && redraw());
document.addEventListener("click", (event) => {
  const all = event.target.closest("[data-draw-all]");
  if (!all) return;
  for (const box of document.querySelectorAll("[data-draw]")) box.checked = Boolean(all.dataset.drawAll);
  redraw();
});
document.addEventListener("themechange", () => draw().catch(reportDrawing));
addEventListener("beforeprint", () => { // Printing includes charts outside the viewport.
  if (!globalThis.Plotly) return;
  for (const chart of charts.filter(({ name }) => stale.delete(name))) drawChart(globalThis.Plotly, chart).catch(reportDrawing);
});
document.addEventListener("visibilitychange", () => document.hidden || update());
update();

// htmx replaces the part above the curves while the job trains; keep the user's open sections open.
let opened = [];
document.addEventListener("htmx:beforeSwap", () => {
  opened = [...document.querySelectorAll("#job details[id]")].map((one) => [one.id, one.open]);
});
document.addEventListener("htmx:afterSettle", () => {
  for (const [id, open] of opened) {
    const one = document.querySelector(`#job #${id}`);
    if (one) one.open = open;
  }
});
