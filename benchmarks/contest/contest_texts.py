"""The answers of the fake contest engine: well-formed for every role and determined by the call's key.

A run makes every call that its preset allows: no rollout claims to be done; the first of the three lemmas of a round always
holds, and the others mostly do; one vote on every proof finds a fault. One lemma in ten has identical text in many rollouts, so
that libraries merge.
"""

import random
import re
from collections.abc import Callable
from functools import cache
from hashlib import blake2b

from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.inference.scripted import Reply

LEMMAS_A_ROUND = 3
STEPS = 4
PROOF_STEPS = 12
REASONING, VOTE_REASONING, PROSE = 6_000, 1_500, 4_000
"""Characters of reasoning before an answer and before a vote, and of a reasoner's answer."""
SHARED_SHARE, HOLDS_SHARE = 0.1, 0.7
PASSES_GOOD, PASSES_BAD = 0.92, 0.2
_TEXT_SIZE = 1_000_000
_SYLLABLES = (
    "al",
    "be",
    "cor",
    "di",
    "en",
    "fac",
    "gra",
    "hel",
    "in",
    "jun",
    "kal",
    "lem",
    "mod",
    "nor",
    "or",
    "pri",
    "qua",
    "res",
)


def reply(request: GenerationRequest) -> Reply:
    """The answer to a call of the scaffold intern_s1_mo. Raises `KeyError` for an unknown role."""
    return reply_to(request.key, request.role)


def reply_to(key: str, role: str) -> Reply:
    """Like `reply`, by the key and role of a call."""
    return _WRITERS[role](key)


def _reason(key: str) -> Reply:
    return Reply(text=f"{prose(key, PROSE)}\n<claim>partial</claim>", reasoning=prose(f"{key}/thinking", REASONING))


def _summarise(key: str) -> Reply:
    rollout, round_ = _numbers(key)
    first = LEMMAS_A_ROUND * (round_ - 1) + 1
    lemmas = "\n".join(_lemma(rollout, number, first) for number in range(first, first + LEMMAS_A_ROUND))
    return Reply(text=lemmas, reasoning=prose(f"{key}/thinking", REASONING))


def _lemma(rollout: int, number: int, first: int) -> str:
    shared = _chance(f"shared/{rollout}/{number}") < SHARED_SHARE
    name = f"statement/{number}" if shared else f"statement/{rollout}/{number}"
    steps = [prose(f"{name}/{rollout}/{step}", 160) for step in range(1, STEPS + 1)]
    if first > 1:
        steps[0] = f"By Lemma {first - LEMMAS_A_ROUND} we have $x_{number} > 0$. {steps[0]}"
    if number > first:
        steps[-1] = f"Together with Lemma {first} this is the claim. {steps[-1]}"
    body = "\n".join(f"<step>{step}</step>" for step in steps)
    return f'<lemma number="{number}">\n<statement>For all $n > {number}$: {prose(name, 160)}</statement>\n{body}\n</lemma>'


def _judge_lemma(key: str) -> Reply:
    lemma = key.split("/")[-2]
    number = int(lemma.partition(".")[2].partition("-")[0])
    # Others depend on the first lemma of a round. Without it a rollout would stop early and make fewer calls.
    is_first = number % LEMMAS_A_ROUND == 1
    passes = is_first or _chance(key) < (PASSES_GOOD if _chance(f"holds/{lemma}") < HOLDS_SHARE else PASSES_BAD)
    return _verdict(key, STEPS, 0 if passes else 1 + int(_chance(f"{lemma}/fault") * STEPS))


def _judge_proof(key: str) -> Reply:
    finds = key.endswith("/1") or _chance(key) < 1 - PASSES_GOOD
    return _verdict(key, PROOF_STEPS, 1 + int(_chance(f"{key}/fault") * PROOF_STEPS) if finds else 0)


def _verdict(key: str, steps: int, fault: int) -> Reply:
    """A vote with `fault` as the first wrong step; 0 means none."""
    checks = [
        f'<check step="{step}" sound="{"no" if step == fault else "yes"}">{prose(f"{key}/{step}", 90)}</check>'
        for step in range(1, (fault or steps) + 1)
    ]
    return Reply(
        text="\n".join([*checks, f"<verdict>{fault or -1}</verdict>"]), reasoning=prose(f"{key}/thinking", VOTE_REASONING)
    )


def _write(key: str) -> Reply:
    steps = [
        f"<step>By Lemma s{number % 8}.1 the case $k = {number}$ is settled. {prose(f'{key}/{number}', 400)}</step>"
        for number in range(PROOF_STEPS)
    ]
    text = "\n".join(["<proof>", *steps, "</proof>"])
    return Reply(text=text, reasoning=prose(f"{key}/thinking", REASONING))


_WRITERS: dict[str, Callable[[str], Reply]] = {
    "reasoner": _reason,
    "summarizer": _summarise,
    "theorem_verifier": _judge_lemma,
    "writer": _write,
    "process_verifier": _judge_proof,
    "reviser": _write,
}
ROLES = frozenset(_WRITERS)


def _numbers(key: str) -> tuple[int, int]:
    rollout, round_ = map(int, re.findall(r"\d+", key)[:2])
    return rollout, round_


def _chance(name: str) -> float:
    return int.from_bytes(blake2b(name.encode(), digest_size=4).digest(), "big") / 2**32


def prose(name: str, size: int) -> str:
    """`size` characters of the long text, starting at a word that `name` determines."""
    text = _long_text()
    start = text.index(" ", int(_chance(name) * (_TEXT_SIZE - size - 50))) + 1
    return text[start : start + size].rpartition(" ")[0]


@cache
def _long_text() -> str:
    """Invented words with occasional formulas, which can be cut between any two words."""
    draw = random.Random(2512)
    words = ["".join(draw.choices(_SYLLABLES, k=draw.randint(1, 4))) for _ in range(3000)]
    pieces: list[str] = []
    size = 0
    while size < _TEXT_SIZE:
        word = f"$x_{{{draw.randint(1, 99)}}}<{draw.randint(2, 999)}$" if draw.random() < 0.15 else draw.choice(words)
        pieces.append(word)
        size += len(word) + 1
    return " ".join(pieces)
