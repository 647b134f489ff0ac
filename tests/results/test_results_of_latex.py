"""A LaTeX text stays LaTeX with its marks: in the result, the marked paper, both PDFs and a revision."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import AuthorKind, ContestProblem
from apps.contests.services import author_add
from apps.marks.sealing.sealing import cases_settle
from apps.marks.setups import cases_prepare
from apps.submissions.models import Origin, Submission, TextFormat
from apps.submissions.services import version_add
from tests.answers import pdf_text
from tests.marks.factory import claimed, past_grace, problem_to_mark, sealed
from tests.results.factory import case_of, released, version_of

ClientFor = Callable[[User | None], Client]
FIRST = r"\textbf{Claim.} It holds for \emph{every} $p$."
SOURCE = rf"""\documentclass{{article}}
\author{{Jane Roe}}
\begin{{document}}
{FIRST}

\begin{{proof}} See \cite{{book}}.
\end{{proof}}
\end{{document}}
"""


@pytest.fixture
def problem(bob: User, charlie: User) -> ContestProblem:
    """Settle Charlie's text with a verdict and a comment on the words of its claim."""
    problem = problem_to_mark(bob, scripts=0, asks_place=False)
    paper = author_add(contest=problem.contest, name="Charlie", kind=AuthorKind.STUDENT, person=charlie)
    submission = Submission.objects.create(paper=paper, problem=problem)
    version = version_add(submission=submission, text=SOURCE, text_format=TextFormat.LATEX, origin=Origin.TYPED)
    cases_prepare(problem)
    start = version.source.index(FIRST)
    place = {"start": start, "end": start + len(FIRST)}
    number = next(step.number for step in version.steps.all() if step.start <= start < step.end)
    verdict = ("verdict", {"id": "v1", "step": number, "fallacy": "gap", "words": "Why?", "anchor": place})
    comment = ("comment", {"id": "c1", "step": number, "words": "Say more.", "anchor": place})
    past_grace(sealed(claimed(problem, bob), bob, ("claim", {"line": "A1"}), verdict, comment))
    cases_settle(problem.contest)
    return problem


def is_set(page: str) -> None:
    """Check that a page renders the commands around formulas."""
    assert "<strong>Claim.</strong> It holds for <em>every</em>" in page
    assert "<em>Proof.</em> See (book)." in page
    for gone in (r"\textbf", r"\begin{proof}", "documentclass", "Jane Roe"):
        assert gone not in page, gone


def is_pressed(text: str) -> None:
    """Check the same in a PDF."""
    assert "Claim. It holds for every" in text
    assert "Proof. See (book)." in text
    for gone in ("textbf", "begin{", "documentclass", "Jane Roe"):
        assert gone not in text, gone


def test_the_author_reads_the_rendered_text_with_marked_places(
    problem: ContestProblem, bob: User, charlie: User, client_for: ClientFor
) -> None:
    released(problem.contest, bob)
    version = version_of(problem, charlie)
    page = client_for(charlie).get(reverse("results:result", args=[version.public_id])).content.decode()
    is_set(page)
    assert page.count("<strong>Claim.</strong>") == 3, "once in the step, the verdict and the comment"
    is_pressed(pdf_text(client_for(charlie).get(reverse("results:result_pdf", args=[version.public_id])).content))


def test_the_marked_paper_shows_the_rendered_text(
    problem: ContestProblem, bob: User, charlie: User, client_for: ClientFor
) -> None:
    number = case_of(problem, charlie).version.submission.paper.number
    client, where = client_for(bob), [problem.contest.public_id, number]
    is_set(client.get(reverse("office:paper", args=where)).content.decode())
    is_pressed(pdf_text(client.get(reverse("office:paper_pdf", args=where)).content))


def test_remarks_on_an_older_version_quote_its_source(
    problem: ContestProblem, bob: User, charlie: User, client_for: ClientFor
) -> None:
    released(problem.contest, bob)
    old = version_of(problem, charlie)
    text = SOURCE.replace("See", "Read")
    new = version_add(submission=old.submission, text=text, text_format=TextFormat.LATEX, origin=Origin.TYPED)
    page = client_for(charlie).get(reverse("results:result", args=[new.public_id])).content.decode()
    assert "From version 1" in page
    assert "<strong>Claim.</strong> It holds" in page
    assert r"\textbf" not in page
    for words in ("Why?", "Say more."):
        assert words in page
