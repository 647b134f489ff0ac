// Typesets every formula of the worked example with KaTeX in its strictest mode and prints those that fail.
import { readdirSync, readFileSync } from "node:fs";
import katex from "../../node_modules/katex/dist/katex.mjs";

const folder = new URL("../../apps/explorations/worked_example/", import.meta.url);
const wrong = [];
let formulas = 0;
for (const name of readdirSync(folder).filter((file) => file.endsWith(".md"))) {
  const text = readFileSync(new URL(name, folder), "utf8");
  for (const line of text.split("\n")) {
    if ((line.match(/\$/g) ?? []).length % 2) wrong.push(`${name}: a $ is not closed: ${line.slice(0, 60)}`);
  }
  for (const [, display, inline] of text.matchAll(/\$\$([^]+?)\$\$|\$([^$]+?)\$/g)) {
    formulas += 1;
    try {
      katex.renderToString(display ?? inline, { displayMode: Boolean(display), throwOnError: true, strict: "error" });
    } catch (error) {
      wrong.push(`${name}: ${display ?? inline}: ${error.message}`);
    }
  }
}
console.log(JSON.stringify({ formulas, wrong }));
