"""A text handed in as LaTeX falls into steps of which every one shows something; every sign still lies in exactly one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.accounts.models import User
from apps.contests.models import ContestState
from apps.reasoning.texts.latex import latex_shown
from apps.reasoning.texts.latex_steps import latex_steps, segmenter_of, steps_of
from apps.reasoning.texts.segmentation import segment
from apps.reasoning.texts.source import source_of
from apps.submissions.services import version_hand_in
from tests.contests.factory import enter, make_contest
from tests.texts.made import PIECES

DOCUMENT = r"""\documentclass[11pt]{article}
\usepackage{amsmath}
\newcommand{\R}{\mathbb{R}}

\title{Squares}
\author{Jane Roe}
\begin{document}

\maketitle

\section*{Solution}
\begin{proof}
Let $n$ be odd.

We show it in steps.
\begin{enumerate}
\item First.
\item Second.
\end{enumerate}
Therefore the claim follows.
\end{proof}

\end{document}
"""
LINES = (
    *PIECES, r"\documentclass{article}", r"\author{A}", r"\begin{document}", r"\end{document}", r"\maketitle", r"\item One.",
    r"\begin{enumerate}", r"\item", r"\end{enumerate}", r"\begin{proof}", r"\section{Head}", "% note", r"\label{x}",
    r"\bigskip", r"\textbf{",
)  # fmt: skip


def test_preamble_and_lines_that_show_nothing_make_no_step_of_their_own() -> None:
    shown = [latex_shown(step.text_in(DOCUMENT)) for step in latex_steps(DOCUMENT)]
    assert shown == [
        "### Solution",
        "*Proof.* Let $n$ be odd.",
        "We show it in steps.",
        "- First.",
        "- Second.",
        "Therefore the claim follows.\n □",
    ]
    assert latex_steps(DOCUMENT)[0].kind == "heading"
    assert len(segment(DOCUMENT)) > len(shown), "as Markdown the same source has steps for what LaTeX does not show"


def test_what_shows_nothing_at_all_is_one_step_and_nothing_is_none() -> None:
    source = "\\documentclass{article}\n\n\\begin{document}\n\n\\end{document}"
    assert [step.text_in(source) for step in latex_steps(source)] == [source]
    assert latex_steps("") == ()


@given(st.lists(st.sampled_from(LINES), max_size=14), st.sampled_from(["\n", "\n\n"]))
def test_no_step_is_shown_empty_and_every_sign_lies_in_one(lines: list[str], between: str) -> None:
    source = source_of(between.join(lines))
    steps = latex_steps(source)
    places = [place for step in steps for place in range(step.start, step.end)]
    assert len(places) == len(set(places))
    assert {place for place, sign in enumerate(source) if not sign.isspace()} <= set(places)
    if len(steps) > 1:
        assert all(latex_shown(step.text_in(source)) for step in steps)


@pytest.mark.parametrize(("text_format", "count"), [("latex", 6), ("markdown", len(segment(DOCUMENT)))])
def test_a_version_is_cut_by_its_format_and_says_by_which_rules(bob: User, charlie: User, text_format: str, count: int) -> None:
    paper, problem = enter(make_contest(bob, state=ContestState.OPEN), charlie)
    version = version_hand_in(paper=paper, problem=problem, text=DOCUMENT, text_format=text_format, based_on=0)
    assert version.steps.count() == len(steps_of(DOCUMENT, text_format)) == count
    assert version.segmenter == segmenter_of(text_format)
