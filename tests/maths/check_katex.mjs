// Reads [[tex, display]] from stdin; prints the formulas that KaTeX cannot set with our macros, as [tex, reason].
import katex from "../../static/vendor/katex/katex.mjs";
import { MACROS, repairTex } from "../../static/js/tex_macros.js";

let input = "";
for await (const piece of process.stdin) input += piece;
const failed = [];
for (const [tex, displayMode] of JSON.parse(input)) {
  try {
    katex.renderToString(repairTex(tex), {
      displayMode, throwOnError: true, trust: false, strict: "ignore", maxSize: 20, maxExpand: 500, macros: { ...MACROS },
    });
  } catch (error) {
    failed.push([tex, error.message]);
  }
}
console.log(JSON.stringify(failed));
