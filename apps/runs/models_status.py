"""Data of the Models page: each alias with its reported health, its queue, and a test prompt."""

import uuid
from dataclasses import dataclass

from django.conf import settings
from redis.exceptions import RedisError

from apps.processes.streams import HOUR_S, cancel_key, fingerprint_of, heartbeats, queue_length, results_key, sync_client
from apps.reasoning.domain.errors import BackendError, BackendUnavailable
from apps.reasoning.domain.generation import Final, GenerationRequest, Message, Sampling
from apps.reasoning.inference.aliases import load_aliases, load_served
from apps.runs.calls.sending import send_now

TEST_WITHIN_S = 60
TEST_TOKENS = 200


@dataclass(frozen=True)
class AliasStatus:
    """One row of the Models page. `state` is a backend's state, or `no worker`, or `unknown` without Redis."""

    name: str
    title: str
    backend: str
    state: str
    detail: str
    running: int
    waiting: int
    queue_length: int
    tokens_per_s: float
    workers: int
    concurrency: int
    is_tool: bool = False
    prompts: str = "full"


def alias_status() -> list[AliasStatus]:
    """All aliases of models.toml, in its order."""
    client = sync_client()
    try:
        beats = heartbeats(client)
        waiting = {name: queue_length(client, alias.queue) for name, alias in load_served(settings.MODELS_FILE).items()}
    except (RedisError, OSError) as error:
        beats, waiting, away = [], {}, str(error)
    else:
        away = ""
    rows = []
    for name, alias in load_served(settings.MODELS_FILE).items():
        reports = [beat["health"][name] for beat in beats if name in beat["health"]]
        workers = sum(name in beat["aliases"] for beat in beats)
        if away:
            state, detail = "unknown", f"Redis does not answer ({away})."
        elif not workers:
            state, detail = "no worker", "No inference worker serves this alias; calls wait in its queue."
        else:
            states = [report["state"] for report in reports] or ["unloaded"]
            state = next((wanted for wanted in ("ready", "loading", "unloaded") if wanted in states), "down")
            detail = next((report["detail"] for report in reports if report["state"] == state), "Loaded at the first call.")
        rows.append(
            AliasStatus(
                name=name,
                title=alias.title,
                backend=alias.backend,
                state=state,
                detail=detail,
                running=sum(report["running"] for report in reports),
                waiting=sum(report["waiting"] for report in reports),
                queue_length=waiting.get(name, 0),
                tokens_per_s=round(sum(report["tokens_per_s"] for report in reports), 1),
                workers=workers,
                concurrency=alias.concurrency,
                is_tool=alias.is_tool,
                prompts=alias.prompts,
            )
        )
    return rows


def prompt_try(alias: str, text: str) -> Final:
    """Send one prompt to an alias through the broker, like a run, and wait for the answer.

    Raises `BackendError` with a message for the page: no worker, rejected, or no answer within `TEST_WITHIN_S`.
    """
    chosen = load_aliases(settings.MODELS_FILE)[alias]
    run = f"test-{uuid.uuid4()}"
    request = GenerationRequest(
        run=run,
        key="test",
        role="test",
        alias=alias,
        messages=(Message(role="user", content=text),),
        sampling=Sampling(max_new_tokens=TEST_TOKENS),
        deadline_s=TEST_WITHIN_S,
        priority=0,
    )
    client = sync_client()
    try:
        send_now([(request.model_dump_json(), fingerprint_of(request))], chosen.queue, priority=0)
        for _ in range(TEST_WITHIN_S):
            answer = client.xread({results_key(run): "0-0"}, count=1, block=1000)
            if answer:
                return _read_answer(answer[0][1][0][1])
        client.set(cancel_key(run), "1", ex=HOUR_S)
    except (RedisError, OSError) as error:
        raise BackendUnavailable(f"Redis does not answer ({error}). Is the stack running?") from error
    finally:
        client.delete(results_key(run))
    raise BackendUnavailable(f"Nothing came back within {TEST_WITHIN_S} s. Does an inference worker serve {alias}?")


def _read_answer(fields: dict[str, str]) -> Final:
    if "final" in fields:
        return Final.model_validate_json(fields["final"])
    raise BackendError(fields["message"])
