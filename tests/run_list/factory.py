"""Runs for tests of the list, and what the list shows of them."""

import re
from typing import Any

from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.problems.models import Problem
from apps.runs.models import Run, RunStatus, aliases_text
from tests.explorations.factory import make_problem

ADDRESS = reverse("explorations:run_list")


def make_run(owner: User | None, title: str, *, models: tuple[str, ...] = ("smollm2",), **fields: Any) -> Run:
    """A finished run that was not judged."""
    problem = Problem.objects.first() or make_problem()
    values = {
        "problem_version": problem.current,
        "scaffold": "intern_s1_mo",
        "spec": {},
        "status": RunStatus.FINISHED,
        **fields,
    }
    return Run.objects.create(title=title, owner=owner, aliases=aliases_text(models), **values)


def page(client: Client, query: str = "") -> str:
    return client.get(ADDRESS + query).content.decode()


def titles(client: Client, query: str = "") -> list[str]:
    """The titles of the rows, in order."""
    return re.findall(r'<a href="/runs/[-0-9a-f]{36}/">([^<]*)</a>', page(client, query))


def cells(client: Client, query: str = "") -> dict[str, str]:
    """The cells of the first row by their labels, as text."""
    row = page(client, query).partition("<tbody>")[2].partition("</tr>")[0]
    found = re.findall(r'<td[^>]*data-label="([^"]+)"[^>]*>(.*?)</td>', row, re.DOTALL)
    return {label: " ".join(re.sub(r"<[^>]+>", " ", text).split()) for label, text in found}


def select(client: Client, action: str, *runs: Run, **more: str) -> Any:
    """Send the form of the table with these runs selected."""
    data = {"action": action, "run": [str(run.public_id) for run in runs], **more}
    return client.post(reverse("explorations:run_selection"), data)


def said(client: Client, answer: Any) -> str:
    """The messages of the page that an action leads to."""
    shown = client.get(answer["Location"]).content.decode()
    return " ".join(re.findall(r'<li class="message[^>]*>(.*?)</li>', shown, re.DOTALL))
