// The staff page of formulas that fail: fetches them all, tries them a few per frame, and lists what KaTeX refuses.
import { failureOf } from "./maths.js";

const WORK_MS = 12;
const root = document.querySelector("[data-formulas]");
const part = (name) => root.querySelector(`[data-part="${name}"]`);
const count = (number) => number.toLocaleString("en-GB");

function row({ tex, where, url }, failure) {
  const made = document.createElement("tr");
  const [source, why, place] = ["td", "td", "td"].map((tag) => made.appendChild(document.createElement(tag)));
  source.className = "mono table__head";
  source.textContent = tex;
  why.textContent = failure;
  const link = place.appendChild(document.createElement("a"));
  link.href = url;
  link.textContent = where;
  return made;
}

async function tryAll(formulas) {
  let failed = 0;
  for (let at = 0; at < formulas.length; ) {
    const until = performance.now() + WORK_MS;
    for (; at < formulas.length && performance.now() < until; at += 1) {
      const failure = failureOf(formulas[at].tex, formulas[at].display);
      if (!failure) continue;
      failed += 1;
      part("failed").hidden = false;
      part("failed").querySelector("tbody").append(row(formulas[at], failure));
    }
    part("status").textContent = `${count(at)} of ${count(formulas.length)} formulas tried, ${count(failed)} cannot be typeset.`;
    await new Promise(requestAnimationFrame);
  }
  part("status").dataset.done = "yes";
}

try {
  const response = await fetch(root.dataset.formulas, { headers: { Accept: "application/json" } });
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  await tryAll((await response.json()).formulas);
} catch (reason) {
  part("status").textContent = `The formulas could not be fetched (${reason.message}). Load the page again.`;
}
