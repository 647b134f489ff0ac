"""Inspect logs of others become external methods: matched to problems, scored, never run, and refused with advice."""

import io
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import transaction
from django.test import Client

from apps.accounts.models import User
from apps.experiments.models import CellScore, Experiment, ExperimentState, SolvingCell
from apps.experiments.services import experiment_retry
from apps.experiments.solving.files import inspect_reading
from apps.experiments.solving.files.importing import Report, log_import, share_read
from apps.experiments.solving.files.inspect_reading import LogReader, LogWrong
from apps.experiments.solving.people.answers import answers_settle
from apps.experiments.solving.services import manifest_stored, solving_extend
from apps.problems.models import Problem
from tests.cast import person
from tests.experiments.driving import Stage
from tests.experiments.solving.logs import log, nothing_was_imported, parts_of, sample, with_zstandard
from tests.experiments.solving.playing import begin, make_problem_set, manifest, states
from tests.graders.grade import grading
from tests.reasoning.play import proof

pytestmark = pytest.mark.django_db(transaction=True)
ANSWER = [{"name": "answer", "kind": "answer"}]


@pytest.fixture
def alice() -> User:
    return person("alice")


@pytest.fixture
def answers() -> dict[str, object]:
    return {"*": proof("We add.", "So it is.\nAnswer: 1")}


@pytest.fixture
def experiment(alice: User, stage: Stage) -> Experiment:
    make_problem_set(3)
    return stage.play(begin(alice, scorers=ANSWER, repeats=2))


def take(experiment: Experiment, *samples: dict[str, Any], **options: Any) -> Report:
    return log_import(experiment=experiment, file=log(parts_of(*samples)), method="theirs", **options)


def found(scorer: str) -> dict[tuple[str, int], tuple[Decimal | None, str]]:
    rows = CellScore.objects.filter(cell__method="theirs", scorer=scorer).select_related("cell__item")
    return {(row.cell.item.name, row.cell.repeat): (row.points, row.unscored) for row in rows}


def test_samples_become_finished_cells_with_scores_and_costs(experiment: Experiment) -> None:
    report = take(experiment, *(sample(n, e, "C" if n == 2 else "I") for n in (1, 2, 3) for e in (1, 2)))
    assert report.text == "theirs has 6 cells, scored by match, answer."
    assert found("match") == {(f"sum-{n}", r): (Decimal(n == 2), "") for n in (1, 2, 3) for r in (0, 1)}
    assert found("answer") == found("match")
    cell = SolvingCell.objects.filter(method="theirs").order_by("position")[0]
    assert (cell.state, cell.run, cell.calls, cell.prompt_tokens, cell.completion_tokens) == ("finished", None, 2, 15, 7)
    stored = manifest_stored(Experiment.objects.get(pk=experiment.pk))
    assert stored.external == {"theirs"}
    assert stored.methods[1].params["model"] == "lab/big"
    assert [(one.name, one.kind) for one in stored.scorers] == [("answer", "answer"), ("match", "imported")]


def test_an_external_method_is_in_the_table_the_cells_and_the_files(
    experiment: Experiment, client: Client, alice: User
) -> None:
    take(experiment, sample(1), sample(2), sample(3))
    client.force_login(alice)
    url = f"/experiments/{experiment.public_id}/"
    html = client.get(url).content.decode()
    assert "theirs" in html
    assert html.count("33.3 %") == 2
    assert client.get(f"{url}cells/?method=theirs").content.decode().count("match: 1 of 1") == 3
    files = {name: client.get(f"{url}files/{name}") for name in ("cells.csv", "2-theirs-served-budget-0.eval")}
    csv, log = (b"".join(one.streaming_content) for one in files.values())  # type: ignore[attr-defined]
    assert csv.decode().count(",theirs,") == 3
    assert LogReader(io.BytesIO(log)).header.eval.solver == "external"


