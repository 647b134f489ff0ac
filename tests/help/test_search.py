"""Search in help: sections by words, the best first, with an excerpt; no result says what to do."""

import re

import pytest
from django.test import Client

from apps.help.search import LONGEST_QUERY, search


@pytest.mark.parametrize(
    ("query", "address"),
    [
        ("hints", "/help/results/#hints"),
        ("seal", "/help/after_sealing/"),
        ("METRICS_TOKEN", "/help/operations/#prometheus"),
        ("lemma graph", "/help/graph_data/"),
        ("GPU", "/help/deployment/#gpus"),
        ("how do i submit a photo", "/help/contests/#scans-and-photos"),
        ("forgot password", "/help/account/#the-password"),
        ("How do I hand in?", "/help/contests/#handing-in"),
        ("Is my work saved?", "/help/marking/#saving"),
    ],
)
def test_the_section_about_the_words_is_first(query: str, address: str) -> None:
    assert search(query)[0].address == address


def test_words_that_every_question_has_do_not_count() -> None:
    assert "/help/contests/#who-wrote-what" in [one.address for one in search("Who can see my name?")[:3]]
    assert search("how do i appeal") == search("appeal")
    assert search("the") != []


def test_a_section_without_the_rare_word_is_left_out() -> None:
    assert search("kappa of the graders")[0].address == "/help/agreement/#the-statistics"
    assert all("kappa" in (one.title + one.excerpt).lower() for one in search("kappa"))


def test_found_words_are_marked_and_everything_else_is_escaped() -> None:
    one = search("hints")[0]
    assert one.title == "<mark>Hints</mark>"
    assert one.page_title == "Results, appeals and hints"
    assert "<mark>Hints</mark> are off" in one.excerpt
    assert "&lt;<mark>claim</mark>&gt;<mark>partial</mark>" in search("claim partial")[0].excerpt


@pytest.mark.parametrize("query", ["", "   ", "?!", "xyzzy", "…"])
def test_words_that_no_section_contains_find_nothing(query: str) -> None:
    assert search(query) == []


def test_a_long_query_is_cut() -> None:
    assert search("hints " + "x" * LONGEST_QUERY) == search("hints " + "x" * (LONGEST_QUERY - 6))


def test_the_page_lists_sections_while_one_types_and_keeps_the_query(client: Client) -> None:
    html = client.get("/help/?q=appeals").content.decode()
    assert 'href="/help/results/#appeals"' in html
    assert 'value="appeals"' in html
    assert 'hx-trigger="input delay:250ms, submit"' in html
    assert re.search(r'id="count" role="status">\d+( best)? sections?<', html)
    assert 'id="researcher"' not in html


def test_no_result_says_what_to_do(client: Client) -> None:
    html = client.get("/help/?q=xyzzy").content.decode()
    assert "No section contains these words" in html
    assert "Try fewer or shorter words" in html
    assert '<a href="/help/">the contents</a>' in html
