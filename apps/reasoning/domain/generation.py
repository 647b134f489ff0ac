"""Requests to models and their answers. Shared by the core, the broker messages and every backend."""

import re
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from apps.reasoning.domain.tools import ToolJob
from apps.reasoning.domain.values import Value, unchecked

FinishReason = Literal["stop", "length", "cancelled"]
Job = Literal["generate"] | ToolJob
"""The work of a call: generate text with a model, or run a tool (tools.py)."""
ToolProtocol = Literal["text", "native"]
"""How a model calls tools: as tagged text described in its prompt, or as native functions of its engine."""

PromptSet = Literal["full", "small"]
"""Which answer forms prompts describe: all variants, or the simplest one with an example, for small models."""

Closing = Literal["text", "schema", "grammar"]
"""How a missing closing is requested: in words, or under a JSON Schema that the engine enforces. `grammar` is `schema`, and
also restricts the closing of the first answer to its values (docs/models.md, "Closings")."""


class Message(Value):
    """One chat message."""

    role: Literal["system", "user", "assistant"]
    content: str


#: Largest picture of a call, in bytes and in characters of base64.
PICTURE_BYTES = 4 * 1024**2
PICTURE_LENGTH = 4 * -(-PICTURE_BYTES // 3)


class Picture(Value):
    """A picture for a model. `data` is the file in base64."""

    media: Literal["image/jpeg", "image/png"]
    data: str = Field(max_length=PICTURE_LENGTH)


class OfferedTool(Value):
    """A native function that a model may call. `parameters` is the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, Any]


class Ending(Value):
    """The required end of an answer: a tag with one of these values. The text before the tag is free."""

    tag: str = Field(pattern=r"^[a-z][a-z_-]*$")
    values: tuple[str, ...] = Field(min_length=1)

    @property
    def opening(self) -> str:
        return f"<{self.tag}>"

    @property
    def end(self) -> str:
        return f"</{self.tag}>"

    @property
    def pattern(self) -> str:
        """A regular expression of the values."""
        return f"({'|'.join(re.escape(value) for value in self.values)})"


class Sampling(Value):
    """How tokens are sampled. `max_new_tokens` counts completion and reasoning tokens together."""

    temperature: float = Field(default=0.7, ge=0)
    top_p: float = Field(default=0.95, gt=0, le=1)
    max_new_tokens: int = Field(default=4096, ge=1)
    stop: tuple[str, ...] = ()


class Place(Value):
    """The position of a call in a run, for display only: lanes, timelines, cost per role.

    `subject` is the object of the call (`lemma s0.7`, `proof 2`), `index` its number among equal calls (vote, candidate).
    """

    rollout: int = 0
    round: int = 0
    subject: str = ""
    index: int = 0

    def at(self, index: int) -> "Place":
        """Return the same place with another `index`."""
        return unchecked(Place, rollout=self.rollout, round=self.round, subject=self.subject, index=index)


class GenerationRequest(Value):
    """A complete model call. `key` is the structural path of the call inside its run.

    `prompt_ids`, if given, are the tokens of the prompt; `messages` then serve display only. `n` completions are sampled: the
    first is the answer, the others are in `Final.more`. `capture` requests the sampled tokens. A lower `priority` is served
    earlier. A backend that does not support one of these fields, or the `job`, raises `RequestRejected`.
    With `segment_tokens`, a longer answer is sampled in segments of this many tokens, each under the newest policy of the
    alias (segment rollouts, MarsRL §3.3). Answers with a schema or an ending, and several at once, are sampled whole.
    With an `ending`, the opening tag can only be followed by one of the values and the closing tag, which ends the answer.
    A backend that cannot enforce it ignores it; readers of answers do not rely on it.
    A call of one of `tools` becomes part of the answer's text (docs/tools.md, "Functions of an engine"); a model may also
    call none, or write its request in words. `pictures` follow the text of the last message.
    """

    run: str
    key: str
    attempt: int = 1
    role: str
    alias: str
    messages: tuple[Message, ...]
    sampling: Sampling = Sampling()
    json_schema: dict[str, Any] | None = None
    ending: Ending | None = None
    seed: int = 0
    deadline_s: float = 900.0
    priority: int = Field(default=6, ge=0, le=9)
    prompt_ids: tuple[int, ...] = ()
    n: int = Field(default=1, ge=1)
    capture: bool = False
    segment_tokens: int | None = Field(default=None, ge=1)
    job: Job = "generate"
    tools: tuple[OfferedTool, ...] = ()
    pictures: tuple[Picture, ...] = ()

    @property
    def drawn_at_once(self) -> int:
        """The largest number of tokens sampled before another policy may take over."""
        is_whole = self.segment_tokens is None or self.n > 1 or (self.json_schema or self.ending) is not None
        return self.sampling.max_new_tokens if is_whole else self.segment_tokens or 1

    @property
    def call_id(self) -> str:
        """An id that is unique among the live calls of all runs; it differs between attempts."""
        return f"{self.run}/{self.key}#{self.attempt}"


class Usage(Value):
    """Token counts of one call. `reasoning` is part of `completion`, `cached` part of `prompt` (counted, not added)."""

    prompt: int = 0
    cached: int = 0
    completion: int = 0
    reasoning: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            prompt=self.prompt + other.prompt,
            cached=self.cached + other.cached,
            completion=self.completion + other.completion,
            reasoning=self.reasoning + other.reasoning,
        )


class Delta(Value):
    """A piece of a backend's stream: new text, new reasoning text, and the number of their tokens."""

    text: str = ""
    reasoning: str = ""
    tokens: int = 0


class Segment(Value):
    """Consecutive tokens of an answer, sampled under one policy."""

    tokens: int
    policy: str


def segments_of(tokens: int, each: int, policies: Sequence[str]) -> tuple[Segment, ...]:
    """Split `tokens` into segments of `each`, the n-th under the n-th of `policies`; empty for a single policy."""
    if len(policies) < 2:
        return ()
    return tuple(
        Segment(tokens=min(each, tokens - number * each), policy=policy)
        for number, policy in enumerate(policies)
        if number * each < tokens
    )


class Capture(Value):
    """The tokens of one completion exactly as the engine read and sampled them, for learning (learning notes §3).

    `logprobs` has the natural log-probability of each of `completion_ids` under `logprobs_of`: the model's own distribution
    (`raw`), or the one after temperature and truncation, from which the token was sampled (`sampled`).
    `policy` names weights and adapter; `tokenizer` and `chat_template` are SHA-256 hashes. `mask` is 1 for tokens sampled by
    the policy and 0 for inserted tokens; empty if all were sampled. For an answer in `segments`, `policy` is that of the
    first segment. The other fields are the sampling parameters.
    """

    prompt_ids: tuple[int, ...]
    completion_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    logprobs_of: Literal["raw", "sampled"]
    policy: str
    tokenizer: str
    chat_template: str
    mask: tuple[int, ...] = ()
    segments: tuple[Segment, ...] = ()
    temperature: float = 1.0
    top_p: float = 1.0
    max_new_tokens: int | None = None


class Sample(Value):
    """One of several completions of a call."""

    text: str
    reasoning: str = ""
    finish_reason: FinishReason
    capture: Capture | None = None


class Final(Value):
    """The end of a stream. `text` and `reasoning` are complete, so that a reader of `Final` needs no deltas.

    `ttft_s` is the time to the first token and `duration_s` the time to the last, both from the request to the backend.
    `worker` names the process that answered, for finding its log lines. `attempt` is the answered attempt, which grows when a
    lost call is sent again; 0 if attempts are not counted.
    """

    text: str
    reasoning: str = ""
    finish_reason: FinishReason
    usage: Usage = Usage()
    ttft_s: float | None = None
    duration_s: float = 0.0
    model_revision: str = ""
    worker: str = ""
    attempt: int = 0
    more: tuple[Sample, ...] = ()
    capture: Capture | None = None


class Health(Value):
    """The state that a backend reports. `detail` is one sentence for the Models page."""

    state: Literal["ready", "loading", "unloaded", "down"]
    detail: str = ""
    running: int = 0
    waiting: int = 0
    tokens_per_s: float = 0.0
    cached_share: float | None = None
    """Share of prompt tokens served from the engine's prefix cache since its start; None if not reported."""
    cache_used: float | None = None
    """Share of the key-value cache in use, 0 to 1."""
