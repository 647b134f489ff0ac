"""The editor asks for the text format before the text."""

from collections.abc import Callable

from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import ContestState
from tests.contests.factory import enter, make_contest
from tests.problems.factory import make_problem

ClientFor = Callable[[User | None], Client]


def test_the_text_format_precedes_the_text(bob: User, charlie: User, client_for: ClientFor) -> None:
    _, problem = enter(make_contest(bob, make_problem("One"), state=ContestState.OPEN), charlie)
    page = client_for(charlie).get(reverse("submissions:write", args=[problem.public_id])).content.decode()
    assert page.index('name="text_format"') < page.index('<textarea name="text"') < page.index("Hand in</button>")
