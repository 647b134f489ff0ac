"""Certificates and letters: checked placeholders, names as text, nothing before sign-off, names and cut-offs."""

import re
from collections.abc import Callable
from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import AuthorKind, ContestProblem, Identity
from apps.marks.models import PrintedKind, PrintedText
from apps.marks.office.awards import cutoffs_read
from apps.marks.office.cutoffs import cutoffs_fix
from apps.marks.office.letters import USUAL, TextRefused, filled, printable, sheets_value, text_check
from apps.marks.office.names import names_open
from apps.marks.office.office import result_list, results_sign
from apps.marks.office.printed_texts import text_of, text_save
from tests.answers import pdf_text
from tests.marks.office.listed import listed

ClientFor = Callable[[User | None], Client]
HOSTILE = '#panic("x") $x^2$ *bold* {award} \\ <b>'


@pytest.fixture
def problem(bob: User, dana: User) -> ContestProblem:
    return listed(bob)


def made_ready(problem: ContestProblem, by: User, *, fixes: bool = True) -> None:
    """Sign off the list, open the names and fix gold from 7 and silver from 2."""
    contest, digest = problem.contest, result_list(problem.contest).digest
    results_sign(contest=contest, by=by, digest=digest)
    names_open(contest=contest, by=by, digest=digest)
    if fixes:
        cutoffs = cutoffs_read({"gold": "7", "silver": "2"}, has_mentions=True, step=Decimal(1))
        cutoffs_fix(contest=contest, by=by, cutoffs=cutoffs, digest=digest, based_on=None)


def address(problem: ContestProblem, kind: str = "certificate", name: str = "letters") -> str:
    return reverse(f"office:{name}", args=[problem.contest.public_id, kind])


@pytest.mark.parametrize("kind", USUAL)
def test_the_usual_texts_pass_the_check(kind: PrintedKind) -> None:
    text_check(*USUAL[kind])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("For {nmae}", r"Unknown placeholder: \{nmae\}. Use \{name\}, "),
        ("For {name} {", "A brace is left over"),
        ("For {Name}", "A brace is left over"),
        ("For everyone", r"has no \{name\}"),
        ("{name}" + "x" * 4_000, "at most"),
    ],
)
def test_a_wrong_text_is_refused_with_what_to_change(text: str, reason: str) -> None:
    with pytest.raises(TextRefused, match=reason):
        text_check("", text)


def test_placeholders_are_filled_once_and_lines_without_a_value_are_left_out() -> None:
    lines = list(filled("{name}\nof {school}\n\n{award}", {"name": "{award} Ada", "school": "", "award": "Gold medal"}))
    assert [line["words"] for line in lines] == ["{award} Ada", "", "Gold medal"], "a name with braces is no placeholder"
    assert [line["is_large"] for line in lines] == [True, False, True]


def test_nothing_is_printed_before_sign_off_names_and_cut_offs(
    problem: ContestProblem, bob: User, client_for: ClientFor
) -> None:
    contest, client = problem.contest, client_for(bob)
    assert "signed off" in printable(bob, contest, result_list(contest))[1]
    digest = result_list(contest).digest
    results_sign(contest=contest, by=bob, digest=digest)
    assert "Open the identities" in printable(bob, contest, result_list(contest))[1]
    names_open(contest=contest, by=bob, digest=digest)
    assert "Fix the cut-offs" in printable(bob, contest, result_list(contest))[1]
    page = client.get(address(problem)).content.decode()
    assert "Fix the cut-offs" in page
    assert "Ampere" not in page
    assert client.get(address(problem, name="letters_pdf")).status_code == 404


