"""Pages and downloads of an experiment need as many queries for many rows as for few; files are read in one pass."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.accounts.models import User
from apps.experiments.exports import AT_ONCE
from apps.experiments.models import Experiment
from apps.experiments.selectors import SHOWS, counts_of, filter_from, rows_of
from apps.graded_sets.shapes import ProblemDraftOfSet, ScriptDraft, SetDraft
from apps.preparation import contamination
from apps.reasoning.texts.likeness import LikenessIndex
from tests.experiments.driving import Stage, make_experiment, make_set
from tests.experiments.test_pages_of_experiments import Answers, mixed
from tests.problems.factory import make_problem

pytestmark = pytest.mark.django_db(transaction=True)
ClientFor = Callable[[User | None], Client]


def queries(client: Client, address: str) -> int:
    """The number of queries of a response, including its whole stream."""
    with CaptureQueriesContext(connection) as asked:
        response = client.get(address)
        _ = response.getvalue() if response.streaming else response.content
    return len(asked)


def played(user: User, stage: Stage, scripts: int) -> Experiment:
    return stage.play(make_experiment(user, make_set(scripts, title=f"{scripts} scripts"), at_once=64))


def test_a_page_and_downloads_take_as_many_queries_for_twenty_rows_as_for_two(
    alice: User, client_for: ClientFor, stage: Stage, answers: Answers
) -> None:
    answers["*"] = mixed
    few, many = played(alice, stage, 2), played(alice, stage, 20)
    client = client_for(alice)
    for name in ("detail", "csv", "jsonl"):
        address = f"experiments:{name}"
        counts = [queries(client, reverse(address, args=[one.public_id])) for one in (few, many)]
        assert counts[0] == counts[1] <= 14, name


def test_gradings_of_a_download_are_read_in_batches(alice: User, stage: Stage) -> None:
    from apps.experiments.exports import json_lines

    experiment = played(alice, stage, 3)
    rows = rows_of(experiment.cells.all(), filter_from({}, experiment))
    with CaptureQueriesContext(connection) as asked:
        lines = list(json_lines(rows))
    assert len(lines) == 3 < AT_ONCE
    assert len(asked) == 2


def test_one_query_counts_the_rows_of_each_filter(alice: User, stage: Stage, answers: Answers) -> None:
    answers["*"] = mixed
    experiment = played(alice, stage, 4)
    with CaptureQueriesContext(connection) as asked:
        counts = counts_of(experiment.cells.all())
    assert len(asked) == 1
    each = {name: rows_of(experiment.cells.all(), filter_from({"show": name}, experiment)).count() for name in SHOWS}
    assert counts == {"": 4} | each
    assert (counts["scored"], counts["unscored"], counts["far"]) == (3, 1, 1)


class Counted(str):
    """A name that counts its comparisons."""

    compared = 0
    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)


def test_names_of_a_file_are_not_compared_pairwise() -> None:
    draft = SetDraft(layout="ours")
    Counted.compared = 0
    for number in [*range(300), 7]:
        script = ScriptDraft(Counted(f"S{number}"), ProblemDraftOfSet("P", "Prove it."), text="Done.")
        draft.add(f"row {number}", lambda script=script: script)  # type: ignore[misc]
    assert len(draft.good) == 300
    assert [row.reason for row in draft.wrong] == ["Duplicate script name S7."]
    assert Counted.compared < 300


def test_similarity_is_computed_once_per_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    alike = LikenessIndex.alike

    def counted(index: LikenessIndex[int], text: str) -> object:
        asked.append(text)
        return alike(index, text)

    monkeypatch.setattr(LikenessIndex, "alike", counted)
    problem = make_problem()
    contamination.benchmark_load(collection="Bench", texts=[("one", problem.current.statement)])
    (found,) = contamination.matches_of(problem, None)
    assert found.is_same
    assert len(asked) == 2, "once for loaded sets and once for the library"
