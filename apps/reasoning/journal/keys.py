"""Names that never change: hashes of requests and texts, seeds and nonces derived from structural keys. Pure.

Python's own `hash()` is salted per process, so nothing here uses it.
"""

import functools
import hashlib
import json
from collections.abc import Sequence
from typing import Any

from apps.reasoning.domain.generation import Ending, Message, OfferedTool, Sampling


# Eight votes share a prompt, a round its library: the same text is asked for again and again, on a replay above all.
@functools.lru_cache(maxsize=1024)
def sha_of(text: str) -> str:
    """The name of `text`: SHA-256 of its UTF-8 bytes in hex; the empty text has the empty name."""
    return hashlib.sha256(text.encode()).hexdigest() if text else ""


def request_hash(
    *,
    role: str,
    alias: str,
    revision: str,
    messages: Sequence[Message],
    sampling: Sampling,
    json_schema: dict[str, Any] | None,
    seed: int,
    tools: Sequence[OfferedTool] = (),
    ending: Ending | None = None,
) -> str:
    """What a call asks, as one hash: equal exactly where a recorded answer may be used again."""
    schema = json.dumps(json_schema, sort_keys=True) if json_schema is not None else ""
    said = ",".join(f"{message.role}:{sha_of(message.content)}" for message in messages)
    # Calls without tools or an ending have the hash that they had before there were any.
    offered = f"|{json.dumps([tool.model_dump() for tool in tools], sort_keys=True)}" if tools else ""
    if ending is not None:
        offered += f"|ending:{json.dumps([ending.tag, *ending.values])}"
    return hashlib.sha256(f"{_manner(role, alias, revision, sampling)}|{schema}|{said}|{seed}{offered}".encode()).hexdigest()


@functools.lru_cache(maxsize=256)
def _manner(role: str, alias: str, revision: str, sampling: Sampling) -> str:
    """What the calls of a role have in common. A list in JSON, so that no name can run into the next."""
    return json.dumps([role, alias, revision, sampling.model_dump(mode="json")], sort_keys=True)


def seed_for(root_seed: int, key: str) -> int:
    """The seed of the call `key`: 31 bits, the same on every machine and replay."""
    digest = hashlib.sha256(f"seed:{root_seed}:{key}".encode()).digest()
    return int.from_bytes(digest[:4], "big") & 0x7FFFFFFF


def nonce_for(root_seed: int, key: str) -> str:
    """A delimiter of 16 hex digits for `key`; a text written before the run cannot know it."""
    return hashlib.sha256(f"nonce:{root_seed}:{key}".encode()).hexdigest()[:16]
