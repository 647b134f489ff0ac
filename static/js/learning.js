// The charts of a simulated schedule: drawn when the page is shown and again when the theme changes.

import { drawCharts } from "./run/charts.js";

const found = document.getElementById("schedule");
const draw = () => drawCharts(found, { url: found.dataset.figures, src: found.dataset.plotly });

draw();
document.addEventListener("themechange", draw);
