"""What is asked of a model and what comes back. Shared by the core, the broker messages and every backend."""

import re
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from apps.reasoning.domain.tools import ToolJob
from apps.reasoning.domain.values import Value, unchecked

FinishReason = Literal["stop", "length", "cancelled"]
Job = Literal["generate"] | ToolJob
"""What a call is: a model's text, or work of a tool (tools.py)."""
ToolProtocol = Literal["text", "native"]
"""How a model is given tools: described in its prompt and wanted as tagged text, or offered as functions by its engine."""

PromptSet = Literal["full", "small"]
"""Which forms its prompts describe: all that a form offers, or the plainest form with an example, for small models."""

Closing = Literal["text", "schema", "grammar"]
"""How an answer that lacks its closing is asked for it: in words, or under a JSON Schema that the engine keeps to. `grammar` is
`schema`, and the first answer is held to the values of its closing (docs/models.md, "Closings")."""


class Message(Value):
    """One chat message."""

    role: Literal["system", "user", "assistant"]
    content: str


#: The largest picture that a call carries, in bytes, and in characters of base64.
PICTURE_BYTES = 4 * 1024**2
PICTURE_LENGTH = 4 * -(-PICTURE_BYTES // 3)


class Picture(Value):
    """A picture that a model looks at. `data` is the file in base64."""

    media: Literal["image/jpeg", "image/png"]
    data: str = Field(max_length=PICTURE_LENGTH)


class OfferedTool(Value):
    """A function that a model may call by its engine's own means: `parameters` is the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, Any]


class Ending(Value):
    """What an answer may end with: a tag that holds one of these values. The text before the tag is free."""

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
    """How tokens are drawn. `max_new_tokens` counts completion and reasoning tokens together."""

    temperature: float = Field(default=0.7, ge=0)
    top_p: float = Field(default=0.95, gt=0, le=1)
    max_new_tokens: int = Field(default=4096, ge=1)
    stop: tuple[str, ...] = ()


class Place(Value):
    """Where in a run a call stands; for lanes, timelines and cost per role. It never decides anything.

    `subject` is what the call is about (`lemma s0.7`, `proof 2`), `index` its number among equals (the vote, the candidate).
    """

    rollout: int = 0
    round: int = 0
    subject: str = ""
    index: int = 0

    def at(self, index: int) -> "Place":
        """The same place with another number among equals."""
        return unchecked(Place, rollout=self.rollout, round=self.round, subject=self.subject, index=index)


class GenerationRequest(Value):
    """One model call, complete: a backend needs nothing else. `key` is the structural path of the call inside its run.

    `prompt_ids`, where given, are the tokens of the prompt and `messages` are only shown to people. `n` completions are drawn,
    the first is the answer, the others come as `Final.more`. `capture` asks for the tokens as drawn. A lower `priority` is
    served earlier. A backend that cannot do one of these, or the `job`, raises `RequestRejected`.

    An answer longer than `segment_tokens` is drawn in segments: after each so many tokens it goes on under the newest policy of
    the alias (segment rollouts, MarsRL §3.3). One with a schema or an ending, and several at once, are drawn whole.

    With an `ending` nothing but one of its values and the end of the tag comes after the opening tag, and then the answer ends.
    A backend that cannot hold a model to that leaves it out: whoever reads the answer reads it as any other.

    A call of one of `tools` becomes part of the answer's text (docs/tools.md, "Functions of an engine"); a model may as well
    call none, or write what it wants in words. `pictures` are shown after the text of the last message.
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
        """The most tokens that are drawn before another policy may take over."""
        is_whole = self.segment_tokens is None or self.n > 1 or (self.json_schema or self.ending) is not None
        return self.sampling.max_new_tokens if is_whole else self.segment_tokens or 1

    @property
    def call_id(self) -> str:
        """Unique among live calls of all runs: attempts of the same call differ."""
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
    """A piece of a stream as a backend yields it: new text, new reasoning text, and how many tokens they are."""

    text: str = ""
    reasoning: str = ""
    tokens: int = 0


class Segment(Value):
    """So many tokens of an answer, drawn under one policy."""

    tokens: int
    policy: str


def segments_of(tokens: int, each: int, policies: Sequence[str]) -> tuple[Segment, ...]:
    """`tokens` cut into pieces of `each`, the n-th drawn under the n-th of `policies`; empty where there is only one."""
    if len(policies) < 2:
        return ()
    return tuple(
        Segment(tokens=min(each, tokens - number * each), policy=policy)
        for number, policy in enumerate(policies)
        if number * each < tokens
    )


class Capture(Value):
    """The tokens of one completion exactly as the engine read and drew them, for learning (learning notes §3).

    `logprobs` has one natural logarithm for each of `completion_ids`, of the drawn token under `logprobs_of`: the model's own
    distribution (`raw`), or the one after temperature and truncation that the token was really drawn from (`sampled`).
    `policy` names the weights and adapter, `tokenizer` and `chat_template` are SHA-256 hashes of theirs. `mask` is 1 for tokens
    that the policy drew and 0 for those that something else put in between; empty: it drew all. An answer that was drawn in
    `segments` names the first one's policy. The rest says how it drew.
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
    """The end of a stream. `text` and `reasoning` are whole, so a reader of `Final` needs no delta.

    `ttft_s` is the time to the first token and `duration_s` the time to the last, both from the moment the backend was asked.
    `worker` names the process that answered, for whoever looks for its log lines, and `attempt` the attempt that it answered: a
    call that was lost has been sent again since it was asked; 0 where nobody counts.
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
    """What a backend says of itself. `detail` is one sentence for the Models page."""

    state: Literal["ready", "loading", "unloaded", "down"]
    detail: str = ""
    running: int = 0
    waiting: int = 0
    tokens_per_s: float = 0.0
    cached_share: float | None = None
    """Prompt tokens that the engine had in its prefix cache, as a share of all since it started; None where it does not say."""
    cache_used: float | None = None
    """Share of the memory for keys and values in use, 0 to 1."""
