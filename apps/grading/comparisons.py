"""The comparisons that a file of points asks for: each grader with the marks, two people as the line beside, splits."""

from collections.abc import Callable, Mapping, Sequence

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

    `consistency` is told of repeated runs only, over the papers of the part, whether they are marked or not. `beside` are the
    grader and two people on the papers that both sides have points on, None where nobody marked a second time.
    """

    name: str
    consistency: Consistency | Unscored | None
    over_all: Agreement
    splits: dict[str, dict[str, Agreement]]
    beside: tuple[Agreement, Agreement] | None = None


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


class Gathered(Value):
    """What is compared, wherever it comes from: the pairs of each grader, two people's pairs, the scale, groups to split by.

    `runs`: by grader, the points of each paper's runs, where the predictions are means of them. With `fitting`, half points
    are categories where a person's mark is one; otherwise the scale is taken as it is.
    """

    graders: dict[str, tuple[Pair, ...]]
    runs: dict[str, dict[str, tuple[float | Unscored, ...]]] = {}
    people: tuple[Pair, ...] = ()
    scale: Scale = Scale()
    fitting: bool = True
    groups: tuple[str, ...] = ()


def compare(lists: dict[str, list[Row]], columns: Columns, asked: Asked) -> tuple[Part, ...]:
    """The parts of a file. Raises `FileWrong` where a column is missing or a mark cannot be read."""
    return parts_of(gathered_of(lists, columns, asked), draws=asked.draws, seed=asked.seed)


def gathered_of(lists: dict[str, list[Row]], columns: Columns, asked: Asked) -> Gathered:
    """The pairs of a file. Raises `FileWrong` where a column is missing or a mark cannot be read."""
    graders = _graders(lists, columns, asked)
    first_rows = next(iter(lists.values()))
    marked = pairs_of(first_rows, columns, asked.second, by_person=True) if asked.second else []
    people = [pair for pair in marked if not isinstance(pair.predicted, Unscored)]
    halves = columns.scale if asked.halves is None else columns.scale.model_copy(update={"step": 0.5 if asked.halves else 1})
    return Gathered(
        graders={name: tuple(pairs) for name, (pairs, _) in graders.items()},
        runs={name: {paper: tuple(given) for paper, given in runs.items()} for name, (_, runs) in graders.items() if runs},
        people=tuple(people),
        scale=halves,
        fitting=asked.halves is None,
        groups=tuple(columns.groups),
    )


def parts_of(gathered: Gathered, *, draws: int, seed: int) -> tuple[Part, ...]:
    """A part per author source. All comparisons are made on one scale, so that they can be compared."""
    scale = scale_of_all(gathered)

    def of(pairs: Sequence[Pair]) -> Agreement:
        return agree(pairs, scale, draws=draws, seed=seed)

    second = by_author(gathered.people)
    agreed = {author: of(pairs) for author, pairs in second.items()}

    def compared(name: str, author: str) -> Compared:
        pairs = [pair for pair in gathered.graders[name] if pair.author == author]
        found = _compared(name, pairs, gathered.runs.get(name, {}), gathered.groups, of)
        if author not in second:
            return found
        ours, theirs = _same_papers(pairs, second[author])
        grader = found.over_all if len(ours) == found.over_all.counts.pairs else of(ours)
        people = agreed[author] if len(theirs) == agreed[author].counts.pairs else of(theirs)
        return found.model_copy(update={"beside": (grader, people)})

    authors = sorted({pair.author for pairs in gathered.graders.values() for pair in pairs})
    return tuple(
        Part(
            author=author,
            graders=tuple(compared(name, author) for name in gathered.graders),
            people=agreed.get(author),
        )
        for author in authors
    )


def _same_papers(ours: Sequence[Pair], theirs: Sequence[Pair]) -> tuple[list[Pair], list[Pair]]:
    """Both sides on the papers on which both have a pair that counts."""
    papers = {one.paper for one in Sorted.of(ours).scored} & {one.paper for one in Sorted.of(theirs).scored}
    first, second = ([pair for pair in pairs if pair.paper in papers] for pairs in (ours, theirs))
    return first, second


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


def _compared(name: str, pairs: list[Pair], runs: Mapping[str, Runs], groups: Sequence[str], of: Agree) -> Compared:
    splits = {group: {value: of(part) for value, part in split(pairs, group).items()} for group in groups}
    steady = consistency([runs[pair.paper] for pair in pairs]) if runs else None
    return Compared(name=name, consistency=steady, over_all=of(pairs), splits=splits)


def _name(name: str, column: str, asked: Asked) -> str:
    """The list's name, the column's, or both, whichever tells the graders apart."""
    if not name:
        return column
    return f"{name} {column}" if len(asked.predicted) > 1 else name


def scale_of_all(gathered: Gathered) -> Scale:
    """The one scale of a comparison: half points where a person's mark is one, unless it was said."""
    if not gathered.fitting:
        return gathered.scale
    second = Sorted.of(gathered.people).scored
    first = Sorted.of(pair for pairs in gathered.graders.values() for pair in pairs).scored
    return gathered.scale.fitted([*(pair.human for pair in (*first, *second)), *(pair.predicted for pair in second)])
