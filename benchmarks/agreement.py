"""The agreement of 10,000 pairs of points with 2,000 bootstrap draws, as the agreement page computes it when opened."""

import random
import time

from apps.reasoning.agreement.pairs import Pair
from apps.reasoning.agreement.report import agree
from benchmarks.figures import Figure

PAIRS, QUICK_PAIRS = 10_000, 2_000
DRAWS, QUICK_DRAWS = 2_000, 200
PROBLEMS, RUNS = 60, 8


def figures(quick: bool = False) -> list[Figure]:
    """Seconds for points on the scale, resampled by problem and by paper, and for means of eight runs."""
    pairs, draws = (QUICK_PAIRS, QUICK_DRAWS) if quick else (PAIRS, DRAWS)
    what = f"{pairs:,} pairs, {draws:,} draws"
    return [
        Figure(f"{what}, by problem", _seconds(_pairs(pairs, PROBLEMS, 1), draws), "s", 3, "at most"),
        Figure(f"{what}, by paper", _seconds(_pairs(pairs, 0, 1), draws), "s", 3, "at most"),
        Figure(f"{what}, by problem, means of {RUNS} runs", _seconds(_pairs(pairs, PROBLEMS, RUNS), draws), "s", 3, "at most"),
    ]


def _seconds(pairs: list[Pair], draws: int) -> float:
    began = time.perf_counter()
    found = agree(pairs, draws=draws)
    took = time.perf_counter() - began
    if len(found.estimates) < 12:
        raise SystemExit("statistics are missing")
    return took


def _pairs(count: int, problems: int, runs: int) -> list[Pair]:
    rng = random.Random(1)
    pairs = []
    for number in range(count):
        mark = rng.choice((0, 0, 0, 1, 2, 3, 6, 7, 7))
        points = [min(7, max(0, mark + rng.choice((0, 0, 0, 1, -1, 3)))) for _ in range(runs)]
        problem = f"p{rng.randrange(problems)}" if problems else ""
        pairs.append(Pair(paper=str(number), problem=problem, human=mark, predicted=sum(points) / runs))
    return pairs
