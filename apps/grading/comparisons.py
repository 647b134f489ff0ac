"""The comparisons that a file of points asks for: each grader with the marks, two people as the line beside, splits."""

from collections.abc import Callable, Sequence

from apps.grading.columns import Columns, pairs_of
from apps.grading.mark_files import Row
from apps.reasoning.agreement.pairs import Pair, Sorted, by_author, split
from apps.reasoning.agreement.report import Agreement, agree
from apps.reasoning.agreement.scales import Scale
from apps.reasoning.domain.values import Value

Agree = Callable[[Sequence[Pair]], Agreement]


class Compared(Value):
    """One grader, over all and per value of each group. Groups never hold groups."""

    name: str
    over_all: Agreement
    splits: dict[str, dict[str, Agreement]]


class Part(Value):
    """The papers of one author source, "" where none is told. `people` compares a second person's marks with the first's."""

    author: str
    graders: tuple[Compared, ...]
    people: Agreement | None


class Asked(Value):
    """What to compare: columns of predictions, that of a second person, whether halves are categories (None: where marks have
    some), and how to draw."""

    predicted: tuple[str, ...]
    second: str = ""
    halves: bool | None = None
    draws: int = 2000
    seed: int = 0


def compare(lists: dict[str, list[Row]], columns: Columns, asked: Asked) -> tuple[Part, ...]:
    """A part per author source. All comparisons of a file are made on one scale, so that they can be compared.

    Raises `FileWrong` where a column is missing or a mark cannot be read.
    """
    graders = {
        _name(name, column, lists, asked): pairs_of(rows, columns, column)
        for name, rows in lists.items()
        for column in asked.predicted
    }
    first_rows = next(iter(lists.values()))
    people = pairs_of(first_rows, columns, asked.second, by_person=True) if asked.second else []
    scale = _scale(columns.scale, asked.halves, [pair for pairs in (*graders.values(), people) for pair in pairs])

    def of(pairs: Sequence[Pair]) -> Agreement:
        return agree(pairs, scale, draws=asked.draws, seed=asked.seed)

    sorted_graders = {name: by_author(pairs) for name, pairs in graders.items()}
    second = by_author(people)
    authors = sorted({author for parts in sorted_graders.values() for author in parts})
    return tuple(
        Part(
            author=author,
            graders=tuple(
                _compared(name, parts.get(author, []), columns.groups, of) for name, parts in sorted_graders.items()
            ),
            people=of(second[author]) if author in second else None,
        )
        for author in authors
    )  # fmt: skip


def _compared(name: str, pairs: list[Pair], groups: Sequence[str], of: Agree) -> Compared:
    splits = {group: {value: of(part) for value, part in split(pairs, group).items()} for group in groups}
    return Compared(name=name, over_all=of(pairs), splits=splits)


def _name(name: str, column: str, lists: dict[str, list[Row]], asked: Asked) -> str:
    """The list's name, the column's, or both, whichever tells the graders apart."""
    if not name:
        return column
    return f"{name} {column}" if len(asked.predicted) > 1 else name


def _scale(scale: Scale, halves: bool | None, pairs: list[Pair]) -> Scale:
    if halves is None:
        parts = Sorted.of(pairs)
        return scale.fitted(pair.human for pair in parts.scored)
    return scale.model_copy(update={"step": 0.5 if halves else 1})
