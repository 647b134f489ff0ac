"""Reading summaries: whole lemmas only, nothing invented, every defect named."""

import json

from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.summaries import Summary, read_summary
from tests.reasoning.play import final, lemma


def read(text: str, **changes: object) -> Summary:
    summary = read_summary(final(text, **changes))
    assert isinstance(summary, Summary), summary
    return summary


def unread(text: str, **changes: object) -> str:
    summary = read_summary(final(text, **changes))
    assert isinstance(summary, Unscored), summary
    return summary.reason


def test_lemmas_are_read_with_number_statement_and_steps() -> None:
    found = read(
        "Here they are.\n" + lemma(3, "Let $a>0$. Then $a+1>1$.", "Add $1$.", "Done.") + lemma("2-fixed", "$b>0$.", "Clear.")
    )
    first, second = found.lemmas
    assert (first.number, first.fixes, first.statement, first.steps) == (
        3,
        False,
        "Let $a>0$. Then $a+1>1$.",
        ("Add $1$.", "Done."),
    )
    assert (second.number, second.fixes) == (2, True)
    assert found.unread == ()


def test_a_title_is_read_where_there_is_one() -> None:
    titled = lemma(1, "Let $n$ be odd. Then $n^2$ is odd.", "Expand.").replace(
        "<statement>", "<title>Odd squares</title><statement>"
    )
    structured = json.dumps(
        {"lemmas": [{"number": 1, "title": "Odd squares", "statement": "$n^2$ is odd.", "steps": ["Expand."]}]}
    )
    assert [read(text).lemmas[0].title for text in (titled, structured)] == ["Odd squares", "Odd squares"]
    assert read(lemma(1, "Good.", "Proof.")).lemmas[0].title == ""


def test_a_long_a_doubled_or_a_copied_title_is_left_out() -> None:
    plain = lemma(1, "Let $n$ be odd. Then $n^2$ is odd.", "Expand.")
    asked = "its point in three to eight words"
    for titles in ("<title>Odd</title><title>Even</title>", f"<title>{'very ' * 30}long</title>", "<title>…</title>"):
        assert read(plain.replace("<statement>", f"{titles}<statement>")).lemmas[0].title == ""
    copied = read_summary(
        final(plain.replace("<statement>", f"<title>{asked}</title><statement>")), f"Write <title>{asked}</title>."
    )
    assert isinstance(copied, Summary)
    assert copied.lemmas[0].title == ""


def test_nothing_new_must_be_said() -> None:
    assert read("<no-lemmas/>").lemmas == ()
    assert unread("There is nothing new.") == "there is no <lemma>"
    assert unread("") == "the answer is empty"


def test_prose_that_looks_like_a_lemma_is_not_one() -> None:
    assert unread("**Lemma 1:** Every prime is odd. Trust me.") == "there is no <lemma>"
    assert unread("By Lemma 1. every prime is odd.\nProof: trust me.") == "there is no <lemma>"


def test_lemmas_in_the_thinking_part_do_not_count() -> None:
    assert unread(f"<think>{lemma(1, 'Draft', 'x')}</think>I give up.") == "there is no <lemma>"


def test_a_lemma_without_statement_or_steps_is_left_out_and_named() -> None:
    text = lemma(1, "Good.", "Proof.") + '<lemma number="2"><statement>Bare.</statement></lemma>' + lemma(3, "…", "Proof.")
    found = read(text)
    assert [entry.number for entry in found.lemmas] == [1]
    assert found.unread == ("lemma 2 has no proof steps", "lemma 3 does not have one statement")


def test_an_echoed_example_is_not_a_lemma() -> None:
    form = lemma("N", "the statement", "first step of the proof")
    assert "numbered 'N'" in unread(form)
    copied = lemma(1, "the statement", "first step of the proof")
    assert read_summary(final(copied), f"Write each lemma so:\n{form}") == Unscored(
        reason="its lemmas are the words of the form that was asked for"
    )


def test_a_number_that_comes_twice_counts_the_last_time() -> None:
    assert [entry.statement for entry in read(lemma(1, "Old.", "p") + lemma(1, "New.", "p")).lemmas] == ["New."]


def test_whole_lemmas_before_the_cut_are_kept_and_the_cut_is_reported() -> None:
    found = read(lemma(1, "Good.", "Proof.") + '<lemma number="2"><statement>Ha', finish_reason="length")
    assert [entry.number for entry in found.lemmas] == [1]
    assert "cut off" in found.unread[0]
    assert "cut off" in unread('<lemma number="2"><statement>Ha', finish_reason="length")
    assert "cut off" in unread("<no-lemmas/>", finish_reason="length")


def test_a_lemma_that_is_never_closed_is_named() -> None:
    assert read(lemma(1, "Good.", "Proof.") + '<lemma number="2">').unread == ("a <lemma> was opened and not closed",)


def test_a_structured_summary_is_read() -> None:
    text = json.dumps({"lemmas": [{"number": "1", "statement": "$\\frac12<1$.", "steps": ["Halve."]}]})
    assert read(text).lemmas[0].statement == "$\\frac12<1$."
    assert read('{"lemmas": []}').lemmas == ()
    assert unread('{"lemmas": [{"number": "1"}]}') == "there is no <lemma>"
