"""The sample library has active marking schemes."""

import pytest
from django.core.management import call_command

from apps.problems.models import Problem
from apps.problems.services import sample_library_load
from apps.reasoning.marking.schemes.checks import check
from apps.schemes.models import MarkingScheme
from apps.schemes.samples import sample_schemes_load
from apps.schemes.services import scheme_retire
from tests.problems.factory import make_problem

pytestmark = pytest.mark.django_db


def test_every_sample_problem_gets_a_valid_active_scheme(capsys: pytest.CaptureFixture[str]) -> None:
    count = sample_library_load()
    call_command("load_schemes")
    assert capsys.readouterr().out == f"{count} marking schemes added.\n"
    for scheme in MarkingScheme.objects.prefetch_related("versions"):
        version = scheme.versions.get()
        assert (version.status, check(version.content)) == ("active", ())
        assert version.content.scale == 7


def test_loading_again_adds_nothing_and_keeps_changes() -> None:
    sample_library_load()
    sample_schemes_load()
    scheme = MarkingScheme.objects.all()[0]
    scheme_retire(scheme=scheme, by=None, based_on=scheme.row_version)
    assert sample_schemes_load() == 0
    assert scheme.versions.get().status == "retired"


def test_other_problems_get_no_scheme() -> None:
    make_problem(scheme_text="1. All (7 points)")
    assert sample_schemes_load() == 0
    assert not Problem.objects.exclude(marking_schemes=None).exists()
