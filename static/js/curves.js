// The charts of the page of budgets, redrawn when the theme changes. Their figures are in the page.

import { drawCharts } from "./run/charts.js";

const found = document.getElementById("curves");
const stored = document.getElementById("curve-figures");
const draw = () => drawCharts(found, { figures: JSON.parse(stored.textContent), src: found.dataset.plotly });

if (found && stored) {
  draw();
  document.addEventListener("themechange", draw);
}
