"""Recording for learning: the tokens of every call are stored in shards, once, whole, and only on request."""

import itertools
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from django.core.exceptions import ValidationError
from pytest_django import Settings

from apps.datasets.models import TokenRow, TokenShard
from apps.datasets.recorded.feeding import Feed, FeedPlan
from apps.datasets.tokens.shards import oldest_policy, tokens_folder
from apps.explorations.starting.plans import Plan, plan_of_spec, plan_spec
from apps.reasoning.domain.generation import Message, Sample, Sampling
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.inference.aliases import parse_aliases
from apps.reasoning.inference.made_up import made_up_capture, word_ids
from apps.reasoning.inference.scripted import ScriptedBackend
from apps.reasoning.scaffolds.running.calling import final_of
from apps.reasoning.scaffolds.spec import RunSpec
from apps.recipes.registry import TRAININGS
from apps.runs.models import Run, RunEvent, Step
from tests.datasets.factory import judged, passed, queued, version_of
from tests.inference.conftest import a_request
from tests.reasoning.candidates import PASS, named
from tests.runs.driving import drive, with_model
from tests.runs.factory import began, record, take, with_journal

pytestmark = pytest.mark.django_db(transaction=True)
MODELS = parse_aliases(
    """
[large]
backend = "vllm"
title = "Large"
model = "large-1"

[far]
backend = "openai_http"
title = "Far away"
model = "far-1"
base_url = "http://127.0.0.1:1/v1"
"""
)
PROBLEM = ProblemText(id="p", version=1, title="P", statement="Show it.")