def test_external_cells_never_start_again(experiment: Experiment, stage: Stage) -> None:
    take(experiment, sample(1), sample(2))
    asked = len(stage.asked)
    solving_extend(experiment=experiment, manifest=manifest(scorers=ANSWER, repeats=3))
    assert experiment_retry(experiment=experiment) == 0
    experiment = stage.play(experiment)
    assert experiment.state == ExperimentState.DONE
    assert len(stage.asked) == asked + 3
    assert states(experiment) == {"finished": 9 + 2}
    assert manifest_stored(experiment).external == {"theirs"}
    solving_extend(experiment=experiment, manifest=manifest(scorers=[*ANSWER, {"name": "own", "kind": "accepted"}], repeats=3))
    stage.play(experiment)
    assert found("own") == {}


def test_what_does_not_match_is_reported(experiment: Experiment) -> None:
    stranger = sample(9, input="Another question.")
    renamed = sample(2, id="x17", input="Find the sum number 2.")
    changed = sample(3, input="Find the product number 3.")
    report = take(experiment, stranger, renamed, changed, sample(3, id="again"), sample(2, 3), sample(2, 4))
    assert report.cells == 2
    assert set(found("match")) == {("sum-2", 0), ("sum-3", 0)}
    for sentence in (
        "1 id of samples was left out, because no problem has this name or statement.",
        "1 problem has no sample.",
        "2 samples of later epochs were left out, because the experiment has 2 repeats.",
        "1 id has another text than the problem of that name: check that these are the same problems.",
        "1 sample was left out, because another one has the same problem and epoch.",
    ):
        assert sentence in report.text


def test_the_statement_counts_more_than_an_id_that_happens_to_be_a_name(experiment: Experiment) -> None:
    messages = [{"role": "system", "content": "Think."}, {"role": "user", "content": "Solve. Find the sum number 2."}]
    take(experiment, sample(1, id="sum-1", input="Find the sum number 3."), sample(2, input=messages))
    assert set(found("match")) == {("sum-3", 0), ("sum-2", 0)}


def test_the_budget_is_that_of_the_same_token_limit(alice: User, stage: Stage) -> None:
    make_problem_set(1)
    experiment = stage.play(begin(alice, budgets=[{"tokens": 4_000}, {"tokens": 8_000}]))
    log_import(experiment=experiment, file=log(parts_of(sample(1), limit=8_000)), method="same")
    report = log_import(experiment=experiment, file=log(parts_of(sample(1), limit=5)), method="other")
    budgets = SolvingCell.objects.exclude(method="single").values_list("method", "budget")
    assert dict(budgets) == {"same": 1, "other": 0}
    assert "The log has a limit of 5 tokens, which is no budget of the experiment." in report.text


@pytest.mark.parametrize(
    ("value", "share", "reason"),
    [
        ("C", 1.0, ""), ("P", 0.5, ""), ("I", 0.0, ""), ("yes", 1.0, ""), (True, 1.0, ""), (0.25, 0.25, ""), ("0.5", 0.5, ""),
        ("N", None, "nothing was handed in"), ({"a": 1}, None, "no number"), (float("nan"), None, "no number"),
        (7, None, "not between 0 and 1"), (-1, None, "not between"), ("unsure", None, "no number"),
    ],
)  # fmt: skip
def test_a_value_that_is_no_score_is_unscored_and_never_zero(value: Any, share: float | None, reason: str) -> None:
    read, why = share_read(inspect_reading.Score(value=value), 1.0)
    assert read == share
    assert reason in why
    assert (read is None) == bool(why)


def test_points_and_fine_shares_are_kept(experiment: Experiment) -> None:
    take(experiment, sample(1, value=7), sample(2, value=1), sample(3, error="out of memory"), full=7)
    shares = {row.cell.item.name: row for row in CellScore.objects.filter(scorer="match").select_related("cell__item")}
    assert shares["sum-1"].points == shares["sum-1"].scale
    assert float(shares["sum-2"].points or 0) / float(shares["sum-2"].scale or 1) == pytest.approx(1 / 7, abs=1e-5)
    assert shares["sum-3"].unscored == "the sample ended with an error"


