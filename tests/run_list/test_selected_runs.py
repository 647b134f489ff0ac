"""Compare, tag, export and delete selected runs; what is refused for runs of others and for runs that may not be seen."""

import io
import json
import zipfile
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import ContestState
from apps.desk.models import Tag
from apps.desk.services import TAGS_AT_MOST, tag_add
from apps.experiments.models import Experiment, SolvingCell
from apps.explorations.run_table.selection import references
from apps.learning.models import Rollout
from apps.lemmas.models import Lemma
from apps.runs.models import Blob, Run, RunEvent, RunStatus
from tests.contests.factory import make_contest
from tests.explorations.factory import make_exploration, make_problem
from tests.run_list.factory import make_run, page, said, select

ClientFor = Callable[[User | None], Client]
DELETE, EXPORT = reverse("explorations:run_delete"), reverse("explorations:run_export")


@pytest.fixture
def client(alice: User, client_for: ClientFor) -> Client:
    return client_for(alice)


@pytest.fixture
def hidden(bob: User) -> Run:
    """A run of Bob's on a problem that is held back from Alice."""
    problem = make_problem("secret")
    run = make_run(bob, "Secret squares", problem_version=problem.current)
    make_contest(bob, problem, state=ContestState.OPEN)
    return run


def tags(run: Run) -> list[str]:
    return [tag.name for tag in Tag.objects.filter(run=run)]


def test_two_to_four_runs_are_compared(client: Client, alice: User) -> None:
    runs = [make_run(alice, f"Run {number}") for number in range(5)]
    answer = select(client, "compare", runs[1], runs[0])
    assert answer["Location"] == f"/runs/compare/?run={runs[1].public_id}&run={runs[0].public_id}"
    assert "Select two to 4 runs to compare; 1 are selected." in said(client, select(client, "compare", runs[0]))
    assert "5 are selected" in said(client, select(client, "compare", *runs))
    assert "Select at least one run" in said(client, select(client, "compare"))
    assert "Select at least one run" in said(client, client.post(reverse("explorations:run_selection"), {"run": "no-id"}))


def test_the_filters_stay_after_an_action(client: Client, alice: User) -> None:
    answer = select(client, "tag", make_run(alice, "Squares"), tag="good", query="owner=alice&sort=-tokens")
    assert answer["Location"] == reverse("explorations:run_list") + "?owner=alice&sort=-tokens"


def test_a_tag_is_set_once_seen_by_all_and_shows_who_set_it(
    client: Client, client_for: ClientFor, alice: User, bob: User
) -> None:
    runs = [make_run(alice, "Squares"), make_run(bob, "Primes")]
    assert "2 of 2 selected runs got the tag" in said(client, select(client, "tag", *runs, tag=" To  Read "))
    assert "0 of 2" in said(client, select(client, "tag", *runs, tag="to read"))
    assert tags(runs[0]) == tags(runs[1]) == ["to read"]
    shown = page(client_for(bob))
    assert 'href="?tag=to%20read" title="Alice, ' in shown
    assert client.get("/runs/", {"tag": " To  Read"}).context["page"].paginator.count == 2


@pytest.mark.parametrize("name", ["", "  ", "a,b", "x" * 41])
def test_an_unusable_tag_is_refused_in_words(client: Client, alice: User, name: str) -> None:
    run = make_run(alice, "Squares")
    assert "A tag is one to 40 characters without a comma" in said(client, select(client, "tag", run, tag=name))
    assert tags(run) == []


def test_a_run_has_a_limited_number_of_tags(client: Client, alice: User) -> None:
    run = make_run(alice, "Squares")
    for number in range(TAGS_AT_MOST):
        tag_add(user=alice, runs=[run], name=f"t{number}")
    assert "already has 20 tags" in said(client, select(client, "tag", run, tag="one more"))
    assert len(tags(run)) == TAGS_AT_MOST


def test_a_tag_of_another_person_stays_on_runs_that_one_does_not_steer(
    client: Client, client_for: ClientFor, alice: User, bob: User
) -> None:
    run, own = make_run(alice, "Squares"), make_run(bob, "Primes")
    tag_add(user=alice, runs=[run, own], name="good")
    coach = client_for(bob)
    words = said(coach, select(coach, "untag", run, own, tag="good"))
    assert "removed from 1 of 2 selected runs. 1 were set by others" in words
    assert (tags(run), tags(own)) == (["good"], [])
    assert "removed from 1 of 1" in said(client, select(client, "untag", run, tag="good"))


def test_runs_that_one_may_not_see_are_neither_tagged_exported_nor_deleted(client: Client, hidden: Run) -> None:
    for action in ("tag", "export", "delete", "compare", "dataset"):
        assert "Select at least one run" in said(client, select(client, action, hidden, tag="mine"))
    for address in (DELETE, EXPORT):
        assert "Select at least one run" in said(client, client.get(f"{address}?run={hidden.public_id}"))
    client.post(DELETE, {"run": str(hidden.public_id)})
    assert Run.objects.filter(pk=hidden.pk).exists()
    assert tags(hidden) == []


