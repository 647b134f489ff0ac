"""The write-up as a LaTeX article and as the parts of a PDF."""

import re
from collections.abc import Sequence

from apps.explorations.take_away.written import WrittenLemma, WrittenProof
from apps.ui.latex.prose import PREAMBLE, plain_latex, prose_latex
from apps.ui.typeset.document import Document

_HEAD = r"""\documentclass[11pt,a4paper]{article}
%s
\usepackage[hidelinks]{hyperref}
\newtheorem*{problem}{Problem}
\newtheorem{lemma}{Lemma}
%% Lemmas keep the names that they have in the run, so that the texts cite the right ones.
\newenvironment{namedlemma}[1]{\renewcommand{\thelemma}{#1}\begin{lemma}}{\end{lemma}}
\setlength{\emergencystretch}{3em}
"""
_UNSAFE = re.compile(r"[^A-Za-z0-9.:-]")


def label_of(lemma: str) -> str:
    """The LaTeX label of a lemma's id."""
    return "lem:" + _UNSAFE.sub(lambda found: f"u{ord(found[0]):x}", lemma)


def article(written: WrittenProof) -> str:
    """The write-up as LaTeX."""
    parts = [
        _HEAD % PREAMBLE,
        rf"\title{{{prose_latex(written.title)}}}",
        rf"\author{{{plain_latex(written.made_by)}}}",
        r"\date{}",
        r"\begin{document}",
        r"\maketitle",
        f"\\begin{{problem}}{{}}\n{prose_latex(written.statement)}\n\\end{{problem}}",
        _small(f"{written.state} Run {written.run}."),
        *map(_lemma, written.lemmas),
        "\\section*{Proof}",
        _uses(written.uses),
        steps_latex(written.steps),
        r"\end{document}",
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _lemma(lemma: WrittenLemma) -> str:
    name = plain_latex(lemma.name)
    begin = f"\\begin{{namedlemma}}{{{name}}}\\label{{{label_of(lemma.id)}}}"
    head = f"{begin}\n{prose_latex(lemma.statement)}\n\\end{{namedlemma}}"
    state = f"{lemma.state}. Also cited as {', '.join(lemma.also)}." if lemma.also else f"{lemma.state}."
    if not (lemma.steps or lemma.uses):
        return f"{head}\n\n{_small(state)}"
    body = "\n\n".join(filter(None, (_uses(lemma.uses), steps_latex(lemma.steps))))
    return f"{head}\n\n{_small(state)}\n\n\\begin{{proof}}\n{body}\n\\end{{proof}}"


def steps_latex(steps: Sequence[str]) -> str:
    """Numbered steps as paragraphs."""
    return "\n\n".join(
        f"\\noindent\\textbf{{{number}.}}\\enspace {prose_latex(step)}" for number, step in enumerate(steps, start=1)
    )


def _uses(lemmas: Sequence[str]) -> str:
    if not lemmas:
        return ""
    word = "Lemma" if len(lemmas) == 1 else "Lemmas"
    return f"\\noindent\\emph{{Uses {word}~" + ", ".join(f"\\ref{{{label_of(one)}}}" for one in lemmas) + ".}"


def _small(words: str) -> str:
    return f"{{\\noindent\\small {plain_latex(words)}\\par}}"


def document(written: WrittenProof) -> Document:
    """The write-up for `apps.ui.typeset.press`."""
    made = Document(written.title, written.made_by, note=f"Run {written.run}")
    made.part("Problem", written.state).prose(written.statement)
    for lemma in written.lemmas:
        also = f"Also cited as {', '.join(lemma.also)}" if lemma.also else ""
        part = made.part(f"Lemma {lemma.name}", lemma.state, _uses_words(written, lemma.uses), also)
        part.prose(lemma.statement)
        for number, step in enumerate(lemma.steps, start=1):
            part.step(number, step)
    proof = made.part("Proof", _uses_words(written, written.uses))
    for number, step in enumerate(written.steps, start=1):
        proof.step(number, step)
    return made


def _uses_words(written: WrittenProof, lemmas: Sequence[str]) -> str:
    return f"Uses {', '.join(f'Lemma {written.names[one]}' for one in lemmas)}" if lemmas else ""
