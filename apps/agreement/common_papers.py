"""Compare several graders on the papers that all of them scored, unless each is requested on its own papers."""

from collections.abc import Mapping, Sequence

from apps.reasoning.agreement.pairs import Pair, Scored, Sorted, by_author
from apps.reasoning.agreement.scales import CLOSE
from apps.reasoning.domain.values import Unscored, Value

OTHER_MARKS = "the person's points for the same paper name differ between graders, so the names do not identify papers"


class Common(Value):
    """The common papers of all graders for one author source.

    `papers`: number of compared papers; `dropped`: by grader, the papers that it scored but another did not; `scored_none`:
    graders excluded because they scored no paper. `apart`: why graders are compared on their own papers after all, or "".
    `exact`: by grader, the number of exact matches and of papers given to all graders, including unscored ones.
    """

    author: str
    papers: int
    dropped: dict[str, tuple[str, ...]]
    scored_none: tuple[str, ...] = ()
    apart: str = ""
    exact: dict[str, tuple[int, int]] = {}

    def words(self, names: Mapping[str, str]) -> str:
        """The line above the tables; `names` are labels of graders."""
        if self.apart:
            return f"The columns cover different papers and cannot be compared: {self.apart}."
        dropped = ", ".join(f"{names.get(name, name)} {len(papers)}" for name, papers in self.dropped.items())
        none = "".join(f" {names.get(name, name)} scored no paper and was ignored." for name in self.scored_none)
        papers = "paper" if self.papers == 1 else "papers"
        return (
            f"Compared on the {self.papers:,} {papers} that all {len(self.dropped)} graders scored; dropped: {dropped}.{none}"
        )


def on_common(graders: Mapping[str, Sequence[Pair]]) -> tuple[dict[str, tuple[Pair, ...]], tuple[Common, ...]]:
    """Drop scored pairs that not all graders have, per author source. Pairs that do not count are kept.

    A single grader keeps all its pairs and gets no `Common`.
    """
    if len(graders) < 2:
        return {name: tuple(pairs) for name, pairs in graders.items()}, ()
    by_grader = {name: by_author(list(pairs)) for name, pairs in graders.items()}
    found = []
    for author in sorted({author for parts in by_grader.values() for author in parts}):
        common = _common(author, {name: parts.get(author, []) for name, parts in by_grader.items()})
        if common is not None:
            found.append(common)
    dropped = {
        (one.author, name, paper) for one in found if not one.apart for name, given in one.dropped.items() for paper in given
    }
    kept = {
        name: tuple(pair for pair in pairs if not _counts(pair) or (pair.author, name, pair.paper) not in dropped)
        for name, pairs in graders.items()
    }
    return kept, tuple(found)


def _common(author: str, parts: Mapping[str, Sequence[Pair]]) -> Common | None:
    scored = {name: {one.paper: one for one in Sorted.of(pairs).scored} for name, pairs in parts.items()}
    none = tuple(name for name, given in scored.items() if not given)
    compared = {name: given for name, given in scored.items() if given}
    if len(compared) < 2:
        return None
    papers = set.intersection(*(set(given) for given in compared.values()))
    dropped = {name: tuple(paper for paper in given if paper not in papers) for name, given in compared.items()}
    if not papers:
        apart = f"no paper was scored by all {len(compared)} graders"
    else:
        apart = "" if _same_marks(papers, compared) else OTHER_MARKS
    exact = {} if apart else _exact({name: parts[name] for name in compared})
    return Common(author=author, papers=len(papers), dropped=dropped, scored_none=none, apart=apart, exact=exact)


def _same_marks(papers: set[str], compared: Mapping[str, Mapping[str, Scored]]) -> bool:
    first, *rest = compared.values()
    return all(abs(first[paper].human - other[paper].human) < CLOSE for paper in papers for other in rest)


def _exact(parts: Mapping[str, Sequence[Pair]]) -> dict[str, tuple[int, int]]:
    asked = {name: {one.paper: one for one in pairs if _asked(one)} for name, pairs in parts.items()}
    all_asked = set.intersection(*(set(given) for given in asked.values()))
    return {name: (sum(_is_exact(given[paper]) for paper in all_asked), len(all_asked)) for name, given in asked.items()}


def _asked(pair: Pair) -> bool:
    return not pair.contaminated and not isinstance(pair.human, Unscored)


def _counts(pair: Pair) -> bool:
    return _asked(pair) and not isinstance(pair.predicted, Unscored)


def _is_exact(pair: Pair) -> bool:
    if isinstance(pair.human, Unscored) or isinstance(pair.predicted, Unscored):
        return False
    return abs(pair.predicted - pair.human) < CLOSE
