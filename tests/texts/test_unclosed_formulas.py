r"""A formula that is never closed is reported to the writer of the text, with its line."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import ContestState
from apps.reasoning.texts.formulas import unclosed
from tests.contests.factory import enter, hand_in, make_contest

ClientFor = Callable[[User | None], Client]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Let\n\\[ x = 1", [("\\[", 2)]),
        ("\\( x = 1", [("\\(", 1)]),
        ("\\(a\\) and \\(b", [("\\(", 1)]),
        ("$$ x = 1", [("$$", 1)]),
        ("\\begin{align} x", [("\\begin{align}", 1)]),
        ("\\[ x = 1 \\] and \\(y\\), $z$ and $$w$$", []),
        ("It costs $5.", []),
        ("`\\[` and\n```\n\\[\n```", []),
        ("\\begin{theorem} x", []),
        ("A row \\\\[2pt] ends", []),
        ("", []),
    ],
)
def test_what_opens_and_never_closes_is_found(text: str, found: list[tuple[str, int]]) -> None:
    assert [tuple(one) for one in unclosed(text)] == found


@pytest.mark.parametrize(("sign", "closing"), [("\\(", "\\)"), ("\\[", "\\]"), ("\\begin{cases}", "\\end{cases}")])
def test_the_warning_says_what_would_close_it(sign: str, closing: str) -> None:
    assert unclosed(f"{sign} x")[0].closing == closing


def test_the_author_is_warned_while_writing_and_after(bob: User, charlie: User, client_for: ClientFor) -> None:
    contest = make_contest(bob, state=ContestState.OPEN)
    paper, problem = enter(contest, charlie)
    client, text = client_for(charlie), "Let\n\n\\[ x = 1\n\nSo it is."
    warning = "Line 3: <code>\\[</code> opens a formula that is never closed"
    preview = reverse("submissions:preview", args=[problem.public_id])
    assert warning in client.post(preview, {"text": text, "text_format": "markdown"}).content.decode()
    version = hand_in(paper, problem, text)
    assert warning in client.get(reverse("submissions:version_own", args=[version.public_id])).content.decode()
    closed = client.post(preview, {"text": text.replace("1", "1 \\]"), "text_format": "markdown"}).content.decode()
    assert "never closed" not in closed


def test_the_author_of_a_problem_is_warned_too(bob: User, client_for: ClientFor) -> None:
    sent = {"title": "T", "statement": "Find \\(x", "solutions-TOTAL_FORMS": "0", "solutions-INITIAL_FORMS": "0"}
    page = client_for(bob).post(reverse("problems:preview"), sent).content.decode()
    assert "Statement, line 1: <code>\\(</code> opens a formula" in page


@pytest.mark.parametrize("sign", ["\\[", "\\(", "$$ ", "\\begin{align} "])
def test_only_the_first_ones_are_looked_for_in_a_text_full_of_them(sign: str) -> None:
    """A preview asks at every pause of typing; each sign is followed as far as a formula may reach."""
    assert len(unclosed(sign * 20_000 + "x")) <= 5
