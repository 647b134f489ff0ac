"""Home, the list and the page of a run name the same outcome and the same date of an import."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.runs.models import Run
from tests.run_list.factory import make_run, page

ClientFor = Callable[[User | None], Client]
YEARS = timedelta(days=900)


@pytest.fixture
def client(alice: User, client_for: ClientFor) -> Client:
    return client_for(alice)


def test_an_import_has_the_date_of_its_import_on_every_page_and_is_recent_on_home(client: Client, alice: User) -> None:
    imported = timezone.now() - timedelta(days=5)
    long_ago = timezone.now() - YEARS
    for number in range(8):
        make_run(alice, f"Run {number}", finished_at=timezone.now() - timedelta(days=30 + number))
    run = make_run(alice, "From a file", preset="imported", started_at=long_ago, finished_at=long_ago)
    Run.objects.filter(pk=run.pk).update(created_at=imported)
    home = client.get("/").content.decode()
    assert home.index("From a file") < home.index("Run 0"), "imported five days ago, before runs that ended a month ago"
    detail = client.get(reverse("explorations:run_detail", args=[run.public_id])).content.decode()
    day = f'<time datetime="{timezone.localtime(imported):%Y-%m-%d}'
    for shown in (home, page(client, "?sort=-started&q=file"), detail):
        assert day in shown
        assert f'datetime="{timezone.localtime(long_ago):%Y-%m-%d}' not in shown


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ({"accepted": True, "ended_by": "accepted"}, "accepted"),
        ({"accepted": False, "ended_by": "budget"}, "not accepted"),
        ({"accepted": None, "ended_by": "exhausted"}, "not judged"),
        ({"accepted": None, "ended_by": "nothing-readable"}, "nothing readable"),
    ],
)
def test_home_and_the_list_say_the_outcome_instead_of_finished(
    client: Client, alice: User, outcome: dict[str, object], words: str
) -> None:
    make_run(alice, "Squares", outcome=outcome, finished_at=timezone.now())
    for shown in (client.get("/").content.decode(), page(client).partition("<tbody>")[2]):
        assert re.search(rf'class="status status--\w+">{words}<', shown)
        assert ">finished<" not in shown
