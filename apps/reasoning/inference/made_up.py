"""Tokens for texts that no model wrote: made up, the same for the same words, so that what keeps and learns can be tried."""

import hashlib
import zlib
from collections.abc import Sequence

from apps.reasoning.domain.generation import Capture, GenerationRequest, segments_of

VOCABULARY = 32_000
TOKENIZER = hashlib.sha256(b"words of a script").hexdigest()
CHAT_TEMPLATE = hashlib.sha256(b"contents of messages, one after the other").hexdigest()


def word_ids(words: Sequence[str]) -> tuple[int, ...]:
    """A number below `VOCABULARY` for each word, without the white space around it."""
    return tuple(zlib.crc32(word.strip().encode()) % VOCABULARY for word in words)


def made_up_capture(request: GenerationRequest, words: Sequence[str], *policies: str) -> Capture:
    """The capture of a call that was answered with `words`, one segment under each of `policies`."""
    drawn, sampling = word_ids(words), request.sampling
    return Capture(
        prompt_ids=word_ids([word for message in request.messages for word in message.content.split()]),
        completion_ids=drawn,
        logprobs=_likelihoods(drawn),
        logprobs_of="raw",
        policy=policies[0],
        tokenizer=TOKENIZER,
        chat_template=CHAT_TEMPLATE,
        temperature=sampling.temperature,
        top_p=sampling.top_p if sampling.temperature > 0 else 1.0,
        max_new_tokens=sampling.max_new_tokens,
        segments=segments_of(len(drawn), request.drawn_at_once, policies),
    )


def _likelihoods(drawn: Sequence[int]) -> tuple[float, ...]:
    """A log-probability between −3 and 0 for each token, from all tokens up to it."""
    found, so_far = [], 0
    for token in drawn:
        so_far = zlib.crc32(token.to_bytes(4, "big"), so_far)
        found.append(-3.0 * (so_far % 997) / 997)
    return tuple(found)