@pytest.fixture(autouse=True)
def _data(settings: Settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path


def rows_of(run: Run) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = {}
    for shard in run.token_shards.all():
        found |= {row["key"]: row for row in pq.read_table(tokens_folder() / shard.uri).to_pylist()}
    return found


def test_every_call_of_a_recorded_run_has_tokens_in_a_shard_and_none_in_the_database() -> None:
    run = passed(version_of())
    rows = rows_of(run)
    assert rows.keys() == {"solve", "check/1", "check/2"} == set(run.steps.filter(kind="call").values_list("key", flat=True))
    solved = rows["solve"]
    assert solved["completion_ids"] == list(word_ids(named(a_request("solve")).split()))
    assert len(solved["completion_ids"]) == run.steps.get(key="solve").completion_tokens
    assert len(solved["prompt_ids"]) == run.steps.get(key="solve").prompt_tokens  # type: ignore[arg-type]
    assert set(solved["loss_mask"]) == {1}  # type: ignore[call-overload]
    assert (solved["temperature"], solved["top_p"], solved["finish_reason"]) == (
        pytest.approx(0.7),
        pytest.approx(0.95),
        "stop",
    )
    shard = run.token_shards.first()
    assert shard is not None
    assert (shard.policy, shard.logprobs_of, len(shard.tokenizer)) == ("scripted", "raw", 64)
    written = str(
        [*Step.objects.values(), *RunEvent.objects.values(), *TokenShard.objects.values(), *TokenRow.objects.values()]
    )
    assert "logprobs" not in written.replace("logprobs_of", "")
    assert "completion_ids" not in written


def test_an_answer_in_segments_keeps_every_policy_and_lags_by_the_oldest(tmp_path: Path) -> None:
    version, versions = version_of(), itertools.count(3)
    run = queued(version)
    run.spec["segment_tokens"] = 4
    run.save(update_fields=["spec"])
    backend = ScriptedBackend(judged(PASS), revision=lambda: f"base + policy/{next(versions)}")
    drive(run, with_model(backend))
    solved: Any = rows_of(run)["solve"]
    size = len(solved["completion_ids"])
    sizes = [4] * (size // 4) + [size % 4] * bool(size % 4)
    assert len(sizes) > 1
    assert solved["segments"] == [
        {"tokens": tokens, "policy": f"base + policy/{number}"} for number, tokens in enumerate(sizes, start=3)
    ]
    assert run.token_rows.get(key="solve").shard.policy == "base + policy/3"
    feed = Feed(tmp_path / "feed.jsonl", FeedPlan(TRAININGS["grpo_rubric"], "verifiers", ["even-number"]))
    assert feed.poll() == 1
    turns = [json.loads(line) for line in (tmp_path / "feed.jsonl").read_text().splitlines() if '"run"' in line]
    assert turns[0]["trajectories"][0]["turns"][0]["policy_version"] == 3


def test_the_oldest_policy_is_found_even_if_versions_decrease() -> None:
    request = a_request("solve", segment_tokens=1)
    captured = made_up_capture(request, ["a", "b", "c"], "base + policy/5", "base + policy/2", "base + policy/6")
    assert captured.policy == "base + policy/5"
    assert oldest_policy(captured) == "base + policy/2"
    assert oldest_policy(made_up_capture(request, ["a"], "base")) == "base"


def test_a_run_that_is_not_recorded_writes_no_shard() -> None:
    run = passed(version_of(), capture=False)
    assert run.status == "finished"
    assert not run.token_rows.exists()
    assert not tokens_folder().exists()


def test_a_repeated_result_and_a_replay_write_tokens_once() -> None:
    run = take(queued(version_of()))
    call = record("solve")
    assert call.final is not None
    captured = made_up_capture(a_request("solve"), ["a ", "text"], "scripted")
    call = call.model_copy(update={"final": call.final.model_copy(update={"capture": captured})})

    async def append_twice(journal: object) -> None:
        await journal.append(call, [began("solve")], ("a prompt",))  # type: ignore[attr-defined]
        await journal.append(call, [began("solve")], ("a prompt",))  # type: ignore[attr-defined]

    with_journal(run, append_twice)
    with_journal(Run.objects.get(pk=run.pk), append_twice)
    assert [(row.key, row.sample, row.row) for row in run.token_rows.all()] == [("solve", 0, 0)]
    assert len(list(tokens_folder().rglob("*.parquet"))) == 1


def test_tokens_that_cannot_be_stored_fail_the_run_with_the_reason_and_leave_no_record() -> None:
    tokens_folder().write_text("a file where the folder should be")
    run = queued(version_of())
    status = drive(run, with_model(ScriptedBackend(lambda request: PASS if "check" in request.key else named(request))))
    run.refresh_from_db()
    assert status == "failed"
    assert "tokens of calls cannot be stored" in run.status_reason
    assert not run.steps.filter(kind="call").exists()
    tokens_folder().unlink()
    Run.objects.filter(pk=run.pk).update(status="queued")
    assert (
        drive(run, with_model(ScriptedBackend(lambda request: PASS if "check" in request.key else named(request))))
        == "finished"
    )
    assert run.token_rows.count() == 3


def test_made_up_tokens_are_the_same_for_the_same_words() -> None:
    request = a_request("a", "Say hello.").model_copy(update={"messages": (Message(role="user", content="Say  hello."),)})
    first, second = (made_up_capture(request, ["one ", "two ", "one"], "p") for _ in range(2))
    assert first == second
    assert first.completion_ids[0] == first.completion_ids[2]
    assert first.prompt_ids == word_ids(["Say", "hello."])
    assert all(-3 <= value <= 0 for value in first.logprobs)
    drawn = request.model_copy(update={"sampling": Sampling(temperature=0, top_p=0.5)})
    assert made_up_capture(drawn, ["one"], "p").top_p == 1.0


def test_recording_is_off_by_default_and_rejected_for_models_without_tokens() -> None:
    plan = Plan("self_check", "quick", role_aliases={"": "large"})
    assert not plan_spec(plan, PROBLEM, MODELS).capture
    recorded = plan_spec(Plan("self_check", "quick", role_aliases={"": "large"}, capture=True), PROBLEM, MODELS)
    assert recorded.capture
    assert plan_of_spec(recorded).capture, "a fork starts with its parent's setting"
    mixed = Plan("self_check", "quick", role_aliases={"": "large", "verifier": "far"}, capture=True)
    with pytest.raises(ValidationError, match=r"Far away \(openai_http\) does not report its tokens") as refused:
        plan_spec(mixed, PROBLEM, MODELS)
    assert set(refused.value.message_dict) == {"capture"}


def test_a_scaffold_gets_no_tokens_as_on_a_replay() -> None:
    call = record("solve")
    assert call.final is not None
    captured = made_up_capture(a_request("solve"), ["a"], "scripted")
    several = (Sample(text="b", finish_reason="stop", capture=captured),)
    final = final_of(call.model_copy(update={"final": call.final.model_copy(update={"capture": captured, "more": several})}))
    assert (final.capture, final.more[0].capture, final.more[0].text, final.text) == (None, None, "b", "a text")


def test_specs_without_the_switch_are_not_recorded() -> None:
    spec = RunSpec.model_validate({"problem": PROBLEM, "scaffold": "self_check", "roles": {}})
    assert not spec.capture
