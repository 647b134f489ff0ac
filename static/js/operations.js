// Charts of the operations page: drawn when the page is shown, every half minute, and when the theme changes.

import { drawCharts } from "./run/charts.js";

const EVERY_MS = 30_000;
const history = document.getElementById("history");

function draw() {
  if (!document.hidden) drawCharts(history, { url: history.dataset.history, src: history.dataset.plotly });
}

draw();
setInterval(draw, EVERY_MS);
document.addEventListener("themechange", draw);
document.addEventListener("visibilitychange", draw);
