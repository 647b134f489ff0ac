"""One answer of vLLM, assembled from its outputs: text and reasoning of each completion, counts, and the sampled tokens."""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from apps.reasoning.domain.errors import EngineLost
from apps.reasoning.domain.generation import Capture, Delta, Final, FinishReason, GenerationRequest, Sample, Segment, Usage
from workers.engines.vllm_reasoning import Splitter

#: vLLM's name of weights that were never exchanged.
_UNNAMED = "default"
_REASONS: dict[str, FinishReason] = {"stop": "stop", "length": "length", "abort": "cancelled", "repetition": "stop"}


class _Completion:
    """One completion of a call."""

    def __init__(self, splitter: Splitter) -> None:
        self.splitter = splitter
        self.text: list[str] = []
        self.reasoning: list[str] = []
        self.thought = 0
        self.tokens: list[int] = []
        self.logprobs: list[float] = []
        self.segments: list[Segment] = []
        self.reason: FinishReason | None = None

    def note_policies(self, output: Any, origin: "Origin") -> None:
        """At the end of a segment, note who drew its tokens: vLLM reports where weights were exchanged meanwhile."""
        spans = [(span.end - span.start, span.version) for span in getattr(output, "weight_versions", None) or ()]
        left = len(self.tokens) - sum(one.tokens for one in self.segments)
        for tokens, version in spans or [(left, _UNNAMED)]:
            if tokens:
                policy = origin.policy if version == _UNNAMED else version
                self.segments.append(Segment(tokens=tokens, policy=policy))

    def take(self, output: Any, most: int) -> Delta:
        """Add an output. The end of a segment before `most` tokens does not end the answer."""
        drawn = list(output.token_ids)
        self.tokens += drawn
        if output.logprobs:
            self.logprobs += [each[token].logprob for token, each in zip(drawn, output.logprobs, strict=True)]
        text, reasoning, thought = self.splitter.push(output.text, drawn)
        self.thought += thought
        if output.finish_reason is not None and not (output.finish_reason == "length" and len(self.tokens) < most):
            if output.finish_reason not in _REASONS:
                raise EngineLost(f"The engine gave up the call ({output.finish_reason}).")
            self.reason = _REASONS[output.finish_reason]
            rest = self.splitter.close()
            text, reasoning = text + rest[0], reasoning + rest[1]
        self.text.append(text)
        self.reasoning.append(reasoning)
        return Delta(text=text, reasoning=reasoning, tokens=len(drawn))


class Origin:
    """The origin of an answer's tokens: the fields of `Capture` other than the tokens themselves."""

    def __init__(self, *, policy: str, logprobs_of: Any, tokenizer: str, chat_template: str) -> None:
        self.policy = policy
        self.logprobs_of = logprobs_of
        self.tokenizer = tokenizer
        self.chat_template = chat_template


class SegmentRequest(NamedTuple):
    """A segment to generate: the tokens of its prompt, the most tokens to sample, and its number from 0."""

    prompt_ids: list[int]
    room: int
    number: int


class Answer:
    """All completions of one call, each of `most` tokens at most. `began`: start of the call on the monotonic clock.

    It is sampled in segments (`begin`). The prompt of each segment is all tokens before it.
    """

    def __init__(
        self, request: GenerationRequest, prompt_ids: Sequence[int], splitters: Sequence[Splitter], began: float, most: int
    ) -> None:
        self._request = request
        self._prompt_ids = tuple(prompt_ids)
        self._most = most
        self._origins: list[Origin] = []
        self._completions = [_Completion(splitter) for splitter in splitters]
        self._began = began
        self._first_at: float | None = None
        self._cached = 0

    @property
    def is_whole(self) -> bool:
        """Whether the first completion has ended. The others end with it: only answers of one completion have segments."""
        return self._completions[0].reason is not None

    def begin(self, origin: Origin) -> SegmentRequest:
        """Begin the next segment, sampled by `origin`. Raises `EngineLost` if the engine gave up the last one."""
        drawn = self._completions[0].tokens
        if len(drawn) < len(self._origins) * self._request.drawn_at_once:
            raise EngineLost("The engine ended the stream without a result.")
        self._origins.append(origin)
        room = min(self._request.drawn_at_once, self._most - len(drawn))
        return SegmentRequest([*self._prompt_ids, *drawn], room, len(self._origins) - 1)

    def take(self, output: Any) -> Delta:
        """Add an output of the engine. Returns the addition to the first completion; the others are kept for the end."""
        if len(self._origins) == 1:
            self._cached = output.num_cached_tokens or self._cached
        first = Delta()
        for each in output.outputs:
            delta = self._completions[each.index].take(each, self._most)
            if each.finish_reason is not None:
                self._completions[each.index].note_policies(each, self._origins[-1])
            if delta.tokens and self._first_at is None:
                self._first_at = time.monotonic()
            if each.index == 0:
                first = delta
        return first

    def cancel(self) -> None:
        """End an answer that was stopped before the engine received its call."""
        self._completions[0].reason = "cancelled"

    def final(self) -> Final:
        """The whole result, with the last policy as its revision."""
        first, *others = self._completions
        assert first.reason is not None
        return Final(
            text="".join(first.text),
            reasoning="".join(first.reasoning),
            finish_reason=first.reason,
            usage=Usage(
                prompt=len(self._prompt_ids),
                cached=min(self._cached, len(self._prompt_ids)),
                completion=sum(len(each.tokens) for each in self._completions),
                reasoning=sum(each.thought for each in self._completions),
            ),
            ttft_s=self._first_at - self._began if self._first_at is not None else None,
            duration_s=time.monotonic() - self._began,
            model_revision=first.segments[-1].policy if first.segments else self._origins[0].policy,
            more=tuple(self._sample(each) for each in others),
            capture=self._captured(first),
        )

    def _sample(self, completion: _Completion) -> Sample:
        return Sample(
            text="".join(completion.text),
            reasoning="".join(completion.reasoning),
            finish_reason=completion.reason or "cancelled",
            capture=self._captured(completion),
        )

    def _captured(self, completion: _Completion) -> Capture | None:
        if not self._request.capture:
            return None
        origin, segments = self._origins[0], tuple(completion.segments)
        return Capture(
            prompt_ids=self._prompt_ids,
            completion_ids=tuple(completion.tokens),
            logprobs=tuple(completion.logprobs),
            logprobs_of=origin.logprobs_of,
            policy=segments[0].policy if segments else origin.policy,
            tokenizer=origin.tokenizer,
            chat_template=origin.chat_template,
            segments=segments if len(segments) > 1 else (),
            temperature=self._request.sampling.temperature,
            top_p=self._request.sampling.top_p if self._request.sampling.temperature > 0 else 1.0,
            max_new_tokens=self._request.sampling.max_new_tokens,
        )
