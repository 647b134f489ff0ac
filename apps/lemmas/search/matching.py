"""The full-text search of each database: PostgreSQL's `tsvector` with pg_trgm, SQLite's FTS5. All its SQL is here."""

from difflib import get_close_matches

from django.db import connection
from django.db.models import QuerySet

from apps.lemmas.models import LemmaText, LemmaWord
from apps.lemmas.search.query import Query

#: Least likeness of another spelling, by `difflib`.
_LEAST_ALIKE = 0.7


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


def near_words(word: str, most: int = 8) -> list[str]:
    """Words of the index that are spelled like `word`, the most alike first; also words of lemmas that are not visible."""
    words = LemmaWord.objects.order_by().values_list("word", flat=True)
    if connection.vendor == "postgresql":
        # pg_trgm's operator, at its threshold of 0.3.
        words = words.extra(where=["word %% %s"], params=[word])
    else:
        words = words.filter(word__startswith=word[0])
    return get_close_matches(word, sorted(set(words)), most, _LEAST_ALIKE)
