"""Lemmas of all runs that a person may see, found by words, formulas and filters."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.expressions import OrderBy, RawSQL
from django.utils import timezone

from apps.accounts.models import User
from apps.lemmas.models import LemmaState, LemmaText
from apps.lemmas.search.matching import matching, near_words
from apps.lemmas.search.query import Clause, Query, read
from apps.reasoning.graders.registry import GRADERS, PREPARERS
from apps.reasoning.graph.terms import pieces_of
from apps.runs.access import run_visible_to, runs_hidden_from
from apps.runs.models import Run

#: Lemmas that a search lists.
MOST = 1_000
#: Hidden runs that a query names by their keys.
HIDDEN_AT_MOST = 5_000
#: Spellings that replace an unknown word.
_SPELLINGS = 3
UNCHECKED = "unchecked"
VERDICTS = {
    LemmaState.VERIFIED.value: "verified",
    LemmaState.DOUBTFUL.value: "doubtful",
    LemmaState.REJECTED.value: "rejected",
    LemmaState.PROPOSED.value: "open: not yet verified",
    LemmaState.RETIRED.value: "retired",
    "refuted": "refuted by a formula",
}
FINDINGS = {
    "refuted": "a formula refuted",
    "survived": "formulas survived",
    "not_understood": "formulas not understood",
    UNCHECKED: "not checked",
}


@dataclass(frozen=True)
class LemmaFilter:
    """What to search for. Empty values do not filter. `all_versions` includes merged lemmas and those that were corrected."""

    q: str = ""
    formula: str = ""
    whole: bool = False
    problem: str = ""
    topic: str = ""
    verdict: str = ""
    confidence: float | None = None
    finding: str = ""
    model: str = ""
    since: date | None = None
    until: date | None = None
    all_versions: bool = False


@dataclass(frozen=True)
class Found:
    """The primary keys of the lemmas found, best first, at most `MOST`, and the query as it was understood."""

    ids: list[int]
    query: Query
    notes: list[str] = field(default_factory=list)


def texts_of(ids: Sequence[int]) -> list[LemmaText]:
    """The rows of a page in this order, each with its lemma, run and problem."""
    rows = LemmaText.objects.select_related("lemma", "run__problem_version__problem").in_bulk(ids)
    return [rows[one] for one in ids if one in rows]


def searchable_runs(user: User) -> QuerySet[Run]:
    """The runs whose lemmas a person may search: those they may see, without graders and preparers of problems."""
    return run_visible_to(user).exclude(scaffold__in=[*GRADERS, *PREPARERS]).order_by()


def texts_visible_to(user: User) -> QuerySet[LemmaText]:
    """The texts of searchable runs. The rules of access are asked once; hidden runs are then named by their keys, where they
    are few: planning and asking the rules costs 30 ms for each query.
    """
    if not user.may_see_runs:
        return LemmaText.objects.none()
    has_texts = Q(Exists(LemmaText.objects.filter(run=OuterRef("pk"))))
    graders = Run.objects.filter(has_texts, scaffold__in=[*GRADERS, *PREPARERS]).order_by()
    hidden = runs_hidden_from(user, has_texts).union(graders.values_list("pk", flat=True))
    keys = list(hidden[: HIDDEN_AT_MOST + 1])
    if len(keys) > HIDDEN_AT_MOST:
        return LemmaText.objects.filter(run__in=searchable_runs(user))
    return LemmaText.objects.exclude(run__in=RawSQL(",".join(map(str, keys)), ())) if keys else LemmaText.objects.all()  # noqa: S611  (keys of ours)


def lemmas_found(user: User, asked: LemmaFilter) -> Found:
    """The lemmas of all runs that match, by rank, then confidence, then the newest. Without words or formula, the newest first.

    Of lemmas on one problem that say the same, the best is listed (`statements`); with `all_versions`, each of them.
    If a word is in no statement, similarly spelled words are searched instead, and a note names them.
    """
    query = read(asked.q, asked.formula, whole=asked.whole)
    if query.finds_nothing:
        return Found([], query, query.notes)
    seen = texts_visible_to(user)
    texts = _filtered(seen, asked)
    found_by = _found_each if asked.all_versions else _found
    if not query.is_asked:
        return found_by(texts.order_by("-pk"), query, [])
    found = found_by(_ranked(texts, query), query, query.notes)
    if not found.ids and (spellings := _spellings(query, seen)):
        query = query.with_spellings({word: tuple(others) for word, others in spellings.items()})
        replaced = [_replaced(query, word, others) for word, others in spellings.items()]
        return found_by(_ranked(texts, query), query, [*query.notes, *replaced])
    return found


def _ranked(texts: QuerySet[LemmaText], query: Query) -> QuerySet[LemmaText]:
    by_confidence = OrderBy(F("confidence"), descending=True, nulls_last=True)
    return matching(texts, query).order_by(*_RANK, by_confidence, "-pk")


def _found_each(texts: QuerySet[LemmaText], query: Query, notes: list[str]) -> Found:
    """Every lemma."""
    ids = list(texts.values_list("pk", flat=True)[: MOST + 1])
    return Found(ids[:MOST], query, [*notes, *_note_of(len(ids))])


def _found(texts: QuerySet[LemmaText], query: Query, notes: list[str]) -> Found:
    """The best lemma of each statement of a problem."""
    rows = list(texts.values_list("pk", "form", "run")[: MOST + 1])
    often = {form for form, number in Counter(form for _, form, _ in rows).items() if number > 1}
    runs = {run for _, form, run in rows if form in often}
    problems = dict(Run.objects.order_by().filter(pk__in=runs).values_list("pk", "problem_version__problem"))
    best: dict[tuple[str, int | None], int] = {}
    for pk, form, run in rows[:MOST]:
        best.setdefault((form, problems[run] if form in often else None), pk)
    return Found(list(best.values()), query, [*notes, *_note_of(len(rows))])


def _note_of(number: int) -> list[str]:
    many = f"More than {MOST:,} lemmas match; the first {MOST:,} are listed. Add words or filters."
    return [many] if number > MOST else []


def models_used(user: User) -> list[str]:
    """The models that proposed lemmas in runs that a person may search."""
    used = LemmaText.objects.filter(run__in=searchable_runs(user)).exclude(model="").order_by("model")
    return list(used.values_list("model", flat=True).distinct())


#: A list, because mypy would miss the column that `matching` adds.
_RANK: list[str] = ["rank"]


def newest(texts: QuerySet[LemmaText]) -> QuerySet[LemmaText]:
    """Without merged lemmas and those that were corrected."""
    return texts.filter(is_latest=True).exclude(status=LemmaState.MERGED)


def _filtered(texts: QuerySet[LemmaText], asked: LemmaFilter) -> QuerySet[LemmaText]:
    if not asked.all_versions:
        texts = newest(texts)
    if asked.problem:
        texts = texts.filter(run__problem_version__problem__slug=asked.problem)
    if asked.topic:
        texts = texts.filter(run__problem_version__problem__topic=asked.topic)
    if asked.verdict == "refuted":
        texts = texts.filter(finding="refuted")
    elif asked.verdict:
        texts = texts.filter(status=asked.verdict)
    if asked.confidence is not None:
        texts = texts.filter(confidence__gte=asked.confidence)
    if asked.finding:
        texts = texts.filter(finding__in=["", "unchecked", "stopped"] if asked.finding == UNCHECKED else [asked.finding])
    if asked.model:
        texts = texts.filter(model=asked.model)
    if asked.since:
        texts = texts.filter(run__created_at__gte=_midnight(asked.since))
    if asked.until and asked.until < date.max:
        texts = texts.filter(run__created_at__lt=_midnight(asked.until + timedelta(days=1)))
    return texts


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time()))


def _spellings(query: Query, seen: QuerySet[LemmaText]) -> dict[str, dict[str, str]]:
    """By term that no visible statement has: similar terms of visible statements, each with the word that was written there."""
    found: dict[str, dict[str, str]] = {}
    for clause in query.clauses:
        if clause.is_word and not clause.excluded and len(clause.terms[0]) > 2 and not _written(seen, clause.terms[0]):
            near = {term: _written(seen, term) for term in near_words(clause.terms[0])}
            if kept := {term: word for term, word in near.items() if word}:
                found[clause.terms[0]] = dict(list(kept.items())[:_SPELLINGS])
    return found


def _written(texts: QuerySet[LemmaText], term: str) -> str:
    """The word of a statement that has this term, or "".

    Without an order: in the order of keys, PostgreSQL would walk all lemmas for a first match that may not exist.
    """
    first = next(iter(matching(texts, Query((Clause((term,)),))).select_related("lemma").order_by()[:1]), None)
    pieces = pieces_of(first.lemma.statement) if first else ()
    return next((first.lemma.statement[one.start : one.end] for one in pieces if first and term in one.terms), "")


def _replaced(query: Query, word: str, others: dict[str, str]) -> str:
    written = next(clause.written for clause in query.clauses if clause.terms == (word,))
    named = " or ".join(f"“{other}”" for other in others.values())
    return f"No lemma has the word “{written}”. You see results for {named}."
