// The chart of the agreement page, redrawn when the theme changes.

import { drawCharts } from "./run/charts.js";

const found = document.getElementById("agreement");
const draw = () => drawCharts(found, { url: found.dataset.figures, src: found.dataset.plotly });

draw();
document.addEventListener("themechange", draw);
