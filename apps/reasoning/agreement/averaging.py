"""Whether averaging repeated gradings helps: how far the mean of k of them is from the person's points.

Source: RefGrader §5.4, Fig. 7.
"""

from collections.abc import Sequence
from statistics import fmean


def sizes(most: int) -> tuple[int, ...]:
    """How many gradings are averaged, for a table: 1, 2, 4, … and all of them."""
    doubled = [2**power for power in range(most.bit_length()) if 2**power < most]
    return (*doubled, most) if most > 0 else ()


def errors_of_means(papers: Sequence[tuple[float, Sequence[float]]]) -> dict[int, float]:
    """By k the mean absolute error of the mean of k gradings, in the points given; empty without papers.

    A paper is the person's points and those of its repeats, of which all papers have equally many. For every k each repeat
    counts alike: the k are taken one after another from each place on, round the end to the beginning.
    """
    if not papers:
        return {}
    count = len(papers[0][1])
    if any(len(repeats) != count for _, repeats in papers):
        raise ValueError("every paper needs equally many repeats")
    return {k: fmean(_error(human, repeats, k) for human, repeats in papers) for k in sizes(count)}


def _error(human: float, repeats: Sequence[float], k: int) -> float:
    around = [*repeats, *repeats]
    return fmean(abs(fmean(around[start : start + k]) - human) for start in range(len(repeats)))