def test_students_reach_none_of_the_actions(client_for: ClientFor, charlie: User, alice: User) -> None:
    run = make_run(alice, "Squares")
    student = client_for(charlie)
    assert select(student, "tag", run, tag="mine").status_code == 404
    assert student.post(DELETE, {"run": str(run.public_id)}).status_code == 404
    assert student.get(f"{EXPORT}?run={run.public_id}").status_code == 404


def test_the_export_is_a_zip_of_the_exports_of_the_selected_runs_that_one_may_see(
    client: Client, alice: User, hidden: Run
) -> None:
    runs = [make_exploration(alice), make_run(alice, "Squares")]
    answer = client.get(select(client, "export", *runs, hidden)["Location"] + f"&run={hidden.public_id}")
    assert answer["Content-Disposition"] == 'attachment; filename="runs.zip"'
    archive = zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content)))  # type: ignore[attr-defined]
    assert archive.namelist() == [f"run-{run.public_id}.jsonl" for run in runs]
    alone = client.get(reverse("explorations:export", args=[runs[0].public_id]))
    assert archive.read(archive.namelist()[0]) == b"".join(alone.streaming_content)  # type: ignore[attr-defined]
    assert json.loads(archive.read(archive.namelist()[1]).splitlines()[0])["title"] == "Squares"
    answer.close()


def test_an_export_of_several_runs_counts_as_opening_them(client: Client, alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    run, opened = make_run(alice, "Squares"), list[tuple[User, Run]]()
    monkeypatch.setattr("apps.runs.access._WATCHING", [lambda user, one: opened.append((user, one))])
    client.get(f"{EXPORT}?run={run.public_id}").close()
    assert opened == [(alice, run)]


def test_deleting_asks_once_lists_what_is_kept_and_takes_the_parts_of_the_run(client: Client, alice: User) -> None:
    run, other = make_exploration(alice), make_run(alice, "Squares")
    fork = make_run(alice, "Fork", forked_from=run)
    tag_add(user=alice, runs=[run], name="good")
    blobs = Blob.objects.count()
    asked = client.get(select(client, "delete", run)["Location"]).content.decode()
    assert "Delete 1 run?" in asked
    assert "forks of these runs, with the calls that they took over" in asked
    assert Run.objects.count() == 3, "nothing is deleted before the question is answered"
    assert "1 runs were deleted." in said(client, client.post(DELETE, {"run": str(run.public_id)}))
    assert set(Run.objects.all()) == {other, fork}
    assert not RunEvent.objects.filter(run_id=run.pk).exists()
    assert not Lemma.objects.filter(run_id=run.pk).exists()
    assert not Tag.objects.exists()
    assert Blob.objects.count() == blobs


def test_runs_of_others_live_runs_and_runs_in_use_are_kept_with_the_reason(client: Client, alice: User, bob: User) -> None:
    theirs, live = make_run(bob, "Theirs"), make_run(alice, "Live", status=RunStatus.RUNNING)
    used, free = make_run(alice, "Used"), make_run(alice, "Free")
    used.token_shards.create(uri="x", sha256="x", rows=1, size=1, tokenizer="x", policy="x", logprobs_of="raw")
    runs = (theirs, live, used, free)
    asked = " ".join(client.get(select(client, "delete", *runs)["Location"]).content.decode().split())
    for reason in ("it is not yours", "it is in progress; cancel it first", "other work refers to it (token shard)"):
        assert f": {reason}.</li>" in asked
    words = said(client, client.post(DELETE, {"run": [str(run.public_id) for run in runs]}))
    assert "1 runs were deleted. 3 were kept." in words
    assert set(Run.objects.all()) == {theirs, live, used}
    assert "No run can be deleted" in client.get(f"{DELETE}?run={theirs.public_id}").content.decode()


def test_every_table_that_refers_to_runs_is_a_part_of_them_or_keeps_them() -> None:
    keeping = {one.related_model for one in references()}
    assert {Rollout, SolvingCell} <= keeping
    assert not {Lemma, Tag, RunEvent, Run} & keeping
    assert Experiment not in keeping


def test_a_dataset_form_lists_and_ticks_the_selected_runs(
    client: Client, client_for: ClientFor, alice: User, bob: User
) -> None:
    first, second = make_run(alice, "Squares"), make_run(alice, "Primes")
    failed = make_run(alice, "Failed", status=RunStatus.FAILED)
    answer = select(client, "dataset", first, failed)
    assert answer["Location"] == f"{reverse('datasets:new')}?run={first.public_id}&run={failed.public_id}"
    shown = client.get(answer["Location"]).content.decode()
    assert f'name="run" value="{first.public_id}" aria-label' in shown
    assert " checked>" in shown
    assert f'value="{second.public_id}"' not in shown
    assert "Only 1 of the 2 runs selected" in shown
    assert "Make a dataset" in page(client)
    assert "Make a dataset" not in page(client_for(bob)), "coaches make no datasets"
