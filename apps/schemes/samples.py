"""Marking schemes for the sample library, from the guidelines in its files."""

from django.db import transaction

from apps.problems.models import Problem
from apps.problems.samples import ORIGIN
from apps.reasoning.marking.importing import scheme_import
from apps.schemes.services import scheme_activate, scheme_create

TITLE = "Scheme of the library"


@transaction.atomic
def sample_schemes_load() -> int:
    """Add an active scheme to each sample problem with guidelines and without a scheme. Returns the number of schemes added."""
    added = 0
    for problem in Problem.objects.filter(origin=ORIGIN, marking_schemes=None):
        if text := problem.current.scheme_text:
            scheme = scheme_create(problem=problem, title=TITLE, content=scheme_import(text).scheme, by=None)
            scheme_activate(scheme=scheme, by=None, based_on=scheme.row_version)
            added += 1
    return added
