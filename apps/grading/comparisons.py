"""The comparisons that a file of points asks for: each grader with the marks, two people as the line beside, splits."""

from collections.abc import Callable, Sequence

from apps.grading.columns import Columns, Runs, mean_pairs, pairs_of
from apps.grading.mark_files import Row
from apps.reasoning.agreement.consistency import Consistency, consistency
from apps.reasoning.agreement.pairs import Pair, Sorted, by_author, split
from apps.reasoning.agreement.report import Agreement, agree
from apps.reasoning.agreement.scales import Scale
from apps.reasoning.domain.values import Unscored, Value

Agree = Callable[[Sequence[Pair]], Agreement]


class Compared(Value):
    """One grader, over all and per value of each group. Groups never hold groups.

    `consistency` is told of repeated runs only, over the papers of the part, whether they are marked or not.
    """

    name: str
    consistency: Consistency | Unscored | None
    over_all: Agreement
    splits: dict[str, dict[str, Agreement]]


class Part(Value):
    """The papers of one author source, "" where none is told. `people` compares a second person's marks with the first's."""

    author: str
    graders: tuple[Compared, ...]
    people: Agreement | None


class Asked(Value):
    """What to compare: columns of predictions, that of a second person, whether halves are categories (None: where marks have
    some), and how to draw. With `runs` the columns of predictions are repeated runs of one grader."""

    predicted: tuple[str, ...]
    runs: bool = False
    second: str = ""
    halves: bool | None = None
    draws: int = 2000
    seed: int = 0


def compare(lists: dict[str, list[Row]], columns: Columns, asked: Asked) -> tuple[Part, ...]:
    """A part per author source. All comparisons of a file are made on one scale, so that they can be compared.

    Raises `FileWrong` where a column is missing or a mark cannot be read.
    """
    graders = _graders(lists, columns, asked)
    first_rows = next(iter(lists.values()))
    people = pairs_of(first_rows, columns, asked.second, by_person=True) if asked.second else []
    every = [pair for pairs, _ in graders.values() for pair in pairs]
    scale = _scale(columns.scale, asked.halves, every, people)

    def of(pairs: Sequence[Pair]) -> Agreement:
        return agree(pairs, scale, draws=asked.draws, seed=asked.seed)

    second = by_author(people)
    authors = sorted({pair.author for pair in every})
    return tuple(
        Part(
            author=author,
            graders=tuple(
                _compared(name, [pair for pair in pairs if pair.author == author], runs, columns.groups, of)
                for name, (pairs, runs) in graders.items()
            ),
            people=of(second[author]) if author in second else None,
        )
        for author in authors
    )  # fmt: skip


def _graders(lists: dict[str, list[Row]], columns: Columns, asked: Asked) -> dict[str, tuple[list[Pair], dict[str, Runs]]]:
    """Each grader's pairs, and its runs by paper where its columns are runs."""
    if asked.runs:
        means = f"mean of {len(asked.predicted)} runs"
        return {name or means: mean_pairs(rows, columns, asked.predicted) for name, rows in lists.items()}
    return {
        _name(name, column, asked): (pairs_of(rows, columns, column), {})
        for name, rows in lists.items()
        for column in asked.predicted
    }


def _compared(name: str, pairs: list[Pair], runs: dict[str, Runs], groups: Sequence[str], of: Agree) -> Compared:
    splits = {group: {value: of(part) for value, part in split(pairs, group).items()} for group in groups}
    steady = consistency([runs[pair.paper] for pair in pairs]) if runs else None
    return Compared(name=name, consistency=steady, over_all=of(pairs), splits=splits)


def _name(name: str, column: str, asked: Asked) -> str:
    """The list's name, the column's, or both, whichever tells the graders apart."""
    if not name:
        return column
    return f"{name} {column}" if len(asked.predicted) > 1 else name


def _scale(scale: Scale, halves: bool | None, pairs: list[Pair], people: list[Pair]) -> Scale:
    if halves is None:
        second = Sorted.of(people).scored
        return scale.fitted(
            [*(pair.human for pair in (*Sorted.of(pairs).scored, *second)), *(pair.predicted for pair in second)]
        )
    return scale.model_copy(update={"step": 0.5 if halves else 1})
