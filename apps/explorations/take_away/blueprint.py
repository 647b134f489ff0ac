"""The write-up as a blueprint for a formalisation in Lean: the sources that leanblueprint reads, and stubs in Lean."""

import io
import re
import zipfile
from collections.abc import Mapping, Sequence

from apps.explorations.take_away.article import label_of, steps_latex
from apps.explorations.take_away.written import WrittenLemma, WrittenProof
from apps.ui.latex.prose import plain_latex, prose_latex
from apps.ui.latex.symbols import PROVIDED

MODULE = "Blueprint"
GOAL = "problem"
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_']+")
_COMMON = "\n".join((*PROVIDED, r"\newcommand{\codepoint}[1]{\texttt{[U+#1]}}", ""))
_WEB = r"""\documentclass{article}
\usepackage{amsmath, amssymb, amsthm}
\usepackage{hyperref}
\usepackage[dep_graph]{blueprint}
\newtheorem{lemma}{Lemma}
\newtheorem{theorem}{Theorem}
\input{macros/common}
\title{%s}
\begin{document}
\maketitle
\input{content}
\end{document}
"""
_PRINT = r"""\documentclass[11pt,a4paper]{article}
\usepackage[T1]{fontenc}
\usepackage{textcomp}
\usepackage{amsmath, amssymb, amsthm}
\usepackage[hidelinks]{hyperref}
\newtheorem{lemma}{Lemma}
\newtheorem{theorem}{Theorem}
\input{macros/common}
%% The web version reads these; the print version leaves them out.
\newcommand{\uses}[1]{}
\newcommand{\lean}[1]{}
\newcommand{\leanok}{}
\title{%s}
\date{}
\begin{document}
\maketitle
\input{content}
\end{document}
"""
_CONFIGURATION = """[general]
renderer=HTML5
copy-theme-extras=yes
plugins=plastexdepgraph leanblueprint

[document]
toc-depth=3
toc-non-files=True

[files]
directory=../web/
split-level=0

[html5]
localtoc-level=0
mathjax-dollars=False
"""


def blueprint(written: WrittenProof) -> bytes:
    """A ZIP of `blueprint/src` and `Blueprint.lean`."""
    names = lean_names(written)
    title = prose_latex(written.title)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in (
            ("blueprint/src/content.tex", content(written, names)),
            ("blueprint/src/web.tex", _WEB.replace("%s", title)),
            ("blueprint/src/print.tex", _PRINT.replace("%%", "%").replace("%s", title)),
            ("blueprint/src/plastex.cfg", _CONFIGURATION),
            ("blueprint/src/macros/common.tex", _COMMON),
            (f"{MODULE}.lean", stubs(written, names)),
        ):
            archive.writestr(zipfile.ZipInfo(path), text)
    return made.getvalue()


def lean_names(written: WrittenProof) -> dict[str, str]:
    """The name of each lemma in Lean, by its id."""
    names: dict[str, str] = {}
    for lemma in written.lemmas:
        name = "lemma_" + _NOT_IN_NAMES.sub("_", lemma.name.replace("′", "'"))
        while name in names.values():
            name += "'"
        names[lemma.id] = name
    return names


def content(written: WrittenProof, names: Mapping[str, str]) -> str:
    """`content.tex`: every lemma with its label, its name in Lean and what its proof uses."""
    goal = _statement("theorem", "", f"thm:{GOAL}", GOAL, written.statement, ())
    return "\n".join([*(_lemma(lemma, names) for lemma in written.lemmas), goal, _proof(written.steps, written.uses)])


def _lemma(lemma: WrittenLemma, names: Mapping[str, str]) -> str:
    """A lemma. Without a text of its proof, the statement carries the uses."""
    own = () if lemma.steps else lemma.uses
    head = _statement("lemma", lemma.name, label_of(lemma.id), names[lemma.id], lemma.statement, own)
    return f"{head}\n{_proof(lemma.steps, lemma.uses)}" if lemma.steps else head


def _statement(kind: str, name: str, label: str, lean: str, text: str, uses: Sequence[str]) -> str:
    title = f"[Lemma {plain_latex(name)} of the run]" if name else ""
    head = f"\\begin{{{kind}}}{title}\\label{{{label}}}{_uses(uses)}\n\\lean{{{MODULE}.{lean}}}"
    return f"{head}\n{prose_latex(text)}\n\\end{{{kind}}}\n"


def _proof(steps: Sequence[str], uses: Sequence[str]) -> str:
    return f"\\begin{{proof}}{_uses(uses)}\n{steps_latex(steps)}\n\\end{{proof}}\n"


def _uses(lemmas: Sequence[str]) -> str:
    return f"\n\\uses{{{', '.join(map(label_of, lemmas))}}}" if lemmas else ""


def stubs(written: WrittenProof, names: Mapping[str, str]) -> str:
    """`Blueprint.lean`: a `theorem` without a statement for each lemma and the problem."""
    about = f"Stubs of {written.title}, run {written.run}. Replace `(sorry : Prop)` by the statement, then prove it."
    rows = [(names[one.id], f"Lemma {one.name}. {one.statement}") for one in written.lemmas]
    rows.append((GOAL, f"Problem. {written.statement}"))
    parts = [f"/-! {_comment(about)} -/", f"namespace {MODULE}"]
    parts += [f"/-- {_comment(text)} -/\ntheorem {name} : (sorry : Prop) := by sorry" for name, text in rows]
    return "\n\n".join([*parts, f"end {MODULE}"]) + "\n"


def _comment(text: str) -> str:
    """A text that neither ends a comment of Lean nor begins one."""
    return text.replace("-/", "- /").replace("/-", "/ -").strip()
