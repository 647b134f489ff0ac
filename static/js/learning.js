// Charts of a simulated schedule: drawn on load and after a change of theme.

import { drawCharts } from "./run/charts.js";

const found = document.getElementById("schedule");
const draw = () => drawCharts(found, { url: found.dataset.figures, src: found.dataset.plotly });

draw();
document.addEventListener("themechange", draw);
