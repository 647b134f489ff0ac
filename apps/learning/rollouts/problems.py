"""Problems of a job that makes its own runs."""

from collections.abc import Collection

from apps.problems.models import ProblemVersion


def current_versions(slugs: Collection[str]) -> list[ProblemVersion]:
    """The newest versions of these problems, in their order, in one query; unknown problems are left out."""
    rows = ProblemVersion.objects.filter(problem__slug__in=slugs).select_related("problem").order_by("number")
    newest = {version.problem.slug: version for version in rows}
    return [newest[slug] for slug in slugs if slug in newest]
