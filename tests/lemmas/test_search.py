"""Lemmas of all runs are found by words, formulas and filters, and only by people who may see their runs."""

from datetime import date, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from apps.accounts.models import Role, User
from apps.contests.models import ContestState
from apps.lemmas.models import Lemma, LemmaText
from apps.lemmas.projection import rebuild
from apps.lemmas.search.highlights import highlighted
from apps.lemmas.search.selectors import LemmaFilter, lemmas_found, models_used, texts_of
from apps.runs.models import Run
from tests.contests.factory import make_contest
from tests.explorations.factory import SPEC, record_calls
from tests.lemmas.checked import checked_story
from tests.lemmas.factory import make_run, make_story_run, make_user, stored, write_events
from tests.lemmas.story import story
from tests.lemmas.test_projection import a_lemma

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader() -> User:
    return make_user("ada")


@pytest.fixture
def run() -> Run:
    return make_story_run(checked_story())


def found(reader: User, q: str = "", formula: str = "", **more: Any) -> list[str]:
    result = lemmas_found(reader, LemmaFilter(q=q, formula=formula, **more))
    return [text.lemma.lemma for text in texts_of(result.ids)]


def test_all_words_must_occur_in_any_form(run: Run, reader: User) -> None:
    assert set(found(reader, "odd integers")) == {"s0.2", "s0.6", "s0.7"}
    assert found(reader, "odd triangle") == []


def test_phrases_exclusions_and_beginnings(run: Run, reader: User) -> None:
    assert set(found(reader, '"odd integer"')) == {"s0.2", "s0.6", "s0.7"}
    assert found(reader, '"integer odd"') == []
    assert set(found(reader, "odd -integer")) == {"s0.1"}
    assert found(reader, "divisi*") == ["s0.1"]
    assert set(found(reader, "integer*")) == set(found(reader, "integer")), "a whole word is a beginning too"
    assert set(found(reader, '"every odd integer $a$ we have"')) <= set(found(reader, '"odd integer"'))
    assert found(reader, '"every odd integer $a$ we have"'), "small words and formulas are part of a phrase"


def test_a_formula_is_found_within_others_in_any_spelling(run: Run, reader: User) -> None:
    assert set(found(reader, formula=r"a^{2} - 1")) == {"s0.2", "s0.3", "s1.9"}
    assert set(found(reader, r"odd $a^2-1$")) == {"s0.2"}
    assert set(found(reader, "a^2-1")) == {"s0.2", "s0.3", "s1.9"}, "bare TeX among the words is a formula"
    assert found(reader, formula="A^2-1") == []


def test_a_whole_formula_is_found_under_other_names(run: Run, reader: User) -> None:
    assert set(found(reader, formula=r"16 \mid x^4-1", whole=True)) == {"s0.7", "s1.12"}
    assert found(reader, formula=r"x^4-1", whole=True) == []


def test_short_words_and_numbers_are_looked_for_in_formulas_too(run: Run, reader: User) -> None:
    assert set(found(reader, "p")) == {"s0.1", "s0.10-fixed", "s1.11"}
    assert set(found(reader, "48")) == {"s0.10-fixed"}


def test_common_words_alone_can_be_searched(run: Run, reader: User) -> None:
    assert set(found(reader, "is")) == {"s0.1", "s0.6"}
    assert set(found(reader, "is odd")) == {"s0.1", "s0.2", "s0.6", "s0.7"}


def test_a_slip_of_the_pen_is_replaced_and_named(run: Run, reader: User) -> None:
    result = lemmas_found(reader, LemmaFilter(q="intger"))
    assert {text.lemma.lemma for text in texts_of(result.ids)} == {"s0.2", "s0.6", "s0.7", "s1.12"}
    assert result.notes == ["No lemma has the word “intger”. You see results for “integer”."]


@pytest.mark.parametrize(
    "q",
    ["!!", "a AND OR ( \" *", "NEAR(", "'; drop", "x" * 5000, '"', "-", "*", "\\", "$", "$$", "a:*", "<->", "\x00", "(((", "^",
     "{", "terms:odd", "odd NOT", "𝕏", "-odd", "__", "%", "\\frac{", "~", "|", "&", "1e400", "xh xf", "ﬀ"],
)  # fmt: skip
def test_no_input_is_an_error(q: str, run: Run, reader: User) -> None:
    for asked in (
        LemmaFilter(q=q),
        LemmaFilter(formula=q),
        LemmaFilter(formula=q, whole=True),
        LemmaFilter(q=f'odd "{q}'),
    ):
        result = lemmas_found(reader, asked)
        assert result.ids or result.notes or result.query.is_asked or not q.strip("\0 ")


def test_what_cannot_be_searched_gets_a_sentence(run: Run, reader: User) -> None:
    assert "Write a word" in lemmas_found(reader, LemmaFilter(q="!!")).notes[0]
    assert "cannot only exclude" in lemmas_found(reader, LemmaFilter(q="-odd")).notes[0]


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ({"verdict": "proposed"}, {"s1.12"}), ({"verdict": "refuted"}, {"s1.9"}), ({"finding": "survived"}, {"s0.7"}),
        ({"verdict": "verified", "q": "odd"}, {"s0.1", "s0.2", "s0.6", "s0.7"}), ({"confidence": 1.0, "q": "every prime"},
        {"s0.10-fixed", "s1.11"}), ({"topic": "G"}, set()), ({"topic": "N", "q": "48"}, {"s0.10-fixed"}),
        ({"problem": "p4-minus-1", "q": "48"}, {"s0.10-fixed"}), ({"problem": "other"}, set()),
    ],
)  # fmt: skip
def test_filters(asked: dict[str, Any], names: set[str], run: Run, reader: User) -> None:
    assert set(found(reader, **asked)) == names


