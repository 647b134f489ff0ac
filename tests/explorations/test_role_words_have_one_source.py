"""What a role does is said in one place: the page hands the words to its scripts."""

import html
import json
import re
from collections.abc import Callable
from pathlib import Path

from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.explorations.words import ROLE_WORDS
from apps.runs.models import RunStatus
from tests.explorations.factory import SPEC, add_open_call, make_exploration

SCRIPTS = Path(__file__).parents[2] / "static" / "js"


def test_the_page_hands_the_words_of_its_roles_to_its_scripts(client_for: Callable[[User | None], Client], alice: User) -> None:
    run = make_exploration(
        alice, RunStatus.RUNNING, spec={**SPEC, "roles": {**SPEC["roles"], "odd_one": SPEC["roles"]["writer"]}}
    )
    add_open_call(run)
    page = client_for(alice).get(reverse("explorations:run_detail", args=[run.public_id])).content.decode()
    given = re.search(r'data-role-words="([^"]*)"', page)
    assert given is not None
    handed = json.loads(html.unescape(given.group(1)))
    assert handed == {role: ROLE_WORDS.get(role, "Odd one") for role in [*SPEC["roles"], "odd_one"]}


def test_no_script_has_words_of_its_own() -> None:
    scripts = [path.read_text() for path in SCRIPTS.rglob("*.js")]
    assert [word for word in ROLE_WORDS.values() if any(f'"{word}"' in script for script in scripts)] == []
