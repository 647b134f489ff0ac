"""Distinct formulas of the library and of the newest lemmas and proofs, for the staff page that tests them in KaTeX."""

from collections.abc import Iterator
from typing import TypedDict

from django.urls import reverse

from apps.accounts.models import User
from apps.lemmas.models import Lemma, ProofVersion
from apps.problems.access import solved_visible_to
from apps.problems.models import ProblemVersion, ReferenceSolution
from apps.runs.access import run_visible_to
from apps.ui.formulas import formulas, without_hidden
from apps.ui.mathtext import repaired, take_operators

NEWEST = 2_000
MOST = 10_000


class Written(TypedDict):
    """A formula and one page that shows it."""

    tex: str
    display: bool
    where: str
    url: str


def written_formulas(user: User) -> list[Written]:
    """At most `MOST` formulas that `user` may read, each with the newest page that shows it."""
    found: dict[tuple[str, bool], Written] = {}
    for text, where, url in _texts(user):
        plain, operators = take_operators(without_hidden(text))
        for formula in formulas(plain):
            tex = repaired(formula.tex, operators)
            found.setdefault((tex, formula.display), {"tex": tex, "display": formula.display, "where": where, "url": url})
            if len(found) == MOST:
                return list(found.values())
    return list(found.values())


def _texts(user: User) -> Iterator[tuple[str, str, str]]:
    """Texts, each with the name and address of its page."""
    problems, runs = solved_visible_to(user), run_visible_to(user)
    for version in ProblemVersion.objects.filter(problem__in=problems).select_related("problem").order_by("-pk")[:NEWEST]:
        page = reverse("problems:detail", args=[version.problem.slug]) + f"?version={version.number}"
        for text in (version.statement, version.answer, version.scheme_text):
            yield text, version.problem.title, page
    for solution in ReferenceSolution.objects.filter(problem__in=problems).select_related("problem").order_by("-pk")[:NEWEST]:
        yield solution.text, solution.problem.title, reverse("problems:detail", args=[solution.problem.slug])
    for lemma in Lemma.objects.filter(run__in=runs).select_related("run").order_by("-pk")[:NEWEST]:
        page = reverse("lemmas:lemma_panel", args=[lemma.run.public_id, lemma.lemma])
        for text in (lemma.statement, *lemma.steps):
            yield text, f"Lemma {lemma.label} of {lemma.run.title}", page
    for proof in ProofVersion.objects.filter(run__in=runs).select_related("run").order_by("-pk")[:NEWEST]:
        page = reverse("lemmas:proof_panel", args=[proof.run.public_id, proof.name])
        yield proof.text, f"Proof {proof.name} of {proof.run.title}", page
