"""Votes on lemmas, as a round asks for them: a long prompt that all share, a lemma of its own, and several votes on each.

Problem and library stand first in every prompt (docs/intern_s1_mo_formats.md), so an engine with a prefix cache reads them
once. Measured through the raw engines, each in a process of its own, with and without the cache, in turns: the time of a round
of votes, each to the same few tokens. Every turn has a library of its own, so nothing is left over from the turn before.
"""

import sys
from collections.abc import Mapping
from statistics import median
from typing import Any

from benchmarks.figures import Figure, Skipped

LEMMAS, VOTES = 8, 4
QUICK_LEMMAS, QUICK_VOTES = 2, 2
LIBRARY_CHARACTERS, LEMMA_CHARACTERS = 2_400, 300
TOKENS = 16
ROUNDS, QUICK_ROUNDS = 3, 1


def figures(quick: bool = False) -> list[Figure]:
    """The gain on OpenVINO, and on vLLM's CPU build where it is set up. Raises `Skipped` where neither starts."""
    found: list[Figure] = []
    for title, commands in (("OpenVINO", _openvino), ("vLLM on the CPU", _vllm)):
        try:
            found += _of_an_engine(title, commands(), quick)
        except (Skipped, ValueError, OSError) as reason:
            print(f"{title}: {reason}", file=sys.stderr)
    if not found:
        raise Skipped("Neither OpenVINO nor vLLM starts here.")
    return [*found, Figure("votes in a round", (QUICK_LEMMAS * QUICK_VOTES) if quick else (LEMMAS * VOTES))]


def _openvino() -> Mapping[bool, list[str]]:
    from apps.reasoning.inference.aliases import OpenVinoOptions, load_aliases
    from benchmarks import engine

    alias = load_aliases(engine.MODELS)[engine.ALIAS]
    assert isinstance(alias.options, OpenVinoOptions)

    def with_cache(is_on: bool) -> Any:
        return alias.model_copy(update={"options": alias.options.model_copy(update={"prefix_caching": is_on})})

    return {is_on: engine.raw_command(with_cache(is_on)) for is_on in (True, False)}


def _vllm() -> Mapping[bool, list[str]]:
    from benchmarks import engine_vllm

    return {is_on: engine_vllm.raw_command(engine_vllm.models_toml(prefix_caching=is_on)) for is_on in (True, False)}


def _of_an_engine(title: str, commands: Mapping[bool, list[str]], quick: bool) -> list[Figure]:
    """One engine after the other: two that hold the machine's cores at once would measure each other."""
    from benchmarks.engine import RawEngine

    rounds = QUICK_ROUNDS if quick else ROUNDS
    seconds: dict[bool, float] = {}
    for is_on, command in commands.items():
        with RawEngine(command) as engine:
            engine.measure(_round(0, 1, 1), TOKENS)
            turns = [engine.measure(_round(turn, *_size(quick)), TOKENS)[1] for turn in range(1, rounds + 1)]
            seconds[is_on] = median(turns)
    return [
        Figure(f"{title}: a round of votes without prefix cache ÷ with it", seconds[False] / seconds[True], "times"),
        Figure("… with prefix cache", seconds[True], "s"),
        Figure("… without", seconds[False], "s"),
    ]


def _size(quick: bool) -> tuple[int, int]:
    return (QUICK_LEMMAS, QUICK_VOTES) if quick else (LEMMAS, VOTES)


def _round(turn: int, lemmas: int, votes: int) -> list[str]:
    """The prompts of one round: the votes of one lemma follow each other."""
    from benchmarks.contest_texts import prose

    library = (
        f"Library {turn} of the problem: show that $x^2 + y^2 \\ge 2xy$.\n\n{prose(f'library/{turn}', LIBRARY_CHARACTERS)}"
    )
    question = "Is every step of it sound? Answer step by step."
    return [
        f"{library}\n\nLemma {lemma}: {prose(f'lemma/{turn}/{lemma}', LEMMA_CHARACTERS)}\n\n{question}"
        for lemma in range(lemmas)
        for _ in range(votes)
    ]
