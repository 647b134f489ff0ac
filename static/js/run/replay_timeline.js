// The bars of the round timeline as of an event of a replay. Leaving the replay fetches the timeline again.

/** Set the bars under `page` to what `story` (story.js) has counted, and mark the column of the current round. */
export function drawTimeline(page, story) {
  for (const row of page.querySelectorAll("#run-timeline [data-bar]")) {
    const bar = story.bars.get(row.dataset.bar);
    row.hidden = !bar;
    if (bar) drawBar(row, barWords(bar, Number(row.dataset.of ?? 0)));
  }
  for (const step of page.querySelectorAll("#run-timeline [data-step]")) drawStep(step, story);
  const now = story.isKnockOut ? "Knock-out" : String(story.round);
  for (const cell of page.querySelectorAll("#run-timeline th[data-round]")) cell.toggleAttribute("data-now", cell.dataset.round === now);
  for (const step of page.querySelectorAll("#run-timeline [data-step]")) step.toggleAttribute("data-now", step.dataset.step === now);
}

/** A step of the strip: the calls of all its bars together. Its words about lemmas describe the end of the run. */
function drawStep(step, story) {
  const { step: place } = step.dataset;
  const isOf = (key) => (place === "last" ? key.startsWith("last/") : key.split("/")[1] === place);
  const keys = [...step.closest("#run-timeline").querySelectorAll("[data-bar]")].map((row) => row.dataset.bar).filter(isOf);
  const bars = [...new Set(keys)].map((key) => story.bars.get(key)).filter(Boolean);
  const done = bars.reduce((sum, bar) => sum + bar.done, 0);
  const total = bars.reduce((sum, bar) => sum + bar.done + bar.running, 0);
  step.hidden = !total;
  step.style.setProperty("--value", total ? (done / total).toFixed(3) : "0");
  step.querySelector(".rounds__count").firstChild.nodeValue = total > done ? `${done}/${total}` : String(done);
  const words = step.querySelector('[data-part="step-words"]');
  if (words) words.hidden = story.isOver !== true;
}

/** The content of a bar: `{state, share, count}`. `of` is the expected number of calls, if known (apps/explorations/timeline.py). */
export function barWords({ done, failed, running }, of = 0) {
  const total = Math.max(of, done + running);
  const state = running || done < total ? "running" : failed && failed === done ? "failed" : "done";
  const count = total > 1 || state === "running" ? `${done}/${total}` : state === "failed" ? "failed" : "done";
  return { state, share: total ? done / total : 0, count };
}

function drawBar(row, { state, share, count }) {
  row.className = `phase phase--${state}`;
  row.removeAttribute("title"); // The title describes the end of the run.
  row.querySelector(".phase__bar").style.setProperty("--value", share.toFixed(3));
  row.querySelector(".phase__count").textContent = count;
}
