"""Compare graders with marks: each grader over all and by group, two people as baseline, paired differences."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from apps.agreement.common_papers import Common, on_common
from apps.agreement.sources.columns import Columns, Runs, mean_pairs, pairs_of
from apps.agreement.sources.maxima import maxima_check
from apps.files.kept_columns import siblings
from apps.files.mark_files import Row, column_names, value_of
from apps.files.tables import FileWrong
from apps.graders.planning.shown import ViewShown, shown_read
from apps.reasoning.agreement.consistency import Consistency, consistency
from apps.reasoning.agreement.paired import Difference, differences
from apps.reasoning.agreement.pairs import Pair, Sorted, by_author, split
from apps.reasoning.agreement.report import FEW, Agreement, agree
from apps.reasoning.agreement.scales import Scale
from apps.reasoning.domain.values import Unscored, Value

Agree = Callable[[Sequence[Pair]], Agreement]


class Compared(Value):
    """One grader, over all and per value of each group. Groups are not nested.

    `consistency`: for repeated runs only, over all papers of the part, marked or not. `beside`: agreement of the grader and of
    two people on the papers for which both exist; None without second marks.
    """

    name: str
    consistency: Consistency | Unscored | None
    over_all: Agreement
    splits: dict[str, dict[str, Agreement]]
    beside: tuple[Agreement, Agreement] | None = None


class Part(Value):
    """The papers of one author source, "" if not given. `people` compares a second person's marks with the first's.

    `common`: the common papers of several graders. If they have at least `FEW`, `differences` holds by grader the differences
    of its statistics from those of `baseline`.
    """

    author: str
    graders: tuple[Compared, ...]
    people: Agreement | None
    common: Common | None = None
    baseline: str = ""
    differences: dict[str, tuple[Difference, ...]] = {}


class Asked(Value):
    """A comparison of columns of a file. With `runs` the columns `predicted` are repeated runs of one grader.

    `second`: column of a second person; `halves`: whether half points are categories (None: if marks have some).
    """

    predicted: tuple[str, ...]
    runs: bool = False
    second: str = ""
    halves: bool | None = None
    draws: int = 2000
    seed: int = 0


class Gathered(Value):
    """The input of a comparison from any source: pairs of each grader and of two people, scale, groups to split by.

    `runs`: by grader and paper, the points of its runs if predictions are means. With `fitting`, half points are categories if
    a person's mark has one; otherwise the scale is used as given. `views`: by grader, several if its view changed, none if
    unknown. `common` is empty if each grader has its own papers. `notes` are shown above the tables.
    """

    graders: dict[str, tuple[Pair, ...]]
    runs: dict[str, dict[str, tuple[float | Unscored, ...]]] = {}
    people: tuple[Pair, ...] = ()
    scale: Scale = Scale()
    fitting: bool = True
    groups: tuple[str, ...] = ()
    views: dict[str, tuple[ViewShown, ...]] = {}
    common: tuple[Common, ...] = ()
    baseline: str = ""
    notes: tuple[str, ...] = ()

    def on_common(self, baseline: str = "") -> "Gathered":
        """Restrict to the papers that all graders scored. `baseline` defaults to the first grader."""
        graders, common = on_common(self.graders)
        first = baseline if baseline in graders else next(iter(graders), "")
        return self.model_copy(update={"graders": graders, "common": common, "baseline": first})


def gathered_of(lists: dict[str, list[Row]], columns: Columns, asked: Asked) -> Gathered:
    """The pairs of a file. Raises `FileWrong` for a missing column, a column used twice, or an unreadable mark."""
    _refuse_itself(columns.human, asked)
    for rows in lists.values():
        for column in asked.predicted:
            maxima_check(rows, column, columns)
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
        views={}
        if asked.runs
        else {
            _name(name, column, asked): _views(rows, column, columns.human)
            for name, rows in lists.items()
            for column in asked.predicted
        },
    )


def _refuse_itself(human: str, asked: Asked) -> None:
    """Refuse a column that is used for both sides or twice for one. Raises `FileWrong`."""
    sides = (
        (human in asked.predicted, human, "a person's points and a grader's"),
        (human == asked.second, human, "the points of two people"),
        (asked.second in asked.predicted, asked.second, "a second person's points and a grader's"),
    )
    for is_same, name, what in sides:
        if is_same:
            raise FileWrong(f"“{name}” is used for {what}, but a column always agrees with itself. Choose two columns.")
    if twice := [name for name, count in Counter(asked.predicted).items() if count > 1]:
        raise FileWrong(f"“{twice[0]}” is given twice for a grader's points. Give each column once.")


def parts_of(gathered: Gathered, *, draws: int, seed: int) -> tuple[Part, ...]:
    """One part per author source. All comparisons use one scale."""
    scale = scale_of_all(gathered)

    def of(pairs: Sequence[Pair]) -> Agreement:
        return agree(pairs, scale, draws=draws, seed=seed)

    second = by_author(gathered.people)
    agreed = {author: of(pairs) for author, pairs in second.items()}
    common = {one.author: one for one in gathered.common}

    def compared(name: str, author: str) -> Compared:
        pairs = [pair for pair in gathered.graders[name] if pair.author == author]
        found = _compared(name, pairs, gathered.runs.get(name, {}), gathered.groups, of)
        if (one := common.get(author)) and name in one.exact:
            same, asked = one.exact[name]
            exact = {"exact_of": (same, asked), "accuracy": same / asked}
            found = found.model_copy(update={"over_all": found.over_all.model_copy(update=exact)})
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
            common=common.get(author),
            baseline=gathered.baseline,
            differences=_differences(gathered, common.get(author), scale, draws, seed),
        )
        for author in authors
    )


def _differences(
    gathered: Gathered, common: Common | None, scale: Scale, draws: int, seed: int
) -> dict[str, tuple[Difference, ...]]:
    """Paired differences of each grader from the baseline, if there are enough common papers."""
    if common is None or common.apart or common.papers < FEW or gathered.baseline not in common.dropped:
        return {}
    scored = {
        name: Sorted.of(pair for pair in gathered.graders[name] if pair.author == common.author).scored
        for name in common.dropped
    }
    first = scored.pop(gathered.baseline)
    return {name: differences(first, pairs, scale, draws=draws, seed=seed) for name, pairs in scored.items()}


def _views(rows: list[Row], column: str, human: str) -> tuple[ViewShown, ...]:
    """The views of this column's grader, from the view column that our exports write next to it."""
    view = siblings(column_names(rows), "view", human).get(column, "")
    found = dict.fromkeys(shown_read(value_of(row, view)) for row in rows) if view else {}
    return tuple(shown for shown in found if shown is not None)


