"""A text handed in as LaTeX is shown as one: commands around formulas become words, formulas stay, the source never changes."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import ContestState
from apps.reasoning.texts.latex import latex_shown, names_an_author, shown_of, without_author
from tests.contests.factory import enter, make_contest

DOCUMENT = r"""\documentclass[11pt]{article}
\usepackage{amsmath}
\title{Squares}
\author{Jane Roe}
\begin{document}
\maketitle
\section*{Part one}
\begin{lemma}[Wilson]\label{wil} For a prime $p$, \textbf{always} $(p-1)! \equiv -1$.~OK. % my note
\end{lemma}
\begin{proof} See \eqref{wil} and \emph{think}: 100\% sure.
\begin{enumerate}
\item First $a\_1 \% 2$.
\item[(b)] Second.
\end{enumerate}
\begin{align*} a &= b \\ c &= d \end{align*}
\end{proof}
\end{document}
"""


def test_everyday_commands_become_markdown_and_formulas_stay() -> None:
    shown = latex_shown(DOCUMENT)
    assert shown.startswith("### Part one")
    assert r"**Lemma (Wilson).** For a prime $p$, **always** $(p-1)! \equiv -1$." in shown
    assert "*Proof.* See (wil) and *think*: 100% sure." in shown
    assert r"- First $a\_1 \% 2$." in shown
    assert "- (b) Second." in shown
    assert r"\begin{align*} a &= b \\ c &= d \end{align*}" in shown
    assert shown.endswith("□")
    for gone in ("documentclass", "usepackage", "Jane", "maketitle", "label", "my note", "enumerate", "document"):
        assert gone not in shown


@pytest.mark.parametrize(
    ("step", "shown"),
    [
        (r"\begin{proof} Let $x = 1$.", "*Proof.* Let $x = 1$."),
        (r"Hence \textbf{done.} \qed", "Hence **done.**  □"),
        (r"\item It holds.", "- It holds."),
        (r"\mymacro{x} stays", r"\mymacro{x} stays"),
        (r"\textbf{never closed", r"\textbf{never closed"),
        ("``quoted''", '"quoted"'),
        ("", ""),
    ],
)
def test_a_step_of_such_a_text_is_shown_by_itself(step: str, shown: str) -> None:
    assert latex_shown(step) == shown


def test_a_text_that_says_it_is_markdown_is_left_alone() -> None:
    assert shown_of(r"\textbf{x} \\ y", "markdown") == r"\textbf{x} \\ y"


def test_what_never_closes_is_read_fast() -> None:
    for text in (r"\title{" * 20_000, r"\textbf{" + "a" * 150_000, r"\begin{proof}[" * 10_000, "{\\bf " * 30_000):
        latex_shown(text)


@pytest.mark.django_db
def test_the_author_sees_it_set_and_is_warned_of_their_name(
    bob: User, charlie: User, client_for: Callable[[User | None], Client]
) -> None:
    _, problem = enter(make_contest(bob, state=ContestState.OPEN), charlie)
    url = reverse("submissions:preview", kwargs={"problem_id": problem.public_id})
    page = client_for(charlie).post(url, {"text": DOCUMENT, "text_format": "latex"}).content.decode()
    assert "<strong>Lemma (Wilson).</strong>" in page
    assert "This text names an author" in page
    plain = client_for(charlie).post(url, {"text": "No name.", "text_format": "latex"}).content.decode()
    assert "names an author" not in plain
    assert names_an_author(DOCUMENT)


def test_who_wrote_it_is_blanked_in_the_source_and_places_hold() -> None:
    source = "\\author[x]{Ada {L}ovelace}\nLet $a$ be \\thanks{for\nAda} odd."
    shown = without_author(source)
    assert shown == "\\author[x]{··············}\nLet $a$ be \\thanks{···\n···} odd."
    assert len(shown) == len(source)
    assert "Ada" not in shown_of(source, "text")
    assert without_author("No \\authority{here}.") == "No \\authority{here}."
