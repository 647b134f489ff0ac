// Calls the pure parts of the editor's scripts; prints what they return as JSON.
import { endsInFormula, insertion, nextStep } from "../../static/js/writing/palette.js";
import { moved, turned } from "../../static/js/writing/crop.js";

const at = (snippet, before, selected = "", more = {}) => {
  const { text, cursor } = insertion(snippet, { before, selected, ...more });
  return `${text.slice(0, cursor)}^${text.slice(cursor)}`;
};
const whole = { turn: 0, left: 0, top: 0, right: 1, bottom: 1 };
let quarter = { ...whole, left: 0.5, bottom: 0.25 };
const quarters = [];
for (let number = 0; number < 4; number += 1) quarters.push((quarter = turned(quarter)));

console.log(JSON.stringify({
  inside: ["a $b", "$$a", "\\(a", "\\[ x", "a $b$ $c"].map(endsInFormula),
  outside: ["", "a $b$", "$$a$$ ", "\\(a\\)", "5 \\$ and", "$ lost\n\nnext"].map(endsInFormula),
  sign: at("\\le", "Let "),
  sign_inside: at("\\le", "Let $a", "", { after: "b$" }),
  fraction: at("\\frac{|}{|}", "", "a"),
  fraction_inside: at("\\frac{|}{|}", "$"),
  power: at("^{|}", "$x", "", { after: "$" }),
  formula: at("$|$", "Let ", "a=b"),
  formula_inside: at("$|$", "Let $", "a"),
  first_step: at("step", ""),
  next_step: at("step", "**Step 2.** So.\n\n**Step 7.** And"),
  latex_step: at("step", "", "", { isLatex: true, after: "\\textbf{Step 1.}" }),
  numbers: nextStep("Step 9. is no such line"),
  quarters,
  at_an_end: moved(whole, "left", -1).left,
  not_past: moved({ ...whole, left: 0.4 }, "right", 0.1).right,
}));
