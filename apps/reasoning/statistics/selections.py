"""Metrics of methods that choose one of several candidates: a majority of final answers, or the best by a selector's score.

Both are exact averages over all subsets of k of the n scored candidates of a problem, whatever k and n: nothing is sampled.
"""

from math import comb

import numpy as np

from apps.reasoning.statistics.intervals import Floats, Undefined
from apps.reasoning.statistics.metrics import Measure, of_problems, short
from apps.reasoning.statistics.scores import Integers, Scores

#: Group of a repeat without a readable final answer. It has no vote.
NO_ANSWER = -1


def consensus_at_k(correct: Scores, groups: Integers, k: int) -> Measure | Undefined:
    """cons@k: score of the most frequent final answer among `k` repeats; tied answers share.

    `groups`, shape (P, R): equal numbers within a problem are equal answers, `NO_ANSWER` is none. An answer's score is the mean
    of its repeats; without any vote the score is 0. Undefined if a problem has fewer than `k` scored repeats. Source of the
    metric: Wang et al., Self-Consistency, arXiv 2203.11171 (2022).
    """
    _same_shape(correct, groups)
    if why := short(correct.scored, k):
        return why
    values = []
    for row, names in zip(correct.shares, groups, strict=True):
        scored = ~np.isnan(row)
        answers = [name for name in np.unique(names[scored]) if name != NO_ANSWER]
        sizes = [int((scored & (names == name)).sum()) for name in answers]
        means = [float(row[scored & (names == name)].mean()) for name in answers]
        values.append(_majority(sizes, means, int(scored.sum()), k))
    return of_problems(correct.problems, np.array(values), correct.scored // k)


def best_of_n(scores: Scores, selector: Floats, n: int) -> Measure | Undefined:
    """best@n: score of the candidate with the highest selector score among `n`; tied candidates share.

    `selector`, shape (P, R); a repeat without a selector score is not a candidate. Undefined if a problem has fewer than `n`
    scored candidates.
    """
    _same_shape(scores, selector)
    both = np.where(np.isnan(selector), np.nan, scores.shares)
    counts = np.asarray((~np.isnan(both)).sum(axis=1), np.int64)
    if why := short(counts, n):
        return why
    values = []
    for row, chosen_by, count in zip(both, selector, counts.tolist(), strict=True):
        levels, level = np.unique(chosen_by[~np.isnan(row)], return_inverse=True)
        sizes = np.bincount(level, minlength=len(levels))
        means = np.bincount(level, row[~np.isnan(row)], len(levels)) / sizes
        within = [comb(int(below), n) / comb(count, n) for below in np.concatenate([[0], np.cumsum(sizes)])]
        values.append(float(np.diff(within) @ means))
    return of_problems(scores.problems, np.array(values), counts // n)


def _same_shape(scores: Scores, other: Floats | Integers) -> None:
    if scores.cells.shape != other.shape:
        raise ValueError(f"a table of shape {scores.cells.shape} does not fit one of shape {other.shape}")


def _majority(sizes: list[int], means: list[float], count: int, k: int) -> float:
    """Expected score of the majority in k of `count` answers, of which `sizes` agree; the rest have no vote.

    Subsets are counted by polynomials in x, the number of chosen answers. For each number of votes v and each winner, all other
    answers have fewer votes, or v and a factor y. The integral of y^t over 0..1 is 1 / (t + 1), the winner's part of a tie with
    t others; Gauss and Legendre's nodes give it exactly.
    """
    nodes, parts = np.polynomial.legendre.leggauss(len(sizes) // 2 + 1)
    ties, parts = (nodes + 1) / 2, parts / 2
    silent = _choices(count - sum(sizes), k)
    won = 0.0
    for winner, (size, mean) in enumerate(zip(sizes, means, strict=True)):
        for votes in range(1, min(size, k) + 1) if mean else ():
            ways = np.tile(silent[: k - votes + 1], (len(ties), 1))
            for other in sizes[:winner] + sizes[winner + 1 :]:
                ways = _with_rival(ways, other, votes, ties)
            won += mean * comb(size, votes) * float(parts @ ways[:, k - votes])
    return won / comb(count, k)


def _with_rival(ways: Floats, size: int, votes: int, ties: Floats) -> Floats:
    """`ways`, shape (nodes, degrees), times the polynomial of one more answer that has at most `votes` votes."""
    after = np.zeros_like(ways)
    for taken in range(min(votes, size, ways.shape[1] - 1) + 1):
        factor = comb(size, taken) * (ties[:, None] if taken == votes else 1)
        after[:, taken:] += factor * ways[:, : ways.shape[1] - taken]
    return after


def _choices(size: int, k: int) -> Floats:
    return np.array([comb(size, taken) for taken in range(k + 1)], np.float64)
