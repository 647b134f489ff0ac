// The charts of the contest office: each problem fetches its own and redraws them when the theme changes.

import { drawCharts } from "./run/charts.js";

const sections = [...document.querySelectorAll("[data-figures]")];
const draw = () => sections.forEach((one) => drawCharts(one, { url: one.dataset.figures, src: one.dataset.plotly }));

draw();
document.addEventListener("themechange", draw);