def test_runs_are_filtered_by_their_day(run: Run, reader: User) -> None:
    today: date = timezone.localdate()
    assert found(reader, "48", since=today, until=today) == ["s0.10-fixed"]
    assert found(reader, "48", since=today + timedelta(days=1)) == []
    assert found(reader, "48", until=today - timedelta(days=1)) == []


def test_corrected_and_merged_versions_are_shown_on_request(run: Run, reader: User) -> None:
    assert "s1.4" not in found(reader, "odd")
    assert found(reader, "48") == ["s0.10-fixed"]
    assert set(found(reader, "48", all_versions=True)) == {"s0.10", "s0.10-fixed"}
    assert "s1.4" in found(reader, "odd", all_versions=True)


def test_equal_ranks_are_sorted_by_confidence(reader: User) -> None:
    run = make_run()
    words = {"s0.1": "even", "s0.2": "odd", "s0.3": "prime"}
    write_events(run, stored([(name, a_lemma(name, statement=f"Squares are {word}.")) for name, word in words.items()]))
    for name, confidence in (("s0.1", 0.25), ("s0.2", None), ("s0.3", 0.75)):
        LemmaText.objects.filter(lemma__lemma=name).update(confidence=confidence)
    assert found(reader, "squares") == ["s0.3", "s0.1", "s0.2"]


def test_a_lemma_has_the_model_of_its_call(reader: User) -> None:
    run = make_story_run()
    run.spec = SPEC
    record_calls(run, run.events.filter(kind="call.began"))
    rebuild(run)
    assert models_used(reader) == ["small"]
    assert len(found(reader, model="small")) == len(found(reader)) > 0
    assert found(reader, model="large") == []


def test_held_back_problems_do_not_leak_by_hits_spellings_or_models(run: Run, reader: User, bob: User) -> None:
    make_contest(bob, run.problem_version.problem, state=ContestState.OPEN)
    assert found(reader) == found(reader, "odd") == []
    result = lemmas_found(reader, LemmaFilter(q="intger"))
    assert (result.ids, result.notes) == ([], [])
    assert models_used(reader) == []


def test_students_find_nothing(run: Run) -> None:
    assert found(make_user("eve", Role.STUDENT)) == []


def test_graders_are_not_searched(run: Run, reader: User) -> None:
    Run.objects.update(scaffold="single_turn")
    assert found(reader, "odd") == []


def test_the_index_follows_the_rows(run: Run, reader: User) -> None:
    before = list(LemmaText.objects.order_by("lemma__first_seq").values_list("lemma__lemma", "terms", "finding", "status",
                                                                             "confidence", "is_latest"))  # fmt: skip
    assert len(before) == Lemma.objects.count() == 13
    assert [row[3:5] for row in before] == list(Lemma.objects.order_by("first_seq").values_list("status", "confidence"))
    rebuild(run)
    again = LemmaText.objects.order_by("lemma__first_seq")
    assert list(again.values_list("lemma__lemma", "terms", "finding", "status", "confidence", "is_latest")) == before
    assert "s0.7" in found(reader, "odd")


def test_one_event_at_a_time_gives_the_same_index() -> None:
    columns = ("lemma__lemma", "terms", "finding", "status", "confidence", "is_latest")
    rows = []
    for batch in (1, 500):
        run = make_run()
        write_events(run, stored(checked_story()), batch=batch)
        rows.append(list(LemmaText.objects.filter(run=run).order_by("lemma__first_seq").values_list(*columns)))
    assert rows[0] == rows[1]


def test_older_lemmas_are_indexed_by_the_command(run: Run, reader: User) -> None:
    columns = ("lemma__lemma", "terms", "form", "finding", "status", "confidence", "is_latest")
    before = set(LemmaText.objects.values_list(*columns))
    LemmaText.objects.all().delete()
    assert found(reader, "odd") == []
    out = StringIO()
    call_command("index_lemmas", stdout=out)
    assert out.getvalue() == "13 lemmas indexed.\n"
    assert set(LemmaText.objects.values_list(*columns)) == before
    call_command("index_lemmas", stdout=(again := StringIO()))
    assert again.getvalue() == "0 lemmas indexed.\n"
    call_command("index_lemmas", "--all", stdout=(every := StringIO()))
    assert every.getvalue() == "13 lemmas indexed.\n"
    assert "s0.7" in found(reader, "odd")


def test_more_than_a_thousand_are_cut_with_a_sentence(reader: User, monkeypatch: pytest.MonkeyPatch) -> None:
    make_story_run(story())
    monkeypatch.setattr("apps.lemmas.search.selectors.MOST", 3)
    result = lemmas_found(reader, LemmaFilter())
    assert len(result.ids) == 3
    assert result.notes == ["More than 3 lemmas match; the first 3 are listed. Add words or filters."]


def test_words_and_formulas_are_marked_but_no_html() -> None:
    text = "Every <b>odd</b> $a^2 < 1$ is odd & odder."
    spans = [(at, at + 3) for at in (9, 31)] + [(17, 26)]
    html = highlighted(text, spans)
    assert html.count("<mark>odd</mark>") == 2
    assert "&lt;b&gt;" in html
    assert "marked--found" in html
    assert "odder" in html
