"""Whether two pictures are scans of one page, by the ink in the cells of a grid."""

import numpy as np

Grid = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
ROWS, COLUMNS = 64, 48
#: Two scans of one page correlate above this, two pages with the same layout below it (tests/scanning).
SAME_ABOVE = 0.8


def is_same_page(first: str, second: str) -> bool:
    """Whether two likenesses are of one page. An empty page is like none."""
    return correlation(first, second) > SAME_ABOVE


def correlation(first: str, second: str) -> float:
    """The correlation of two likenesses, the largest over shifts by one cell; 0 without any."""
    if len(first) != ROWS * COLUMNS or len(second) != ROWS * COLUMNS:
        return 0.0
    one, other = (np.array([int(digit, 16) for digit in text], float).reshape(ROWS, COLUMNS) for text in (first, second))
    middle = one[1:-1, 1:-1]
    shifted = [other[1 + y : ROWS - 1 + y, 1 + x : COLUMNS - 1 + x] for y in (-1, 0, 1) for x in (-1, 0, 1)]
    return max(_correlation(middle, one) for one in shifted)


def _correlation(first: Grid, second: Grid) -> float:
    if not first.std() or not second.std():
        return 0.0
    return float(np.corrcoef(first.ravel(), second.ravel())[0, 1])
