"""Which trajectories of recorded runs are compared, and which runs give none."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pytest_django import Settings

from apps.datasets.models import DatasetVersion
from apps.datasets.services import build_start
from apps.datasets.versions.choosing import NothingToMake
from apps.datasets.versions.making import build_make
from apps.recipes.rows.__main__ import main as export
from apps.runs.models import Run
from tests.datasets.factory import driven, explored, failed, passed, queued, version_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _data(settings: Settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path


def make(recipe: str, *runs: Run, **options: Any) -> DatasetVersion:
    build = build_start(user=None, name=recipe.replace("_", "-"), recipe=recipe, runs=runs, options=options, start=False)
    return build_make(build, export=export)


def rows(version: DatasetVersion) -> list[dict[str, Any]]:
    return [row for file in (version.folder / "rows").iterdir() for row in pq.read_table(file).to_pylist()]


def roles_of(version: DatasetVersion) -> set[str]:
    return {row["role"] for row in rows(version)}


def test_a_writer_with_lemmas_is_not_compared_with_a_solver() -> None:
    version = version_of()
    made = make("grpo_rubric", passed(version), failed(version), explored(version))
    assert roles_of(made) == {"solver"}
    assert made.counts["groups"] == 1


def test_several_rollouts_are_not_one_line_of_rounds_but_can_be_imitated() -> None:
    several = explored(version_of(), rollouts=2)
    with pytest.raises(NothingToMake, match="1 × a run of several rollouts, whose rounds are not one line"):
        make("orealh", several)
    assert roles_of(make("orealh_cold_start", several)) >= {"reasoner", "summarizer"}


def test_a_cold_start_has_accepted_answers_to_the_question_alone_without_thinking() -> None:
    version = version_of()
    thinking = passed(version)
    thinking.steps.filter(kind="call").update(reasoning_sha="0" * 64)
    good = passed(version)
    made = make("orealh_cold_start", explored(version), good, failed(version), thinking)
    assert [row["role"] for row in rows(made) if row["run_id"] == str(good.public_id)] == ["solver"]
    assert {row["run_id"] for row in rows(made)} & {str(thinking.public_id)} == set()
    assert roles_of(made) >= {"reasoner", "summarizer", "solver"}
    assert made.counts["rows"] == len(rows(made))
    with pytest.raises(NothingToMake, match="4 × an answer with thinking, without acceptance"):
        make("orealh_cold_start", failed(version), thinking)


@pytest.mark.parametrize("judge", ["verifiers", "answer"])
def test_a_proof_with_a_wrong_answer_has_no_reward_with_either_judge(judge: str) -> None:
    version = version_of("six", answer="6")
    runs = [explored(version, answer="7") for _ in range(2)]
    with pytest.raises(NothingToMake, match="No answer has a positive reward"):
        make("orealh", *runs, judge=judge)


@pytest.mark.parametrize("judge", ["verifiers", "answer"])
def test_a_proof_with_an_undecided_answer_is_left_out_with_the_reason(judge: str) -> None:
    with pytest.raises(NothingToMake, match="1 × a final answer that could not be compared with the problem's"):
        make("orealh", explored(version_of("six", answer="6")), judge=judge)


def test_without_a_reference_answer_rounds_cannot_be_judged_by_it() -> None:
    with pytest.raises(NothingToMake, match="a solution without a verdict"):
        make("orealh", explored(version_of()), judge="answer")


@pytest.mark.parametrize("recipe", ["grpo_rubric", "turn_grpo", "turn_dapo", "turn_ppo"])
def test_an_unreadable_solution_has_reward_0_in_the_group_of_its_prompt(recipe: str) -> None:
    version = version_of()
    lost = driven(queued(version), lambda request: "I cannot do it.")
    made = make(recipe, passed(version), lost)
    rewards = {row["run_id"]: row["reward"] for row in rows(made)}
    assert rewards[str(lost.public_id)] == 0
    assert made.counts["groups"] == 1
    if recipe != "turn_ppo":
        with pytest.raises(NothingToMake, match="Every group has a single answer"):
            make(recipe, passed(version), lost, unread="leave")


def test_a_solution_that_was_cut_off_has_reward_0_even_if_it_was_read_and_passed() -> None:
    version = version_of()
    runs = [passed(version), passed(version)]
    runs[1].steps.filter(role="solver").update(finish_reason="length")
    assert sorted(row["reward"] for row in rows(make("grpo_rubric", *runs))) == [0, 1]
    with pytest.raises(NothingToMake, match="Every group has a single answer"):
        make("grpo_rubric", *runs, unread="leave")
