"""Where a piece made from references cannot be read, its decisions alone are asked for, so that none contradicts another."""

import json
from typing import Any

import pytest

from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.values import Unscored
from apps.reasoning.graders.pieces.matching import Match, MatchingSaid, best_match, matching_read
from apps.reasoning.graders.pieces.pieces import Analysis, Clusters, Rubric
from apps.reasoning.graders.pieces.short_pieces import analysis_again, clusters_again, match_again, rubric_again
from tests.graders.answers import FOLLOWS
from tests.graders.grade import REFERENCES, Table, grade
from tests.reasoning.play import final

FIRST = Final(text="I do not know.", finish_reason="stop", duration_s=0.1)


def said(value: Any) -> Final:
    return Final(text=json.dumps(value), finish_reason="stop", duration_s=0.1)


def test_every_text_names_the_first_that_it_is_like_so_that_clusters_never_overlap() -> None:
    value = {"like": {"1": 1, "2": 0, "3": 1, "4": 4}, "steps": {"1": ["Factor."], "4": ["Cases.", "Parity."]}}
    found = clusters_again(4).read(said(value), FIRST)
    assert isinstance(found, Clusters)
    assert [(one.members, one.representative, one.steps) for one in found.clusters] == [
        ((1, 3), 1, ("Factor.",)),
        ((4,), 4, ("Cases.", "Parity.")),
    ]


@pytest.mark.parametrize(
    ("value", "members"),
    [({"1": 1, "2": 1, "3": 2}, [(1, 2, 3)]), ({"1": 0, "2": 2, "3": 1}, [(2,)]), ({"1": 1, "2": 3, "3": 3}, [(1,), (2, 3)])],
)
def test_a_text_that_is_like_one_that_is_no_first_one_goes_with_it(value: dict[str, int], members: list[tuple[int]]) -> None:
    found = clusters_again(3).read(said({"like": value, "steps": {str(one): ["x"] for one in (1, 2, 3)}}), FIRST)
    assert isinstance(found, Clusters)
    assert [one.members for one in found.clusters] == members


def test_where_no_text_is_an_attempt_there_are_no_clusters() -> None:
    found = clusters_again(2).read(said({"like": {"1": 0, "2": 0}, "steps": {"1": ["x"], "2": ["x"]}}), FIRST)
    assert found == Unscored(reason="none of the texts is an attempt at a solution")


def test_the_cluster_with_the_most_steps_taken_from_the_beginning_is_matched() -> None:
    counts = {"C1": 2, "C2": 3}
    again = match_again(counts, lambda _: Unscored(reason="no"))
    taken = {"C1": {"1": False, "2": True}, "C2": {"1": True, "2": False, "3": True}}
    assert again.read(said({"taken": taken}), FIRST) == Match(
        cluster="C2", prefix={"C1": 0, "C2": 1}, common={"C1": 1, "C2": 2}
    )
    unknown = again.read(said({"taken": {"C9": {"1": True}}}), FIRST)
    assert unknown == Unscored(reason="it names a solution that is not there")
    assert again.read(FIRST, FIRST) == Unscored(reason="no"), "what is no short form is read as the whole one"


def test_an_analysis_has_titles_and_approachability_where_that_is_asked_for() -> None:
    value = {"main_steps": [{"title": "Factor.", "approachability": 2}, {"title": "Parity.", "approachability": 4}]}
    found = analysis_again(True).read(said(value), FIRST)
    assert isinstance(found, Analysis)
    assert [(one.title, one.approachability) for one in found.main_steps] == [("Factor.", 2), ("Parity.", 4)]
    bare = {"main_steps": [{"title": "Factor."}, {"title": "Parity."}]}
    assert isinstance(analysis_again(True).read(said(bare), FIRST), Unscored)
    assert isinstance(analysis_again(False).read(said(bare), FIRST), Analysis)


def test_weights_become_seven_points_by_largest_remainder() -> None:
    items = [{"title": "One.", "full": "Proved.", "weight": 5}, {"title": "Two.", "full": "Proved.", "weight": 1}]
    found = rubric_again(()).read(said({"items": items}), FIRST)
    assert isinstance(found, Rubric)
    assert [one.points for one in found.items] == [6, 1]


def test_points_that_were_wanted_are_given_in_their_order() -> None:
    items = [{"title": "One.", "full": "Proved."}, {"title": "Two.", "full": "Proved."}]
    found = rubric_again((3, 4)).read(said({"items": items}), FIRST)
    assert isinstance(found, Rubric)
    assert [one.points for one in found.items] == [3, 4]
    few = rubric_again((3, 4)).read(said({"items": items[:1]}), FIRST)
    assert few == Unscored(reason="2 items are wanted; there are 1")


@pytest.mark.parametrize("title", ["…", "what it is for", "the idea"])
async def test_a_form_that_is_copied_instead_of_filled_is_unread(title: str) -> None:
    item = {"title": title, "full": "what must stand there", "weight": 2}
    table: Table = {"rubric/*/again": json.dumps({"items": [item, item]}), "rubric/*": "No.", **FOLLOWS}
    run = await grade("ref5_plain", table, references=REFERENCES)
    assert run.points is None
    assert "it copies the form" in run.grading.unscored


def test_a_cluster_may_be_named_as_its_heading_names_it() -> None:
    said_so = {"steps": ["Factor."], "same": [{"step": 1, "cluster": "Solution C1", "other": 1}]}
    found = matching_read(said(said_so), {"C1": 1})
    assert isinstance(found, MatchingSaid)
    assert best_match(found, {"C1": 1}).common == {"C1": 1}
    assert isinstance(matching_read(said(said_so), {"C2": 1}), Unscored)


async def test_a_grading_continues_with_short_forms_if_every_first_answer_was_cut_off() -> None:
    cut = final("Let me think about", finish_reason="length")
    item = {"title": "Neighbours.", "full": "One is even."}
    table: Table = {
        "cluster": cut,
        "cluster/again": json.dumps({"like": {"1": 1, "2": 2}, "steps": {"1": ["Factor."], "2": ["Cases."]}}),
        "match": cut,
        "match/again": json.dumps({"taken": {"C1": {"1": True}, "C2": {"1": False}}}),
        "analyse/C1/plain": cut,
        "analyse/C1/plain/again": json.dumps({"main_steps": [{"title": "Factor."}, {"title": "Parity."}]}),
        "rubric/*/again": json.dumps({"items": [item | {"weight": 2}, item | {"weight": 1}]}),
        "rubric/*": cut,
        "grade/*/again": json.dumps({"items": {"M1": 3, "M2": 0.5}}),
        "grade/*": cut,
    }
    run = await grade("ref5_plain", table, references=REFERENCES, closing="schema")
    assert run.points == 3.5
    assert [(one.code, int(one.most)) for one in run.grading.items] == [("M1", 5), ("M2", 2)]
    seconds = [one for one in run.dispatcher.requests if one.key.endswith("/again")]
    assert len(seconds) == 5
    assert all(one.json_schema is not None for one in seconds)
    assert set(run.kinds) >= {("cluster/unread", "output.unread"), ("grade/ref5_plain/unread", "output.unread")}
