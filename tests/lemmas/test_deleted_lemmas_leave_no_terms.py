"""The index keeps no term and no word of a deleted lemma, on either database."""

import pytest
from django.db import connection

from apps.accounts.models import User
from apps.explorations.run_table.selection import runs_delete
from apps.lemmas.models import Lemma, LemmaText, LemmaWord
from apps.lemmas.projection import rebuild
from apps.lemmas.search.selectors import LemmaFilter, lemmas_found
from apps.runs.models import Run, RunEvent, RunStatus
from tests.lemmas.factory import make_run, make_story_run, make_user, stored, write_events
from tests.lemmas.test_projection import a_lemma

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader() -> User:
    return make_user("ada")


def delete(run: Run, owner: User) -> None:
    Run.objects.filter(pk=run.pk).update(owner=owner, status=RunStatus.FINISHED)
    assert runs_delete(user=owner, runs=[run]).runs


def a_run(*statements: str) -> Run:
    run = make_run()
    write_events(run, stored([(f"s0.{at}", a_lemma(f"s0.{at}", statement=text)) for at, text in enumerate(statements)]))
    return run


def terms() -> set[str]:
    """The words that the full-text index of the database itself has."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT word FROM ts_stat('SELECT vector FROM lemmas_lemmatext')")
        else:
            cursor.execute("CREATE VIRTUAL TABLE temp.lemma_vocabulary USING fts5vocab(main, lemmas_terms, row)")
            cursor.execute("SELECT term FROM temp.lemma_vocabulary")
        found = {word for (word,) in cursor.fetchall()}
        if connection.vendor == "sqlite":
            cursor.execute("DROP TABLE temp.lemma_vocabulary")
    return found


def words() -> set[str]:
    return set(LemmaWord.objects.values_list("word", flat=True))


def test_a_deleted_run_leaves_only_what_other_lemmas_have(reader: User) -> None:
    gone, kept = a_run("Every hexagon is convex."), a_run("Every triangle is convex.")
    assert {"hexagon", "triangl", "convex"} <= words() & terms()
    delete(gone, reader)
    assert "hexagon" not in words() | terms()
    assert {"triangl", "convex"} <= words() & terms()
    delete(kept, reader)
    assert (words(), terms(), LemmaText.objects.count()) == (set(), set(), 0)


def test_a_deleted_lemma_leaves_no_terms() -> None:
    run = a_run("Every hexagon is convex.", "Every triangle is convex.")
    Lemma.objects.get(run=run, lemma="s0.0").delete()
    assert "hexagon" not in terms()
    assert "triangl" in terms()


def test_a_lemma_that_is_gone_after_a_rebuild_leaves_no_words() -> None:
    run = a_run("Every hexagon is convex.", "Every triangle is convex.")
    RunEvent.objects.filter(run=run, body__lemma="s0.0").delete()
    rebuild(run)
    assert "hexagon" not in words() | terms()
    assert "triangl" in words() & terms()


def test_no_spelling_is_proposed_that_only_a_deleted_run_had(reader: User) -> None:
    run = make_story_run()
    assert lemmas_found(reader, LemmaFilter(q="intger")).notes
    delete(run, reader)
    assert lemmas_found(reader, LemmaFilter(q="intger")).notes == []
