// Typesets every formula of the files named on the command line; prints the first mistake of each file.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [library, ...files] = process.argv.slice(2);
const { default: katex } = await import(pathToFileURL(library).href);
const FORMULA = /\$\$([\s\S]+?)\$\$|\$([^$\n]+?)\$/g;
let mistakes = 0;
let formulas = 0;

function mistake(file, text) {
  mistakes += 1;
  console.error(`${file}: ${text}`);
}

for (const file of files) {
  const source = readFileSync(file, "utf8");
  const prose = source.replace(FORMULA, (_, display, inline) => {
    formulas += 1;
    if (inline && inline !== inline.trim()) mistake(file, `space next to the dollar sign: ${inline}`);
    try {
      katex.renderToString(display ?? inline, { displayMode: Boolean(display), throwOnError: true, strict: "error" });
    } catch (error) {
      mistake(file, error.message);
    }
    return "";
  });
  const stray = prose.match(/.{0,40}(\$|\\[A-Za-z]).{0,40}/);
  if (stray) mistake(file, `a formula without its dollar signs: ${stray[0]}`);
}
console.log(`${formulas} formulas`);
process.exit(mistakes ? 1 : 0);
