"""Under which name a piece is kept: the same for every script, another one for whatever it was made from."""

import pytest

from apps.graders.pieces import piece_keep, pieces_known
from apps.reasoning.domain.generation import Sampling
from apps.reasoning.domain.grading_events import GradingPrepared
from apps.reasoning.graders.pieces import references
from apps.reasoning.prompts import loader
from apps.reasoning.scaffolds.spec import RoleSpec
from tests.graders import grade as played
from tests.graders.answers import FOLLOWS
from tests.graders.grade import PROBLEM, REFERENCES, grade

KINDS = ("clusters", "analysis", "rubric")


async def names(workflow: str = "ref5_plain", **params: object) -> dict[str, str]:
    """The piece of each kind by name, after a grading that made all three."""
    run = await grade(workflow, FOLLOWS, **{"references": REFERENCES, **params})  # type: ignore[arg-type]
    return {kind: next(name for name in run.pieces if name.startswith(f"{kind}/")) for kind in KINDS}


async def test_the_script_plays_no_part() -> None:
    assert await names() == await names(script="Another script.\n\nIn two steps.\n\nIn three steps.")


async def test_other_references_in_another_order_are_other_pieces() -> None:
    now, turned = await names(), await names(references=REFERENCES[::-1])
    assert now["clusters"] != turned["clusters"]


async def test_another_statement_is_another_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    now = await names()
    monkeypatch.setattr(played, "PROBLEM", PROBLEM.model_copy(update={"statement": "Prove that $n^2-n$ is even."}))
    assert not set((await names()).values()) & set(now.values())


async def test_an_analysis_with_approachability_is_another_and_so_is_a_rubric_of_milestones() -> None:
    plain, scored, milestones = await names(), await names("ref5_approachability"), await names("ref5_milestones")
    assert plain["clusters"] == scored["clusters"] == milestones["clusters"]
    assert plain["analysis"] == milestones["analysis"] != scored["analysis"]
    assert len({plain["rubric"], scored["rubric"], milestones["rubric"]}) == 3


async def test_a_changed_prompt_makes_its_piece_again_and_no_earlier_one(monkeypatch: pytest.MonkeyPatch) -> None:
    now, load = await names(), loader.load
    changed = load("grading/designer").model_copy(update={"sha": "0" * 64})
    monkeypatch.setattr(references, "load", lambda name: changed if name == "grading/designer" else load(name))
    later = await names()
    assert [later[kind] == now[kind] for kind in KINDS] == [True, True, False]


@pytest.mark.django_db
def test_a_piece_is_found_only_for_the_model_that_made_it() -> None:
    prepared = GradingPrepared(piece="clusters/1", what="clusters", role="clusterer", is_cached=False, value={"clusters": []})
    made_by = {"clusterer": RoleSpec(alias="served", revision="r1", sampling=Sampling())}
    piece_keep("Prove it.", prepared, made_by)
    assert list(pieces_known("Prove it.", made_by)) == ["clusters/1"]
    assert pieces_known("Prove it.", {"clusterer": RoleSpec(alias="served", revision="r2", sampling=Sampling())}) == {}
    assert pieces_known("Prove it.", {"clusterer": RoleSpec(alias="other", revision="r1", sampling=Sampling())}) == {}
    assert pieces_known("Prove that.", made_by) == {}
