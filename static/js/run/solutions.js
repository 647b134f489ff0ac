// The solutions of a scaffold that compares whole solutions: fetched again after a relevant event; open parts stay open.
import { mountProofDiffs } from "../proof_diff.js";
import { throttled } from "../throttled.js";

const REFRESH_MS = 1000;
export const SOLUTION_KINDS = /^(candidate|pool|pair|state|formulas|turn|memory)\.|^proof\.selected$/;

/** Keep `#run-solutions` under `page` up to date; `fetchInto(url, target, swap)` fetches a part. */
export function mountSolutions(page, fetchInto) {
  const url = page.dataset.solutionsUrl;
  const place = () => page.querySelector("#run-solutions");
  if (!place()) return { refresh: () => {} };
  mountProofDiffs(place());
  const refresh = throttled(REFRESH_MS, async () => {
    const open = [...place().querySelectorAll("details[data-keep][open]")].map((details) => details.dataset.keep);
    await fetchInto(url, "#run-solutions", "outerHTML");
    for (const name of open) place().querySelector(`details[data-keep="${CSS.escape(name)}"]`)?.setAttribute("open", "");
    mountProofDiffs(place());
  });
  return { refresh };
}

/** Mark the card of a chosen lineage node and scroll to it; for a pair to the knock-out table, for a memory to its list. */
export function showSolution(page, id) {
  for (const card of page.querySelectorAll(".solution--chosen")) card.classList.remove("solution--chosen");
  if (!id || id === "problem") return;
  const place = document.getElementById(id.startsWith("pair/") ? "knock-out" : id);
  place?.classList.toggle("solution--chosen", place.classList.contains("solution"));
  place?.scrollIntoView({ block: "nearest", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
}