def test_one_pdf_has_all_certificates_and_names_are_set_as_text(
    problem: ContestProblem, bob: User, client_for: ClientFor
) -> None:
    Identity.objects.filter(name="Bo Bohr").update(name=HOSTILE)
    made_ready(problem, bob)
    answer = client_for(bob).get(address(problem, name="letters_pdf"))
    assert answer["Content-Type"] == "application/pdf"
    text = pdf_text(answer.content)
    for words in ("Ada Ampere", "of Gymnasium Hohenstein", "Cy Curie", "=SUM(1)", '#panic("x") $x^2$ *bold* {award}'):
        assert words in text, words
    assert text.count("Gold medal") == 1
    assert text.count("Silver medal") == 2
    awarded = pdf_text(client_for(bob).get(address(problem, name="letters_pdf") + "?who=awards").content)
    assert "=SUM(1)" not in awarded


def test_a_letter_of_one_student_has_the_points_of_that_student_only(
    problem: ContestProblem, bob: User, client_for: ClientFor
) -> None:
    made_ready(problem, bob)
    number = Identity.objects.get(name="Ada Ampere").paper.number
    answer = client_for(bob).get(address(problem, "letter", "letters_pdf") + f"?paper={number}")
    text = " ".join(pdf_text(answer.content).split())
    assert "Dear Ada Ampere" in text
    assert "Your total is 7 out of 7, which is rank 1 of 4." in text
    assert "Curie" not in text
    assert client_for(bob).get(address(problem, "letter", "letters_pdf") + "?paper=ZZZZZZ").status_code == 404


def test_a_wrong_text_is_shown_again_with_its_fault_and_nothing_is_saved(
    problem: ContestProblem, bob: User, client_for: ClientFor
) -> None:
    answer = client_for(bob).post(address(problem), {"heading": "Prize", "text": "For {nmae}", "based_on": "0"})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "For {nmae}" in page
    assert "Unknown placeholder" in page
    assert not PrintedText.objects.exists()


def test_after_a_conflict_the_text_of_the_other_organiser_is_shown_and_may_be_replaced(
    problem: ContestProblem, bob: User, client_for: ClientFor
) -> None:
    text_save(contest=problem.contest, kind="certificate", heading="", text="For {name}", based_on=0, by=bob)
    sent = {"heading": "Prize", "text": "To {name}", "based_on": "0"}
    answer = client_for(bob).post(address(problem), sent)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "their text is: For {name}" in page
    assert "To {name}</textarea>" in page
    based_on = re.findall('name="based_on" value="([0-9]+)"', page)
    assert based_on == ["1"]
    client_for(bob).post(address(problem), sent | {"based_on": based_on[0]})
    assert text_of(problem.contest, "certificate").text == "To {name}"


def test_a_model_gets_no_sheet_and_counts_for_no_rank(problem: ContestProblem, bob: User) -> None:
    Identity.objects.filter(name="Ada Ampere").update(kind=AuthorKind.MODEL)
    made_ready(problem, bob)
    ready, _ = printable(bob, problem.contest, result_list(problem.contest))
    assert ready is not None
    value = sheets_value("letter", "", "{name}: {rank} of {papers}", ready, ready.rows)
    assert [sheet["lines"][0]["words"][-6:] for sheet in value["sheets"]] == ["1 of 3", "1 of 3", "3 of 3"]


def test_a_changed_text_is_used_and_two_organisers_do_not_overwrite_each_other(problem: ContestProblem, bob: User) -> None:
    contest = problem.contest
    text_save(contest=contest, kind="letter", heading="Hello", text="Hi {name}!", based_on=0, by=bob)
    assert text_of(contest, "letter").text == "Hi {name}!"
    with pytest.raises(TextRefused, match="Another organiser changed this text"):
        text_save(contest=contest, kind="letter", heading="", text="Dear {name}", based_on=0, by=bob)
    text_save(contest=contest, kind="letter", heading="", text="Dear {name}", based_on=1, by=bob)
    made_ready(problem, bob)
    ready, _ = printable(bob, contest, result_list(contest))
    assert ready is not None
    value = sheets_value("letter", "", text_of(contest, "letter").text, ready, ready.rows)
    assert value["sheets"][0]["lines"][0]["words"] == "Dear Ada Ampere"
    with pytest.raises(TextRefused, match="no sheet to print"):
        sheets_value("letter", "", "{name}", ready, [])
