// TeX of olympiad texts that KaTeX lacks: a macro table, and rewriting of environments that macros cannot replace.

/** Macros for `katex.render`. Pass a copy for every formula: KaTeX modifies it, and formulas must not affect each other. */
export const MACROS = Object.freeze({
  "\\overparen": "\\overgroup{#1}",
  "\\wideparen": "\\overgroup{#1}",
  "\\overarc": "\\overgroup{#1}",
  "\\arc": "\\overgroup{#1}",
  "\\parallelogram": "\\mathord{\\text{▱}}",
  "\\abs": "\\left\\lvert #1\\right\\rvert",
  "\\norm": "\\left\\lVert #1\\right\\rVert",
  "\\floor": "\\left\\lfloor #1\\right\\rfloor",
  "\\ceil": "\\left\\lceil #1\\right\\rceil",
  "\\set": "\\left\\{#1\\right\\}",
  "\\mbox": "\\text{#1}",
  "\\emph": "\\textit{#1}",
  "\\textsc": "\\text{#1}",
  "\\mathbbm": "\\mathbb{#1}",
  "\\mathds": "\\mathbb{#1}",
  "\\bold": "\\mathbf{#1}",
  "\\ensuremath": "#1",
  "\\qed": "\\square",
  "\\qedhere": "\\square",
  "\\qedsymbol": "\\square",
  "\\label": "\\@secondoftwo{#1}{}",
  "\\eqref": "\\text{(#1)}",
  "\\ref": "\\text{#1}",
  "\\vspace": "\\@secondoftwo{#1}{}",
  "\\hdots": "\\ldots",
  "\\textbackslash": "\\backslash",
  "\\Q": "\\mathbb{Q}",
  "\\C": "\\mathbb{C}",
  "\\F": "\\mathbb{F}",
  "\\lcm": "\\operatorname{lcm}",
  "\\ord": "\\operatorname{ord}",
  "\\sgn": "\\operatorname{sgn}",
  "\\card": "\\operatorname{card}",
  "\\ang": "#1^\\circ",
  "\\overbar": "\\overline{#1}",
  "\\ndivides": "\\nmid",
  "\\divides": "\\mid",
});

const DECLARATION = /\\DeclareMathOperator(\*?)\s*\{?\\([A-Za-z]{1,30})\}?\s*\{([^{}\\]{1,60})\}/g;
const MIDDLE_COLUMN = /&\s*([^&\\]{0,20}?|\\[a-zA-Z]+\s*)&/g;

/** Convert common TeX to TeX that KaTeX can set. Has the repairs of `repaired` in apps/ui/mathtext.py, and more. */
export function repairTex(tex) {
  if (!tex.includes("\\")) return tex;
  let text = tex;
  if (text.includes("{eqnarray")) {
    text = text.replace(MIDDLE_COLUMN, "&$1 ").replace(/\\(begin|end)\{eqnarray\*?\}/g, "\\$1{align*}");
  }
  if (text.includes("\\begin{")) {
    text = text
      .replace(/\\(begin|end)\{multline\*?\}/g, "\\$1{gather*}")
      .replace(/\\(begin|end)\{flalign\*?\}/g, "\\$1{align*}")
      .replace(/\\(begin|end)\{(equation|align|gather|alignat)\}/g, "\\$1{$2*}")
      .replace(/\\begin\{(aligned|gathered)\}\[[tbc]\]/g, "\\begin{$1}")
      .replace(/\\(begin|end)\{tabular\}/g, "\\$1{array}");
  }
  text = text.replace(/\\(abs|norm|floor|ceil|set)\*(?=\s*\{)/g, "\\$1").replace(/\\intertext\s*\{([^{}]*)\}/g, "\\text{$1}\\\\");
  return text.includes("\\DeclareMathOperator") ? declare(text) : text;
}

function declare(tex) {
  const operators = new Map();
  let text = tex.replace(DECLARATION, (_, star, name, words) => {
    if (operators.size < 50) operators.set(name, `\\operatorname${star}{${words}}`);
    return "";
  });
  for (const [name, meaning] of operators) text = text.replace(new RegExp(`\\\\${name}(?![A-Za-z])`, "g"), () => meaning);
  return text;
}