def test_a_scorer_of_the_log_does_not_replace_ours(experiment: Experiment) -> None:
    take(experiment, sample(1, scores={"answer": {"value": "C"}}))
    assert found("answer")["sum-1", 0][0] == 0
    assert found("answer of the log")["sum-1", 0][0] == 1


def test_scorers_keep_names_that_a_manifest_allows_and_that_differ(experiment: Experiment) -> None:
    values = {name: {"value": "C"} for name in ("a/b", "a|b", "a?b", "<>")}
    assert take(experiment, sample(1, scores=values)).scorers == ["a-b", "a-b of the log", "a-b 2", "score", "answer"]
    many = {f"scorer {number}": {"value": "C"} for number in range(21)}
    with pytest.raises(LogWrong, match="at most 20"):
        log_import(experiment=experiment, file=log(parts_of(sample(1, scores=many))), method="many")


def test_logs_compressed_by_zstandard_are_read(experiment: Experiment) -> None:
    file = with_zstandard(parts_of(sample(1), sample(2)))
    assert log_import(experiment=experiment, file=file, method="theirs").cells == 2


def test_the_tab_imports_for_those_who_may_steer(experiment: Experiment, client: Client, alice: User) -> None:
    url = f"/experiments/{experiment.public_id}/files/"

    def post(data: bytes, **changes: str) -> Any:
        file = SimpleUploadedFile("sums.eval", data)
        return client.post(url, {"file": file, "method": "theirs", "full": "1"} | changes, follow=True)

    client.force_login(alice)
    refused = post(b"a text")
    assert refused.status_code == 422
    assert "no Inspect log" in refused.content.decode()
    assert nothing_was_imported(experiment)
    client.force_login(person("bob"))
    assert "Import a log" not in client.get(url).content.decode()
    assert post(log(parts_of(sample(1))).getvalue()).status_code == 404
    assert nothing_was_imported(experiment)
    client.force_login(alice)
    assert (
        "theirs has 1 cell, scored by match, answer. 2 problems have no sample."
        in post(log(parts_of(sample(1))).getvalue()).content.decode()
    )


def test_an_external_method_can_be_removed_and_no_other(experiment: Experiment, client: Client, alice: User) -> None:
    before = manifest_stored(experiment)
    take(experiment, sample(1), sample(2))
    url = f"/experiments/{experiment.public_id}/files/"
    client.force_login(person("bob"))
    assert client.post(url, {"remove": "theirs"}).status_code == 404
    client.force_login(alice)
    refused = client.post(url, {"remove": "single"}, follow=True).content.decode()
    assert "There is no external method single." in refused
    assert states(experiment) == {"finished": 6 + 2}
    client.post(url, {"remove": "theirs"})
    assert manifest_stored(Experiment.objects.get(pk=experiment.pk)) == before
    assert nothing_was_imported(experiment)
    assert states(experiment) == {"finished": 6}
    assert take(experiment, sample(1)).cells == 1


