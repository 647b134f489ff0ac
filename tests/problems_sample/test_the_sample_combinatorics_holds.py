"""The claims of the sample library in combinatorics, checked by listing all cases that can be listed."""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import combinations, pairwise, permutations, product
from math import comb, dist
from random import Random

import pytest

Cell = tuple[int, int]
Edge = tuple[int, int]


def tiles(size: int) -> list[frozenset[Cell]]:
    """Return all positions of a straight tetromino on a square board."""
    across = [frozenset((i, j + k) for k in range(4)) for i in range(size) for j in range(size - 3)]
    return across + [frozenset((j, i) for i, j in tile) for tile in across]


def is_tileable(size: int) -> bool:
    """Decide by exhaustive search whether straight tetrominoes cover the board."""

    @cache
    def search(free: frozenset[Cell]) -> bool:
        if not free:
            return True
        first = min(free)
        return any(search(free - tile) for tile in starting[first] if tile <= free)

    starting: dict[Cell, list[frozenset[Cell]]] = {cell: [] for cell in product(range(size), range(size))}
    for tile in tiles(size):
        starting[min(tile)].append(tile)
    return search(frozenset(starting))


def longest(values: Sequence[int], sign: int) -> int:
    """Return the length of the longest increasing (sign 1) or decreasing (sign -1) subsequence."""
    best: list[int] = []
    for i, value in enumerate(values):
        best.append(1 + max((best[j] for j in range(i) if sign * (value - values[j]) > 0), default=0))
    return max(best)


def uniform_triangles(points: int, red: frozenset[Edge]) -> int:
    return sum(len({edge in red for edge in combinations(three, 2)}) == 1 for three in combinations(range(points), 3))


def collinear(p: Cell, q: Cell, r: Cell) -> bool:
    return (q[0] - p[0]) * (r[1] - p[1]) == (q[1] - p[1]) * (r[0] - p[0])


def lines(points: Sequence[Cell]) -> set[frozenset[Cell]]:
    """Return, for every connecting line, the set of the points on it."""
    return {frozenset(r for r in points if collinear(p, q, r)) for p, q in combinations(points, 2)}


def test_ten_two_digit_numbers_have_disjoint_subsets_with_equal_sums() -> None:
    rng = Random(1972)
    assert sum(range(90, 100)) == 945 < 2**10 - 1
    for _ in range(30):
        numbers = rng.sample(range(10, 100), 10)
        seen: dict[int, frozenset[int]] = {}
        for subset in (frozenset(s) for size in range(1, 11) for s in combinations(numbers, size)):
            other = seen.setdefault(sum(subset), subset)
            if other != subset:
                left, right = subset - other, other - subset
                assert left
                assert right
                assert sum(left) == sum(right)
                break
        else:
            pytest.fail(f"no two subsets of {numbers} have equal sums")


def test_both_colourings_of_the_board_count_as_claimed() -> None:
    cells = list(product(range(10), repeat=2))
    blocks = Counter((i // 2 + j // 2) % 2 for i, j in cells)
    diagonals = Counter((i + j) % 4 for i, j in cells)
    assert blocks == {0: 52, 1: 48}
    assert diagonals[1] == 26
    for tile in tiles(10):
        assert Counter((i // 2 + j // 2) % 2 for i, j in tile) == {0: 2, 1: 2}
        assert {(i + j) % 4 for i, j in tile} == {0, 1, 2, 3}


def test_a_chessboard_colouring_gives_no_contradiction() -> None:
    cells = product(range(10), repeat=2)
    assert Counter((i + j) % 2 for i, j in cells) == {0: 50, 1: 50}
    assert all(Counter((i + j) % 2 for i, j in tile) == {0: 2, 1: 2} for tile in tiles(10))


@pytest.mark.parametrize(("size", "expected"), [(4, True), (6, False), (8, True)])
def test_the_search_agrees_on_smaller_boards(size: int, expected: bool) -> None:
    assert is_tileable(size) is expected


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 3), (3, 1), (2, 2), (2, 3), (3, 2)])
def test_every_sequence_has_a_long_monotone_subsequence(m: int, n: int) -> None:
    assert all(longest(order, 1) > m or longest(order, -1) > n for order in permutations(range(m * n + 1)))


@pytest.mark.parametrize(("m", "n"), list(product(range(1, 7), repeat=2)))
def test_the_blocks_have_no_longer_monotone_subsequence(m: int, n: int) -> None:
    values = [(n - 1 - q) * m + r for q in range(n) for r in range(1, m + 1)]
    assert sorted(values) == list(range(1, m * n + 1))
    assert (longest(values, 1), longest(values, -1)) == (m, n)


def test_six_people_have_two_uniform_triangles() -> None:
    edges = list(combinations(range(6), 2))
    fewest = min(
        uniform_triangles(6, frozenset(edge for edge, colour in zip(edges, colours, strict=True) if colour))
        for colours in product((False, True), repeat=15)
    )
    assert fewest == 2


def test_the_pentagon_has_no_uniform_triangle() -> None:
    sides = frozenset({(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)})
    assert uniform_triangles(5, sides) == 0


def test_every_subset_of_a_small_grid_has_an_ordinary_line() -> None:
    grid = list(product(range(4), range(3)))
    for size in range(3, len(grid) + 1):
        for points in combinations(grid, size):
            on_lines = lines(points)
            assert len(on_lines) == 1 or min(map(len, on_lines)) == 2


def test_a_line_at_the_smallest_distance_is_ordinary() -> None:
    rng = Random(1893)
    grid = list(product(range(7), range(7)))
    for _ in range(60):
        points = rng.sample(grid, rng.randint(4, 14))
        pairs = []
        for line in (line for line in lines(points) if len(line) < len(points)):
            (ax, ay), (bx, by) = sorted(line)[:2]
            for px, py in set(points) - line:
                area = abs((bx - ax) * (py - ay) - (by - ay) * (px - ax))
                pairs.append((area / dist((ax, ay), (bx, by)), len(line)))
        smallest = min(distance for distance, _ in pairs)
        assert all(count == 2 for distance, count in pairs if distance < smallest + 1e-9)


@pytest.mark.parametrize("judges", [3, 5, 7, 9, 11])
def test_a_candidate_brings_at_least_the_claimed_agreements(judges: int) -> None:
    agreements = {passes: comb(passes, 2) + comb(judges - passes, 2) for passes in range(judges + 1)}
    assert min(agreements.values()) == (judges - 1) ** 2 // 4
    for passes, value in agreements.items():
        assert 4 * value == judges**2 - 2 * judges + (2 * passes - judges) ** 2


def test_the_bound_for_three_judges_holds_for_all_ratings() -> None:
    for candidates in range(1, 5):
        for ratings in product(product((0, 1), repeat=3), repeat=candidates):
            most = max(sum(row[i] == row[j] for row in ratings) for i, j in combinations(range(3), 2))
            assert most * 6 >= candidates * 2


def test_the_labels_of_the_second_proof_decrease() -> None:
    for order in permutations(range(6)):
        labels = [longest([value for value in order[i:] if value >= order[i]], 1) for i in range(6)]
        for label in set(labels):
            same = [value for value, own in zip(order, labels, strict=True) if own == label]
            assert all(x > y for x, y in pairwise(same))
