"""Dataset versions: their rows, the reasons for what is left out, and their immutability."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from pytest_django import Settings

from apps.datasets.models import DatasetBuild, DatasetVersion, TokenShard
from apps.datasets.selectors import TALLY_KEY
from apps.datasets.services import build_start
from apps.datasets.tokens.shards import tokens_folder
from apps.datasets.versions.choosing import NothingToMake, runs_to_choose
from apps.datasets.versions.making import build_make, datasets_folder
from apps.preparation.models import BenchmarkText
from apps.problems.importing.shapes import ANSWERBENCH_ORIGIN
from apps.recipes.mathematics.rows import arrow_schema
from apps.recipes.rows.__main__ import main as export
from apps.runs.models import Run
from tests.datasets.factory import driven, explored, failed, judged, passed, queued, version_of
from tests.reasoning.candidates import FAIL, PASS
from tests.reasoning.play import proof

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _data(settings: Settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path


def make(recipe: str, *runs: Run, name: str = "proofs", **options: Any) -> DatasetVersion:
    build = build_start(user=None, name=name, recipe=recipe, runs=runs, options=options, start=False)
    return build_make(build, export=export)


def rows_of(version: DatasetVersion) -> list[dict[str, Any]]:
    return [row for file in sorted((version.folder / "rows").iterdir()) for row in pq.read_table(file).to_pylist()]


def manifest(version: DatasetVersion) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((version.folder / "manifest.json").read_text())
    return found


def left(version: DatasetVersion) -> dict[str, int]:
    return {row["reason"]: row["count"] for row in manifest(version)["left"]}


def test_proofs_of_one_problem_become_a_group_with_advantages_and_the_sampled_tokens() -> None:
    version = version_of()
    made = make("grpo_rubric", passed(version), failed(version))
    rows = rows_of(made)
    assert [(row["role"], row["reward"], row["advantage"]) for row in rows] == [("solver", 1.0, 0.5), ("solver", 0.0, -0.5)]
    [group] = {row["group_id"] for row in rows}
    assert group.startswith(f"{version.problem.public_id}@1/"), "delimiters do not matter"
    shard = pq.read_table(tokens_folder() / TokenShard.objects.filter(run=Run.objects.last()).order_by("pk")[0].uri)
    drawn = shard.to_pylist()[0]
    assert drawn["completion_ids"] in [row["completion_ids"] for row in rows]
    assert all(len(row["logprobs"]) == len(row["completion_ids"]) == len(row["loss_mask"]) for row in rows)
    assert pq.read_schema(next((made.folder / "rows").iterdir())).equals(arrow_schema())
    assert left(made) == {"made from another solution, so its prompt is unique": 2}
    assert (made.rows_count, made.has_logprobs, made.has_tokens) == (2, True, True)


def test_a_version_has_a_manifest_whose_hash_covers_every_file_and_never_changes() -> None:
    version = version_of()
    made = make("grpo_rubric", passed(version), failed(version))
    found = manifest(made)
    assert made.hash == hashlib.sha256((made.folder / "manifest.json").read_bytes()).hexdigest()
    assert found["files"].keys() == {"rows/00000.parquet", "texts.jsonl", "prompts.jsonl"}
    for name, sha256 in found["files"].items():
        assert hashlib.sha256((made.folder / name).read_bytes()).hexdigest() == sha256
        assert (made.folder / name).stat().st_mode & 0o222 == 0
    assert {run["id"] for run in found["runs"]} == {str(run.public_id) for run in Run.objects.all()}
    assert (found["tokenizer"], found["policies"]) == (TokenShard.objects.all()[0].tokenizer, ["scripted"])
    assert found["counts"]["pass_rates"]["25-50"] == 1
    assert any("temperature other than 1" in note for note in found["notes"])
    again = make("grpo_rubric", *Run.objects.all())
    assert (again.version, DatasetVersion.objects.get(name="proofs", version=2)) == (2, again)
    assert made.folder.exists()
    assert not list((datasets_folder() / ".making").iterdir())


def test_proofs_are_imitated_without_a_verdict_unless_a_reward_is_required() -> None:
    version = version_of()
    unjudged = driven(queued(version, "single_call"), judged(PASS))
    runs = [passed(version), failed(version), unjudged]
    made = make("sft_proofs", *runs)
    assert {row["run_id"] for row in rows_of(made)} == {str(run.public_id) for run in runs}
    assert [row["run_id"] for row in rows_of(make("sft_proofs", *runs, accepted=0.5))] == [str(runs[0].public_id)]
    assert manifest(made)["options"] == {"accepted": None}


def test_a_supervised_version_has_the_conversations_of_its_proofs() -> None:
    version = version_of()
    made = make("sft_proofs", passed(version), failed(version), accepted=0.5)
    assert [row["reward"] for row in rows_of(made)] == [None]
    assert [row["finish_reason"] for row in rows_of(made)] == ["stop"]
    texts = [json.loads(line) for line in (made.folder / "texts.jsonl").read_text().splitlines()]
    assert [message["role"] for message in texts[0]["messages"]] == ["system", "user", "assistant"]
    assert version.statement in texts[0]["messages"][1]["content"]
    assert texts[0]["messages"][2]["content"].startswith("<proof>")


def test_turns_of_corrections_are_one_trajectory_and_share_its_reward() -> None:
    version = version_of()
    made = make("turn_grpo", passed(version), failed(version))
    steps = [(row["step_index"], row["role"], row["reward"]) for row in rows_of(made)]
    assert steps == [(0, "solver", 1.0), (0, "solver", 0.0), (1, "corrector1", 0.0), (2, "corrector2", 0.0)]


def test_agents_are_rewarded_by_the_answer_and_verifiers_by_agreement_with_it() -> None:
    version = version_of("sum", answer="42")
    right = driven(queued(version), judged(PASS, written=lambda request: proof(r"So it is $\boxed{42}$.")))
    wrong = driven(queued(version), judged(PASS, written=lambda request: proof(r"So it is $\boxed{41}$.")))
    made = make("marsrl", right, wrong, judge="answer")
    assert [(row["role"], row["reward"]) for row in rows_of(made)] == [("solver", 1.0), ("solver", 0.0)]
    assert left(made)["turns without a row"] == 4, "each solution has two equal verdicts"
    tally = made.counts[TALLY_KEY]
    assert (tally["role/verifier1/spared"], tally["role/verifier1/found"]) == ([2, 2], [0, 2]), "it passes every solution"
    mixed = driven(queued(version), lambda request: {"check/1": PASS, "check/2": FAIL, "check/3": FAIL}.get(
        request.key) or proof(r"It is $\boxed{42}$."))  # fmt: skip
    verifiers = [row for row in rows_of(make("marsrl", mixed, wrong, judge="answer")) if row["role"].startswith("verifier")]
    assert [row["reward"] for row in verifiers] == [1.0, 0.0]


def test_rounds_are_credited_by_their_lemmas() -> None:
    version = version_of()
    good = explored(version)
    bad = driven(queued(version, "intern_s1_mo", params=good.spec["params"]), lambda request: "I like turtles.")
    made = make("orealh", good, bad)
    rows = rows_of(made)
    assert {row["role"] for row in rows} >= {"reasoner", "writer", "reviser"}
    assert "summarizer" not in {row["role"] for row in rows}
    assert all(row["verdict_n"] == 4 for row in rows)
    found = [row for row in rows if row["lemma_ids"]]
    assert found
    assert max(row["advantage"] for row in found) > 0
    assert {row["verdict_k"] for row in rows if row["run_id"] == str(bad.public_id)} == {0}
    masked, rounds = made.counts[TALLY_KEY]["masked_rounds"]
    assert 0 < masked < rounds
    assert made.counts[TALLY_KEY]["mean_value"][0] > 0
    cold = make("orealh_cold_start", good, bad, name="cold")
    assert {row["role"] for row in rows_of(cold)} >= {"reasoner", "summarizer", "writer"}
    assert {row["run_id"] for row in rows_of(cold)} == {str(good.public_id)}


def test_attempts_at_the_same_state_form_a_group() -> None:
    version = version_of("half", answer="1")
    answers = iter(["1", "2", "3", "4"])

    def written(request: Any) -> str:
        if "summarise" in request.key:
            return f"<state>After {request.key}.</state>"
        return proof(rf"Answer: $\boxed{{{next(answers)}}}$.")

    runs = [driven(queued(version, "reasoning_cache", params={"turns": 2}), written) for _ in range(2)]
    made = make("rc_rl", *runs, judge="answer")
    assert sorted(row["reward"] for row in rows_of(made)) == [0.0, 1.0]
    assert len({row["group_id"] for row in rows_of(made)}) == 1, "the second turns have another state and equal rewards"


def test_runs_without_recorded_tokens_give_texts_for_supervised_learning_only() -> None:
    version = version_of()
    run = passed(version, capture=False)
    made = make("sft_proofs", run)
    assert (made.has_tokens, made.has_logprobs, made.rows_count) == (False, False, 1)
    assert not (made.folder / "rows").exists()
    assert "workers.training.tokenise" in manifest(made)["notes"][0]
    with pytest.raises(NothingToMake, match=rf"1 of 1 runs were not recorded for learning \({run.public_id}\)"):
        make("grpo_rubric", run)
    with pytest.raises(NothingToMake, match="cannot mix tokens and texts"):
        make("sft_proofs", run, passed(version))


def test_benchmark_problems_are_recognised_by_content_and_left_out() -> None:
    ours = version_of()
    BenchmarkText.objects.create(collection="set", name="1", text="SHOW that, for  $x\\leq 1$: it holds!")
    held = version_of("held-back", statement="Show that for \\(x \\le 1\\) it holds.")
    came = version_of("came-with-a-benchmark", origin=ANSWERBENCH_ORIGIN)
    made = make("sft_proofs", passed(ours), passed(held), passed(came))
    assert {row["problem_id"] for row in rows_of(made)} == {f"{ours.problem.public_id}@1"}
    assert left(made)["a benchmark problem, reserved for measuring"] == 2
    with pytest.raises(NothingToMake, match=r"None of the runs can be used: 2 × a benchmark problem"):
        make("sft_proofs", *Run.objects.exclude(problem_version=ours))


@pytest.mark.parametrize(
    ("recipe", "runs", "reason"),
    [
        ("turn_sft", (failed,), "No rows could be made.*None of 1 trajectories succeeded"),
        ("grpo_rubric", (passed,), "No rows could be made.*Every group has a single answer"),
        ("grpo_rubric", (failed, failed), "No answer has a positive reward"),
        ("orealh", (passed,), "a run without rounds and lemmas"),
    ],
    ids=["nothing accepted", "only singletons", "no positive", "no rounds"],
)
def test_unusable_runs_fail_the_build_with_the_reason_and_leave_no_files(
    recipe: str, runs: tuple[Callable[..., Run], ...], reason: str
) -> None:
    version = version_of()
    with pytest.raises(NothingToMake, match=reason):
        make(recipe, *(run(version) for run in runs))
    build = DatasetBuild.objects.get()
    assert (build.state, build.version) == ("failed", None)
    assert build.message
    assert not DatasetVersion.objects.exists()
    assert [path.name for path in datasets_folder().iterdir()] == [".making"]
    assert not list((datasets_folder() / ".making").iterdir())


def test_a_truncated_shard_is_named() -> None:
    version = version_of()
    runs = passed(version), failed(version)
    shard = runs[0].token_shards.first()
    assert shard is not None
    path = tokens_folder() / shard.uri
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(NothingToMake, match=rf"The token shard {shard.uri} is truncated or was changed"):
        make("grpo_rubric", *runs)
    path.unlink()
    with pytest.raises(NothingToMake, match=rf"The token shard {shard.uri} cannot be read"):
        make("grpo_rubric", *runs)


def test_runs_of_two_tokenizers_cannot_be_mixed() -> None:
    version = version_of()
    runs = passed(version), failed(version)
    runs[1].token_shards.update(tokenizer="f" * 64)
    with pytest.raises(NothingToMake, match=r"2 different tokenizers .*ffffffffffff…: 1 runs"):
        make("grpo_rubric", *runs)


def test_only_finished_explorations_can_be_chosen_and_invalid_orders_are_rejected() -> None:
    version = version_of()
    run, waiting = passed(version), queued(version)
    assert runs_to_choose(None) == [run]
    with pytest.raises(NothingToMake, match="1 × a run that has not finished"):
        make("sft_proofs", waiting)
    for change, key in (
        ({"name": "No Spaces"}, "name"),
        ({"recipe": "magic"}, "recipe"),
        ({"runs": []}, "runs"),
        ({"options": {"accepted": "NaN"}}, "accepted"),
        ({"options": {"judge": "dice"}}, "judge"),
        ({"options": {"colour": "red"}}, "recipe"),
    ):
        order = {"user": None, "name": "proofs", "recipe": "sft_proofs", "runs": [run], "start": False} | change
        with pytest.raises(ValidationError) as refused:
            build_start(**order)
        assert set(refused.value.message_dict) == {key}
    assert not DatasetBuild.objects.filter(recipe="magic").exists()


def test_the_command_makes_a_version_with_the_real_program(capsys: pytest.CaptureFixture[str]) -> None:
    version = version_of()
    run = passed(version)
    failed(version)
    call_command("export_rows", "mine", "--recipe", "grpo_rubric", "--problem", version.problem.slug)
    assert "mine v1: 2 rows of 2 trajectories in 1 groups, 1 problems" in capsys.readouterr().out
    with pytest.raises(CommandError, match="Every group has a single answer"):
        call_command("export_rows", "mine", "--recipe", "grpo_rubric", "--run", str(run.public_id))
    with pytest.raises(CommandError, match="No finished run matches"):
        call_command("export_rows", "mine", "--recipe", "grpo_rubric", "--scaffold", "rsa")


def test_the_command_can_select_recorded_runs_only() -> None:
    version = version_of()
    passed(version), failed(version), passed(version, capture=False)
    with pytest.raises(CommandError, match="1 of 3 runs were not recorded"):
        call_command("export_rows", "proofs", recipe="grpo_rubric")
    call_command("export_rows", "proofs", recipe="grpo_rubric", recorded=True)
    assert DatasetVersion.objects.get().rows_count == 2
