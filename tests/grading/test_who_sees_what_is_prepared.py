"""Access to prepared pieces: only users who may read the problem's solutions."""

import pytest
from django.urls import reverse

from apps.accounts.models import User
from apps.graders.models import PieceVersion
from apps.problems import holding
from apps.problems.models import Problem
from tests.grading.problem_runs import played
from tests.grading.test_preparing_references import PREPARES, ClientFor, edit_address
from tests.grading.test_preparing_references import models as models
from tests.problems.factory import SECRET, make_problem

pytestmark = pytest.mark.django_db(transaction=True)


def test_students_and_users_without_access_to_the_solutions_cannot_open_pieces(
    alice: User, charlie: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = make_problem()
    run = played(alice, problem, "prepare", PREPARES)
    version = PieceVersion.objects.filter(problem=problem).first()
    assert version is not None
    addresses = [
        reverse("preparation:prepare", args=[problem.slug]),
        edit_address(problem, "clusters"),
        reverse("preparation:piece_version", args=[problem.slug, version.public_id]),
    ]
    for address in addresses:
        assert client_for(alice).get(address).status_code == 200
        assert client_for(charlie).get(address).status_code == 404

    rules = {text: [*rules, lambda _: Problem.objects.all()] for text, rules in holding._RULES.items()}
    monkeypatch.setattr(holding, "_RULES", rules)
    for address in addresses:
        answer = client_for(alice).get(address)
        assert answer.status_code == 404
        assert SECRET not in answer.content.decode()
    assert client_for(alice).post(reverse("preparation:prepare_add", args=[problem.slug]), {"text": "x"}).status_code == 404
    assert run.owner == alice