def test_samples_on_problems_that_are_held_back_from_the_importer_are_left_out(
    experiment: Experiment, client: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = Problem.objects.get(slug="sum-1").pk
    monkeypatch.setattr("apps.experiments.access.solved_visible_to", lambda user: Problem.objects.exclude(pk=hidden))
    client.force_login(alice)
    file = SimpleUploadedFile("sums.eval", log(parts_of(sample(1), sample(2))).getvalue())
    client.post(f"/experiments/{experiment.public_id}/files/", {"file": file, "method": "theirs", "full": "1"})
    assert set(found("match")) == {("sum-2", 0)}


def test_the_command_imports_and_explains(experiment: Experiment, tmp_path: Path) -> None:
    def command(path: Path, **options: Any) -> str:
        out = io.StringIO()
        call_command("experiment", "import", experiment.title, path, method="theirs", stdout=out, **options)
        return out.getvalue()

    path = tmp_path / "sums.eval"
    with pytest.raises(CommandError, match="cannot be read"):
        command(path)
    path.write_bytes(b"a text")
    with pytest.raises(CommandError, match="no Inspect log"):
        command(path)
    path.write_bytes(log(parts_of(sample(2, value=7))).getvalue())
    with pytest.raises(CommandError, match="above 0"):
        command(path, full=0.0)
    assert "theirs has 1 cell" in command(path, full=7.0)


def test_an_external_method_may_be_the_baseline_and_every_page_opens(
    experiment: Experiment, client: Client, alice: User
) -> None:
    """The log has cells of one team only, so the other teams have no row of it."""
    stored = manifest_stored(experiment)
    two = [*(team.model_dump() for team in stored.teams), {"name": "again", "roles": {"": "served"}}]
    solving_extend(experiment=experiment, manifest=manifest(scorers=ANSWER, repeats=2, teams=two))
    take(experiment, sample(1, 1, "C"), sample(2, 1, "I"))
    experiment.refresh_from_db()
    larger = manifest_stored(experiment).model_copy(update={"baseline": "theirs"})
    solving_extend(experiment=experiment, manifest=larger)
    client.force_login(alice)
    pages = {
        name: client.get(f"/experiments/{experiment.public_id}/{name}")
        for name in ("", "ablations/", "compare/", "endings/", "budgets/", "cells/", "files/", "rehearsal/", "marks/")
    }
    assert {name: page.status_code for name, page in pages.items()} == dict.fromkeys(pages, 200)
    assert ">imported<" in pages["endings/"].content.decode().lower().replace("</th>", "<")


def test_people_mark_the_text_of_a_sample(experiment: Experiment, client: Client, alice: User) -> None:
    take(experiment, sample(1, 1, "C"), sample(2, 1, "I"), sample(3, 1, output={"choices": []}))
    people = [*ANSWER, {"name": "people", "kind": "people"}]
    experiment.refresh_from_db()
    wanted = manifest(scorers=people, repeats=2).with_imports_of(manifest_stored(experiment))
    solving_extend(experiment=experiment, manifest=wanted)
    with transaction.atomic():
        answers_settle(Experiment.objects.get(pk=experiment.pk))
    asked = CellScore.objects.filter(scorer="people", cell__method="theirs").order_by("cell__item__name")
    assert [bool(row.digest) for row in asked] == [True, True], "a sample without a text is not marked"
    client.force_login(alice)
    assert "It is so." in client.get(f"/experiments/{experiment.public_id}/marks/{asked[0].digest}/").text


def test_graders_grade_the_text_of_a_sample_at_its_import_and_later(
    experiment: Experiment, stage: Stage, answers: dict[str, object], client: Client, alice: User
) -> None:
    answers["*"] = grading(5)
    grader = {"name": "points", "kind": "grader", "workflow": "single_turn", "players": {"": "served"}}
    take(experiment, sample(1, output={"choices": [{"message": {"role": "assistant", "content": "By\0 parity.\nAnswer: 1"}}]}))
    solving_extend(experiment=experiment, manifest=manifest(scorers=[*ANSWER, grader], repeats=2))
    stage.play(experiment)
    assert found("points") == {("sum-1", 0): (Decimal(5), "")}
    asked = len(stage.asked)
    experiment.refresh_from_db()
    log_import(experiment=experiment, file=log(parts_of(sample(2), sample(3, error="it broke"))), method="others")
    experiment = stage.play(Experiment.objects.get(pk=experiment.pk))
    assert experiment.state == ExperimentState.DONE
    rows = CellScore.objects.filter(scorer="points", cell__method="others").order_by("cell__item__name")
    assert [row.points for row in rows] == [5]
    assert len(stage.asked) == asked + 1
    client.force_login(alice)
    pair = f"/experiments/{experiment.public_id}/compare/?a=theirs&b=single&problem=sum-1&repeat=0"
    assert "By parity." in client.get(pair).text
