"""Votes on lemmas in a round: a long shared prompt, different lemmas, and several votes on each.

Every prompt begins with problem and library (docs/intern_s1_mo_formats.md), so an engine with a prefix cache reads them only
once. The benchmark measures the raw engines, each in its own process, with and without the cache: the time of a round of votes,
each of the same few tokens. "All at once" is how a round arrives at a worker. An engine that searches its cache only when a
request is added finds nothing then, because the prefix is not computed yet. "The first ahead" lets one vote end before the
others are added. Every turn has a different library, so the cache contains nothing from earlier turns.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.figures import Figure, Skipped

if TYPE_CHECKING:
    from benchmarks.engines.engine import RawEngine

TOKENS = 16
CHART = "Seconds for a round of votes"


@dataclass(frozen=True)
class _Size:
    lemmas: int
    votes: int
    turns: int
    library_characters: int
    lemma_characters: int = 300


FULL = _Size(lemmas=8, votes=4, turns=3, library_characters=2_400)
QUICK = _Size(lemmas=2, votes=2, turns=1, library_characters=600)


def figures(quick: bool = False) -> list[Figure]:
    """The gain on OpenVINO, and on vLLM's CPU build if it is set up. Raises `Skipped` if neither starts."""
    size = QUICK if quick else FULL
    found: list[Figure] = []
    for title, commands in (("OpenVINO", _openvino), ("vLLM on the CPU", _vllm)):
        try:
            found += _of_an_engine(title, commands(), size)
        except (Skipped, ValueError, OSError) as reason:
            print(f"{title}: {reason}", file=sys.stderr)
    if not found:
        raise Skipped("Neither OpenVINO nor vLLM starts here.")
    return [*found, Figure("votes in a round", size.lemmas * size.votes), Figure("turns of each", size.turns)]


def _openvino() -> Mapping[bool, list[str]]:
    from apps.reasoning.inference.aliases import Alias, OpenVinoOptions, load_aliases
    from benchmarks.engines import engine

    alias = load_aliases(engine.MODELS)[engine.ALIAS]
    options = alias.options
    assert isinstance(options, OpenVinoOptions)

    def with_cache(is_on: bool) -> Alias:
        return alias.model_copy(update={"options": options.model_copy(update={"prefix_caching": is_on})})

    return {is_on: engine.raw_command(with_cache(is_on)) for is_on in (True, False)}


def _vllm() -> Mapping[bool, list[str]]:
    from benchmarks.engines import engine_vllm

    return {is_on: engine_vllm.raw_command(engine_vllm.models_toml(prefix_caching=is_on)) for is_on in (True, False)}


def _of_an_engine(title: str, commands: Mapping[bool, list[str]], size: _Size) -> list[Figure]:
    """Measure one engine after the other, because two engines would compete for the machine's cores."""
    from benchmarks.engines.engine import RawEngine

    with RawEngine(commands[False]) as engine:
        engine.measure(_round(0, size)[:1], TOKENS)
        without = median(_seconds(engine, _round(turn, size)) for turn in range(1, size.turns + 1))
    with RawEngine(commands[True]) as engine:
        engine.measure(_round(0, size)[:1], TOKENS)
        turns = range(1, 2 * size.turns + 1, 2)
        at_once = median(_seconds(engine, _round(turn, size)) for turn in turns)
        ahead = median(_seconds(engine, _round(turn + 1, size), ahead=1) for turn in turns)
    return [
        Figure(f"{title}: a round without prefix cache ÷ with it, all at once", without / at_once, "times"),
        Figure("… the first ahead", without / ahead, "times"),
        Figure("… without prefix cache", without, "s", chart=CHART, line=f"{title}, without"),
        Figure("… with it, all at once", at_once, "s", chart=CHART, line=f"{title}, all at once"),
        Figure("… with it, the first ahead", ahead, "s", chart=CHART, line=f"{title}, the first ahead"),
    ]


def _seconds(engine: "RawEngine", prompts: Sequence[str], ahead: int = 0) -> float:
    first = engine.measure(prompts[:ahead], TOKENS)[1] if ahead else 0.0
    return first + engine.measure(prompts[ahead:], TOKENS)[1]


def _round(turn: int, size: _Size) -> list[str]:
    """The prompts of one round. Votes on the same lemma follow each other."""
    from benchmarks.contest.contest_texts import prose

    library = f"Library {turn} of the problem: show that $x^2 + y^2 \\ge 2xy$.\n\n"
    library += prose(f"library/{turn}", size.library_characters)
    question = "Is every step of it sound? Answer step by step."
    return [
        f"{library}\n\nLemma {lemma}: {prose(f'lemma/{turn}/{lemma}', size.lemma_characters)}\n\n{question}"
        for lemma in range(size.lemmas)
        for _ in range(size.votes)
    ]
