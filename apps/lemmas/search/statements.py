"""One statement in several runs: lemmas on one problem whose normal forms are equal (`LemmaText.form`), and how many of their
runs hold it. The search shows them as one row, the page of a lemma lists them as sisters.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from apps.accounts.models import User
from apps.lemmas.models import Lemma, LemmaState, LemmaText
from apps.lemmas.search.selectors import newest, texts_visible_to

JUDGED = (LemmaState.VERIFIED, LemmaState.DOUBTFUL, LemmaState.REJECTED)
_LEFT_OUT = ("is_inherited", "run__is_authored")
#: Members of a statement that are listed, the newest first.
LISTED = 20


@dataclass(frozen=True)
class Held:
    """`held` of `judged` runs verified a statement.

    In neither number are unjudged lemmas, copies in forks, and authored examples, whose votes people wrote.
    """

    held: int = 0
    judged: int = 0


def held_in(lemmas: Iterable[tuple[int, str, str, bool]]) -> Held:
    """Counts runs by their newest lemma. `lemmas`, newest first: run, status by votes, status, whether it is left out."""
    by_run: dict[int, bool] = {}
    for run, judged, status, is_left_out in lemmas:
        if not is_left_out and judged in JUDGED:
            by_run.setdefault(run, status == LemmaState.VERIFIED)
    return Held(sum(by_run.values()), len(by_run))


@dataclass(frozen=True)
class Statement:
    """A lemma that was found, and the newest `LISTED` others of visible runs that say the same, of `lemmas` in all."""

    text: LemmaText
    others: list[LemmaText] = field(default_factory=list)
    lemmas: int = 1
    runs: int = 1
    held: Held = Held()

    @property
    def held_words(self) -> str:
        """`Held in 3 of 4 runs`, those that judged it; `In 2 runs` if none did."""
        if not self.held.judged:
            return f"In {self.runs} run{'s' if self.runs != 1 else ''}"
        return f"Held in {self.held.held} of {self.held.judged} run{'s' if self.held.judged != 1 else ''}"


def statements_of(user: User, texts: Sequence[LemmaText]) -> list[Statement]:
    """The statements of lemmas that were found, in this order. Members are of all runs that `user` may see."""
    same = newest(texts_visible_to(user)).filter(form__in={text.form for text in texts})
    named = ("form", "run__problem_version__problem", "pk", "run", "lemma__judged", "lemma__status")
    found: dict[tuple[str, int], list[tuple[int, int, str, str, bool]]] = defaultdict(list)
    for is_copy, is_authored, form, problem, *values in same.order_by("-pk").values_list(*_LEFT_OUT, *named):
        found[form, problem].append((*values, is_copy or is_authored))
    listed = {text.pk: [row[0] for row in found[text.form, _problem(text)] if row[0] != text.pk][:LISTED] for text in texts}
    rows = LemmaText.objects.select_related("lemma", "run").in_bulk([pk for keys in listed.values() for pk in keys])
    statements = []
    for text in texts:
        members = found[text.form, _problem(text)]
        others = [rows[pk] for pk in listed[text.pk] if pk in rows]
        runs = len({run for _, run, *_ in members} | {text.run_id})
        lemmas = len({row[0] for row in members} | {text.pk})
        statements.append(Statement(text, others, lemmas, runs, held_in(row[1:] for row in members)))
    return statements


def verdict_words(lemma: Lemma) -> str:
    """The verdict by votes, also of a retired lemma."""
    return lemma.state_words if lemma.judged not in JUDGED else LemmaState(lemma.judged).label


def _problem(text: LemmaText) -> int:
    return text.run.problem_version.problem_id
