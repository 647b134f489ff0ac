"""The full-text search of each database: PostgreSQL's `tsvector` with pg_trgm, SQLite's FTS5. All its SQL is here."""

from difflib import get_close_matches

from django.db import connection
from django.db.models import QuerySet

from apps.lemmas.models import LemmaText
from apps.lemmas.search.query import Query
from apps.reasoning.graph.terms import OF_FORMULA
from apps.runs.models import Run

#: Least likeness of another spelling, by `difflib`; PostgreSQL preselects by trigrams.
_LEAST_ALIKE = 0.7
_LEAST_TRIGRAMS = "0.4"
_TEXTS_AT_MOST = 500


def matching(texts: QuerySet[LemmaText], query: Query) -> QuerySet[LemmaText]:
    """The texts that match, with `rank`: lower is better. It is rounded, so that statements that match alike share a rank."""
    if connection.vendor == "postgresql":
        asked = [query.on_postgresql()]
        vector = "lemmas_lemmatext.vector"
        return texts.extra(  # noqa: S610
            select={"rank": f"round(-ts_rank({vector}, to_tsquery('simple', %s), 1)::numeric, 2)"},
            select_params=asked,
            where=[f"{vector} @@ to_tsquery('simple', %s)"],
            params=asked,
        )
    return texts.extra(
        select={"rank": "round(bm25(lemmas_terms), 0)"},
        tables=["lemmas_terms"],
        where=["lemmas_terms.rowid = lemmas_lemmatext.lemma_id", "lemmas_terms MATCH %s"],
        params=[query.on_sqlite()],
    )


def near_words(word: str, runs: QuerySet[Run], most: int = 8) -> list[str]:
    """Words of the index that are spelled like `word`, the most alike first. Not all are in `runs` on SQLite."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT set_config('pg_trgm.word_similarity_threshold', %s, false)", [_LEAST_TRIGRAMS])
            seen = LemmaText.objects.filter(run__in=runs).order_by()
            close = seen.extra(where=["%s <%% terms"], params=[word]).values_list("terms", flat=True)
            terms = {term for text in close[:_TEXTS_AT_MOST] for term in text.split()}
        else:
            cursor.execute("SELECT term FROM lemmas_words WHERE term >= %s AND term < %s", [word[0], chr(ord(word[0]) + 1)])
            terms = {term for (term,) in cursor.fetchall()}
    return get_close_matches(word, sorted(term for term in terms if not OF_FORMULA.match(term)), most, _LEAST_ALIKE)
