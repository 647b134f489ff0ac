// The charts of the Charts tab. Plotly is fetched when the tab is first opened. Colours come from the page's tokens.

const BAND_ALPHA = "2b"; // Appended to a colour of the tokens, which are written as #rrggbb.
let library = null;

/** Plotly, fetched once. */
export function plotly(src) {
  library ??= new Promise((resolve, reject) => {
    const mark = document.createElement("div"); // Plotly then inserts no styles; exploration.css has them.
    mark.id = "plotly.js-style-global";
    mark.className = "no-inline-styles";
    mark.hidden = true;
    document.body.append(mark);
    const script = document.createElement("script");
    script.src = src;
    script.onload = () => resolve(globalThis.Plotly);
    script.onerror = () => reject(new Error("the chart library could not be loaded"));
    document.head.append(script);
  });
  return library;
}

const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** A time in the reader's zone. Plotly draws times without a zone unchanged. */
function localTime(value) {
  const at = new Date(value);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** A figure in the page's colours. */
export function themed(figure) {
  const [ink, line, accent] = ["--ink", "--line", "--accent"].map(token);
  const axis = { color: ink, gridcolor: line, linecolor: line, zerolinecolor: line };
  const isOfTimes = figure.layout.xaxis?.type === "date";
  const data = figure.data.map((given, index) => {
    const trace = isOfTimes ? { ...given, x: given.x.map(localTime) } : given;
    const steps = trace.meta?.ramp;
    const number = trace.meta?.line ?? index;
    const color = number ? token(`--series-${1 + ((number - 1) % 4)}`) : accent;
    if (trace.meta?.is_band) return { ...trace, fillcolor: `${color}${BAND_ALPHA}`, line: { ...trace.line, color } };
    if (!steps) return { ...trace, line: { ...trace.line, color } };
    return { ...trace, marker: { ...trace.marker, color: steps.map((step) => token(`--ramp-${step}`)), line: { color: ink, width: 1 } }, error_y: { ...trace.error_y, color: token("--muted") } };
  });
  const layout = {
    ...figure.layout,
    paper_bgcolor: "transparent",
    plot_bgcolor: "transparent",
    font: { color: ink, family: token("--sans"), size: 12 },
    xaxis: { ...figure.layout.xaxis, ...axis },
    yaxis: { ...figure.layout.yaxis, ...axis },
    height: figure.layout.height ?? 300,
  };
  return { data, layout };
}

async function fetched(url) {
  const response = await fetch(url, { headers: { Accept: "application/json" } });
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  return response.json();
}

/** Draw the charts under `root`: the given figures, or those at `url`. */
export async function drawCharts(root, { url, src, figures: given }) {
  const boxes = [...root.querySelectorAll("[data-chart]")];
  try {
    const [Plotly, figures] = await Promise.all([plotly(src), given ?? fetched(url)]);
    for (const box of boxes) {
      const { data, layout } = themed(figures[box.dataset.chart]);
      box.classList.remove("muted");
      if (!data.some((trace) => trace.x.length)) {
        box.textContent = "Nothing to draw yet.";
        continue;
      }
      if (!box.classList.contains("js-plotly-plot")) box.textContent = "";
      if (layout.height) box.style.blockSize = `${layout.height}px`; // Otherwise a resize uses the size of the empty box.
      await Plotly.react(box, data, layout, { displaylogo: false, responsive: true, displayModeBar: false });
    }
  } catch (reason) {
    for (const box of boxes) box.textContent = `The chart could not be drawn (${reason.message}). Open the tab again to retry.`;
  }
}
