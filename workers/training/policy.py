"""Sampling from the model in training, in its own process: for toys, which need no engine.

Every token keeps its log-probability at sampling, so that a row's ratio starts at exactly 1.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch

#: Tokens after which rows that have ended may leave the batch.
SHRINKS_EVERY = 8


@dataclass(frozen=True)
class Completion:
    """One completion with its log-probabilities; `finish_reason` is `stop`, or `length` at the limit."""

    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    finish_reason: str


class Policy:
    """Causal model with its tokenizer, for sampling. It does not change the process's random state."""

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        version: int = 0,
        seed: int = 0,
        temperature: float = 1.0,
        arithmetic: Callable[[], AbstractContextManager[Any]] = nullcontext,
    ) -> None:
        self.model, self.tokenizer, self.version = model, tokenizer, version
        self.temperature, self._arithmetic = temperature, arithmetic
        self._generator = torch.Generator(device=model.device).manual_seed(seed)

    def encode(self, text: str) -> list[int]:
        """Tokens of a text, without special tokens."""
        ids: list[int] = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    def text(self, ids: Sequence[int]) -> str:
        """Text of tokens, without special tokens."""
        found: str = self.tokenizer.decode(list(ids), skip_special_tokens=True)
        return found

    @torch.no_grad()
    def draw(self, prompts: Sequence[Sequence[int]], *, most: int, stop: str = "") -> list[Completion]:
        """Sample one completion per prompt, of at most `most` tokens, up to the end token or the character `stop`."""
        ends = {self.tokenizer.eos_token_id, *(self.encode(stop) if stop else ())}
        longest = max(map(len, prompts))
        pad, device = self.tokenizer.pad_token_id, self.model.device
        ids = torch.tensor([[pad] * (longest - len(one)) + list(one) for one in prompts], device=device)
        mask = torch.tensor([[0] * (longest - len(one)) + [1] * len(one) for one in prompts], device=device)
        was_training = self.model.training
        self.model.eval()
        with self._arithmetic():  # The trainer's arithmetic, so that ratios start at 1.
            drawn, logprobs = self._decode(ids, mask, most, ends)
        self.model.train(was_training)
        return [_cut(one, scores, ends) for one, scores in zip(drawn.tolist(), logprobs.tolist(), strict=True)]

    def _decode(self, ids: Any, mask: Any, most: int, ends: set[int]) -> tuple[Any, Any]:
        """Tokens and their log-probabilities, padded. Now and then, rows that have ended leave the batch."""
        endings = torch.tensor(sorted(ends), device=ids.device)
        rows = torch.arange(len(ids), device=ids.device)
        drawn = torch.full((len(ids), most), self.tokenizer.pad_token_id, device=ids.device)
        scores = torch.zeros((len(ids), most), device=ids.device)
        ended, cache = torch.zeros(len(ids), dtype=torch.bool, device=ids.device), None
        for place in range(most):
            places = (mask.cumsum(-1) - 1).clamp(min=0)[:, -ids.shape[1] :]
            output = self.model(
                input_ids=ids, attention_mask=mask, position_ids=places, past_key_values=cache, use_cache=True, logits_to_keep=1
            )
            cache = output.past_key_values
            logs = torch.log_softmax(output.logits[:, -1].float() / self.temperature, dim=-1)
            token = torch.multinomial(logs.exp(), 1, generator=self._generator)
            drawn[rows, place], scores[rows, place] = token[:, 0], logs.gather(1, token)[:, 0]
            ended |= torch.isin(token[:, 0], endings)
            if bool(ended.all()):
                return drawn[:, : place + 1], scores[:, : place + 1]
            ids, mask = token, torch.cat([mask, torch.ones_like(token)], dim=1)
            if place % SHRINKS_EVERY == SHRINKS_EVERY - 1 and int(ended.sum()) * 4 > len(ended):
                left = (~ended).nonzero()[:, 0]
                cache.batch_select_indices(left)
                ids, mask, rows, ended = ids[left], mask[left], rows[left], ended[left]
        return drawn, scores


def _cut(ids: list[int], logprobs: list[float], ends: set[int]) -> Completion:
    """Completion up to and including the first end; drop tokens decoded after it while other rows continued."""
    length = next((place + 1 for place, token in enumerate(ids) if token in ends), None)
    if length is None:
        return Completion(tuple(ids), tuple(logprobs), "length")
    return Completion(tuple(ids[:length]), tuple(logprobs[:length]), "stop")
