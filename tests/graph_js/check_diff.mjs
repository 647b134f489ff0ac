// Prints facts about the proof diff as JSON; test_proof_diff.py asserts on them.
import { pieces, proofDiff } from "../../static/js/proof_diff.js";

const diff = (old, now) => proofDiff(old, now).map(({ kind, pieces: parts }) => [kind, parts.join("")]);
const text = "Let $a \\le b$ and\n\n$$\\sum_{i=1}^n i$$ with \\(x\\) and \\[y\\]: costs \\$5, naïve ∀.";
const long = (word) => Array.from({ length: 1200 }, (_, i) => `${word}${i} holds`).join(" ");
const far = proofDiff(`Shared.\n\n${long("a")}`, `Shared.\n\n${long("b")}`);
console.log(JSON.stringify({
  far_apart: far.map(({ kind, pieces: parts }) => [kind, parts.length > 100]),
  far_apart_is_whole: far.filter((p) => p.kind !== "gone").flatMap((p) => p.pieces).join("") === `Shared.\n\n${long("b")}`,
  whole: pieces(text).join("") === text,
  formulas: pieces(text).filter((piece) => /^(\$|\\\(|\\\[)/.test(piece)),
  formula_is_one_word: diff("so $a+b=c$ holds", "so $a+b=d$ holds"),
  spaces_in_formulas: diff("$a+b$", "$a + b$"),
  phrase: diff("Hence the product works.", "Because of coprimality the product works."),
  same: diff("x y", "x y"),
  empty: diff("", "new"),
  old_kept: proofDiff(text, "Other text.").filter((p) => p.kind !== "new").flatMap((p) => p.pieces).join("") === text,
}));
