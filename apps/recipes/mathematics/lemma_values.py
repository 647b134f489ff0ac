"""Values of lemmas from the graph of all trajectories of a problem (Intern-S1-MO §4.3.1, Eq. 5; Algorithm 1, step 3).

A node is a valid lemma; identical statements are merged. An edge leads to each lemma derived from it, and to the end of each
trajectory whose final proof uses it. The value of an end is the trajectory's reward. Our choices where the paper is open:

- The mean over successors weights an edge by its number of trajectories, so that a value estimates the mean reward given the
  lemma. `weighting="uniform"` is the alternative.
- *All* trajectories are terminals, including those of reward 0. `terminals="nonzero"` is Algorithm 1 as written, where a lemma
  that helped once in sixteen is worth as much as one that always helps.
- An unused leaf has value 0.
- Merging creates cycles, so the values are the least non-negative solution of the linear equations, not a recursion.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from apps.recipes.mathematics.arrays import NotLearnable, finite

Weighting = Literal["counts", "uniform"]
Terminals = Literal["all", "nonzero"]
Node = Hashable
Edge = tuple[Node, Node]


@dataclass(frozen=True)
class ProofPath:
    """Contribution of one trajectory to the graph: its reward, edges between its lemmas, and lemmas its final proof uses.

    `lemmas` are all valid lemmas of the trajectory; those without a parent are children of the problem.
    """

    reward: float
    lemmas: frozenset[str] = frozenset()
    derived: frozenset[tuple[str, str]] = frozenset()
    used: frozenset[str] = frozenset()


@dataclass(frozen=True)
class LemmaValues:
    """Values of all lemmas, and `problem`, the value of the problem (the root)."""

    of: Mapping[str, float]
    problem: float


@dataclass(frozen=True)
class _Place:
    """The root or an end; a separate type, so that no lemma's name can collide with it."""

    end: int | None = field(default=None)


def lemma_values(
    paths: Sequence[ProofPath],
    *,
    weighting: Weighting = "counts",
    terminals: Terminals = "all",
) -> LemmaValues:
    """Values of all lemmas of one problem, 0 ≤ v ≤ highest reward.

    Raises `NotLearnable` without a trajectory, or for a reward that is not finite.
    """
    if not paths:
        raise NotLearnable("The lemma graph is empty: it needs at least one trajectory.")
    finite([path.reward for path in paths], "Rewards of trajectories")
    counts: Counter[Edge] = Counter()
    ends: dict[Node, float] = {}
    names: set[str] = set()
    for number, path in enumerate(paths):
        names |= _lemmas(path)
        counts.update(_edges(path, number))
        if terminals == "all" or path.reward != 0:
            ends[_Place(number)] = path.reward
    if terminals == "nonzero":
        counts = Counter({edge: seen for edge, seen in counts.items() if not isinstance(edge[1], _Place) or edge[1] in ends})
    if weighting == "uniform":
        counts = Counter(dict.fromkeys(counts, 1))
    values = graph_values(counts, ends)
    return LemmaValues({name: values.get(name, 0.0) for name in sorted(names)}, values.get(_Place(), 0.0))


def _lemmas(path: ProofPath) -> frozenset[str]:
    return path.lemmas | path.used | {name for edge in path.derived for name in edge}


def _edges(path: ProofPath, number: int) -> Iterable[Edge]:
    root, end, known = _Place(), _Place(number), _lemmas(path)
    inside = {(parent, child) for parent, child in path.derived if parent != child}
    children = {child for _, child in inside}
    yield from inside
    yield from ((root, name) for name in known - children)
    yield from ((name, end) for name in path.used)
    if not known:
        yield root, end


def graph_values(counts: Mapping[Edge, int], terminals: Mapping[Node, float]) -> dict[Node, float]:
    """v(l) = Σ c(l,l′) v(l′) / Σ c(l,l′) with given values of terminals. Self-loops are dropped.

    Solved as an absorbing chain on the nodes that can reach a terminal; all others are 0.
    """
    outgoing: dict[Node, dict[Node, int]] = {}
    incoming: dict[Node, set[Node]] = {}
    for (source, target), seen in counts.items():
        if source != target and source not in terminals and seen > 0:
            outgoing.setdefault(source, {})[target] = seen
            incoming.setdefault(target, set()).add(source)
    reaching: set[Node] = set()
    frontier = [node for node in terminals if node in incoming]
    while frontier:
        fresh = incoming.get(frontier.pop(), set()) - reaching
        reaching |= fresh
        frontier.extend(fresh)
    order = [node for node in outgoing if node in reaching]
    place = {node: index for index, node in enumerate(order)}
    matrix = np.eye(len(order))
    right = np.zeros(len(order))
    for node in order:
        total = sum(outgoing[node].values())
        for target, seen in outgoing[node].items():
            if target in terminals:
                right[place[node]] += seen / total * terminals[target]
            elif target in place:
                matrix[place[node], place[target]] -= seen / total
    solved = np.linalg.solve(matrix, right) if order else right
    values: dict[Node, float] = dict.fromkeys({*outgoing, *incoming} - set(terminals), 0.0)
    return values | {node: float(solved[index]) for node, index in place.items()}
