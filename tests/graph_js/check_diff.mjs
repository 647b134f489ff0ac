// Prints facts about the proof diff as JSON; test_proof_diff.py asserts on them.
import { pieces, proofDiff } from "../../static/js/proof_diff.js";

const told = (old, now) => proofDiff(old, now).map(({ kind, pieces: parts }) => [kind, parts.join("")]);
const text = "Let $a \\le b$ and\n\n$$\\sum_{i=1}^n i$$ with \\(x\\) and \\[y\\]: costs \\$5, naïve ∀.";
console.log(JSON.stringify({
  whole: pieces(text).join("") === text,
  formulas: pieces(text).filter((piece) => /^(\$|\\\(|\\\[)/.test(piece)),
  formula_is_one_word: told("so $a+b=c$ holds", "so $a+b=d$ holds"),
  spaces_in_formulas: told("$a+b$", "$a + b$"),
  phrase: told("Hence the product works.", "Because of coprimality the product works."),
  same: told("x y", "x y"),
  empty: told("", "new"),
  old_kept: proofDiff(text, "Other text.").filter((p) => p.kind !== "new").flatMap((p) => p.pieces).join("") === text,
}));
