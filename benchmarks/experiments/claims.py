"""How often "A is better" is said of equal methods, and of methods that differ by the smallest detectable difference."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import numpy as np

from apps.reasoning.statistics.differences import Difference, difference, holm
from apps.reasoning.statistics.intervals import Floats, Undefined
from apps.reasoning.statistics.metrics import Measure, average
from apps.reasoning.statistics.power import Components, smallest_detectable
from apps.reasoning.statistics.scores import Scores
from benchmarks.experiments.truths import TRUTHS, another, solved
from benchmarks.figures import Figure

METHODS = 12
WORLDS, QUICK_WORLDS = 400, 20
#: Enough for the first step of Holm over 66 pairs: 0.05 / 66 is three times the smallest p-value.
FLIPS = 4_000
Pairs = Callable[[Sequence[Measure]], list[tuple[Measure, Measure]]]
FAMILIES: dict[str, Pairs] = {
    "all against a baseline": lambda methods: [(one, methods[0]) for one in methods[1:]],
    "all pairs": lambda methods: list(combinations(methods, 2)),
}


def figures(quick: bool = False) -> list[Figure]:
    worlds = QUICK_WORLDS if quick else WORLDS
    found = []
    for problems in (10, 40):
        for family, pairs in FAMILIES.items():
            share, title = max(_false_alarms(problems, pairs, worlds))
            name = f"{problems} problems × 4, 12 equal methods, {family}: some “better” ({title})"
            found.append(Figure(name, share, "", 0.05, "at most"))
    for problems in (10, 30, 60):
        name = f"{problems} problems × 4: “better” at the smallest detectable difference"
        found.append(Figure(name, _power(problems, worlds * 5), "", 0.78, "at least"))
    return found


def _false_alarms(problems: int, pairs: Pairs, worlds: int) -> Iterator[tuple[float, str]]:
    """By truth, and by whether equal methods have the same chance on every problem or only the same mean over problems."""
    for title in ("mixed", "smooth"):
        for shift in ((0.0, 0.0), (0.0, 1.0)):
            rng, alarms = np.random.default_rng(problems), 0
            for world in range(worlds):
                chances = TRUTHS[title].chances(rng, (problems,))
                found = [_measure(solved(rng, another(rng, chances, shift))) for _ in range(METHODS)]
                alarms += _says_better([difference(*pair, flips=FLIPS, seed=world) for pair in pairs(found)])
            yield alarms / worlds, f"{title}, ± {shift[1]:g}"


def _says_better(found: Sequence[Difference | Undefined]) -> bool:
    compared = [one for one in found if isinstance(one, Difference)]
    adjusted = holm([one.p_value for one in compared])
    return any(one.is_decisive(p_value) for one, p_value in zip(compared, adjusted, strict=True))


def _power(problems: int, worlds: int) -> float:
    """Chances of half the problems are lower on one side, by a difference that varies between problems."""
    rng, spread = np.random.default_rng(problems), 0.1
    components = Components(between=spread**2, within=2 * 0.2375)
    smallest = smallest_detectable(components.spread(4), problems)
    assert isinstance(smallest, float)
    said = 0
    for world in range(worlds):
        middle = rng.uniform(0.5 - 0.15, 0.5 + 0.15, problems)
        apart = smallest + rng.normal(0, spread, problems)
        sides = [_measure(solved(rng, np.clip(middle + sign * apart / 2, 0, 1))) for sign in (1, -1)]
        found = difference(sides[0], sides[1], flips=FLIPS, seed=world)
        said += isinstance(found, Difference) and found.is_decisive()
    return said / worlds


def _measure(cells: Floats) -> Measure:
    found = average(Scores.of([f"p{index}" for index in range(len(cells))], cells))
    assert isinstance(found, Measure)
    return found
