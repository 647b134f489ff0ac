"""The manifest of a dataset lists the lemmas of earlier runs that its runs found."""

from typing import Any

import pytest

from apps.accounts.models import User
from apps.datasets.models import DatasetBuild
from apps.datasets.versions.choosing import Chosen
from apps.datasets.versions.manifest import manifest_of
from apps.runs.models import Run
from tests.explorations.test_lemmas_of_earlier_runs import played
from tests.lemmas.test_lemmas_offered_to_runs import a_problem, a_run

pytestmark = pytest.mark.django_db(transaction=True)


def manifest(*runs: Run) -> dict[str, Any]:
    build = DatasetBuild.objects.create(name="proofs", recipe="sft_proofs")
    summary = {"has_tokens": False, "has_logprobs": False, "counts": {}, "left": [], "files": {}}
    return manifest_of(build, 1, Chosen(list(runs)), summary, commit="")


def test_a_manifest_has_the_scope_and_the_origin_of_the_lemmas(alice: User) -> None:
    source = a_run(a_problem("other"))
    found = manifest(played(alice, earlier_lemmas="topic"), played(alice))
    first, second = found["runs"]
    assert first["earlier_lemmas"] == "topic"
    assert first["found_lemmas"] == [{"run": str(source.public_id), "lemma": "s0.1"}]
    assert not {"earlier_lemmas", "found_lemmas"} & second.keys()
    assert any("search lemmas of earlier runs" in note for note in found["notes"])


def test_a_manifest_of_runs_without_the_option_has_no_note(alice: User) -> None:
    assert not any("earlier runs" in note for note in manifest(played(alice))["notes"])