def _same_papers(ours: Sequence[Pair], theirs: Sequence[Pair]) -> tuple[list[Pair], list[Pair]]:
    """Both sides restricted to the papers for which both have a pair that counts."""
    papers = {one.paper for one in Sorted.of(ours).scored} & {one.paper for one in Sorted.of(theirs).scored}
    first, second = ([pair for pair in pairs if pair.paper in papers] for pairs in (ours, theirs))
    return first, second


def _graders(lists: dict[str, list[Row]], columns: Columns, asked: Asked) -> dict[str, tuple[list[Pair], dict[str, Runs]]]:
    """Each grader's pairs, with its runs by paper if the columns are runs."""
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
    """The grader's name: that of the list, the column, or both, as needed to distinguish graders."""
    if not name:
        return column
    return f"{name} {column}" if len(asked.predicted) > 1 else name


def scale_of_all(gathered: Gathered) -> Scale:
    """The scale of a comparison: with half points if a person's mark has one, unless the scale is fixed."""
    if not gathered.fitting:
        return gathered.scale
    second = Sorted.of(gathered.people).scored
    first = Sorted.of(pair for pairs in gathered.graders.values() for pair in pairs).scored
    return gathered.scale.fitted([*(pair.human for pair in (*first, *second)), *(pair.predicted for pair in second)])
