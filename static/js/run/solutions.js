// The solutions of a scaffold that compares whole ones: fetched anew when something was said of them, with what was open left open.
import { mountProofDiffs } from "../proof_diff.js";
import { throttled } from "./frames.js";

const REFRESH_MS = 1000;
export const SOLUTION_KINDS = /^(candidate|pool|pair|state|formulas)\.|^proof\.selected$/;

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
