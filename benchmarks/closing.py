"""The cost of a grammar for closings: calls whose answer must end with one of a tag's values, and the same calls without it.

    python -m benchmarks.closing [--model FILE] [--rounds 8] [--tokens 96]

Eight simultaneous calls through our own backend, each greedy and with the same number of new tokens. Both kinds do the same
work: the tag never occurs, and the engine consults the grammar for every token. They alternate, and so does the first of a
pair. The figure is the geometric mean of the pairs' ratios, with its 95 % interval (Student's t). `--model` names a GGUF file
to use instead of SmolLM2.
"""

import argparse
import asyncio
import math
import time
from pathlib import Path
from statistics import mean, stdev

from apps.reasoning.domain.generation import Ending, Final, GenerationRequest, Message, Sampling
from apps.reasoning.inference.aliases import load_aliases
from apps.reasoning.inference.streaming import read_to_final
from benchmarks.engines.engine import ALIAS, MODELS, prompt
from benchmarks.figures import Figure
from workers.engines.openvino import OpenVinoBackend

AT_ONCE = 8
ENDING = Ending(tag="decision", values=("pass", "fail"))
TARGET = 1.10
#: Student's t at 97.5 % for 1, 2, … degrees of freedom.
_T = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10, 2.09)


def figures(quick: bool = False, model: Path | None = None, rounds: int = 8, tokens: int = 96) -> list[Figure]:
    """The ratio with its interval, and milliseconds per token without the grammar."""
    pairs = asyncio.run(_pairs(model, 2 if quick else rounds, tokens))
    low, middle, high = interval([math.log(bound / free) for free, bound in pairs])
    name = model.name if model else "SmolLM2"
    return [
        Figure(f"{name}: a call with the closing by grammar ÷ without, {AT_ONCE} at once", middle, target=TARGET),
        Figure("… lower end of its interval at 95 %", low),
        Figure("… upper end", high),
        Figure("milliseconds of a token without, of all calls together", 1000 * mean(free for free, _ in pairs), "ms"),
        Figure("pairs of rounds", len(pairs)),
    ]


def interval(logarithms: list[float]) -> tuple[float, float, float]:
    """Low end of the 95 % interval, geometric mean of the ratios, high end."""
    middle, half = mean(logarithms), _T[len(logarithms) - 2] * stdev(logarithms) / math.sqrt(len(logarithms))
    return math.exp(middle - half), math.exp(middle), math.exp(middle + half)


async def _pairs(model: Path | None, rounds: int, tokens: int) -> list[tuple[float, float]]:
    """Seconds per token without and with the grammar, for each round."""
    alias = load_aliases(MODELS)[ALIAS]
    backend = OpenVinoBackend(alias.model_copy(update={"model": str(model)}) if model else alias)
    try:
        for ending in (None, ENDING):
            await _seconds(backend, 0, 8, ending)
        found = []
        for turn in range(1, rounds + 1):
            first, second = (None, ENDING) if turn % 2 else (ENDING, None)
            one, other = [await _seconds(backend, turn, tokens, ending) for ending in (first, second)]
            found.append((one, other) if first is None else (other, one))
        return found
    finally:
        await backend.close()


async def _seconds(backend: OpenVinoBackend, turn: int, tokens: int, ending: Ending | None) -> float:
    """Seconds per new token of calls that start together. Prompts of a pair have the same length and differ at the start."""
    name = f"{turn}{'b' if ending else 'a'}"
    requests = [
        GenerationRequest(
            run="benchmark",
            key=f"{name}/{number}",
            role="writer",
            alias=ALIAS,
            messages=(Message(role="user", content=f"{name} {prompt(number, turn)}"),),
            sampling=Sampling(temperature=0, max_new_tokens=tokens),
            ending=ending,
        )
        for number in range(AT_ONCE)
    ]
    began = time.perf_counter()
    finals: list[Final] = await asyncio.gather(*(read_to_final(backend, request) for request in requests))
    return (time.perf_counter() - began) / sum(final.usage.completion for final in finals)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--rounds", type=int, default=8, choices=range(2, len(_T) + 2), metavar=f"2…{len(_T) + 1}")
    parser.add_argument("--tokens", type=int, default=96)
    given = parser.parse_args()
    for figure in figures(model=given.model, rounds=given.rounds, tokens=given.tokens):
        print("  ".join(figure.row()))


if __name__ == "__main__":
    main()
