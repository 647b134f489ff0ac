"""Result pages of runs about a problem."""

from django.urls import reverse

from apps.runs.models import Run


def page_of(run: Run) -> str:
    """The URL of the page with the result of a run about a problem."""
    if run.scaffold == "scheme_writer":
        return reverse("preparation:proposal", args=[run.public_id])
    if run.scaffold in ("quality", "difficulty"):
        return reverse("preparation:quality", args=[run.problem_version.problem.slug])
    return reverse("preparation:prepare", args=[run.problem_version.problem.slug])
