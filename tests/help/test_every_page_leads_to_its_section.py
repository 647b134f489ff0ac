"""The "?" in the header: every page of the site has a section of its own in the documents, and the section exists."""

import re
from collections.abc import Callable

from django.conf import settings
from django.test import Client

from apps.accounts.models import User
from apps.help.documents import page_get
from apps.help.places import SECTIONS, section_of
from tests.access.test_every_view_has_a_rule import ALL_NAMES

NO_PAGE = {"healthz", "favicon"}


def test_every_view_has_a_section() -> None:
    without = [name for name in ALL_NAMES if not {name, name.partition(":")[0]} & {*SECTIONS, *NO_PAGE}]
    assert without == [], "add rows to apps/help/places.py"


def test_every_row_names_a_view_or_a_namespace() -> None:
    assert set(SECTIONS) - {*ALL_NAMES, *(name.partition(":")[0] for name in ALL_NAMES)} == set()


def test_every_section_exists() -> None:
    targets = sorted(set(SECTIONS.values()))
    assert [target for target in targets if page_get(target.partition("#")[0]) is None] == [], "docs/ has no such page"
    missing = [target for target in targets if target.partition("#")[2] not in anchors(target.partition("#")[0])]
    assert missing == [], "the page has no such section"


def anchors(name: str) -> set[str]:
    page = page_get(name)
    return {section.anchor for section in page.sections} if page is not None else set()


def test_a_view_has_its_own_section_before_that_of_its_namespace() -> None:
    assert section_of("marks:task") == "marking#the-workspace"
    assert section_of("marks:phrases") == "marking"
    assert section_of("unknown:view") == ""


def test_all_templates_of_pages_share_the_header_with_the_link() -> None:
    folder = settings.BASE_DIR / "templates"
    # Pages for people without an account have no navigation (templates/sharing/shared_*.html).
    pages = [path for path in folder.rglob("*.html") if not path.name.startswith(("_", "shared_")) and path.name != "base.html"]
    assert len(pages) > 50
    assert [str(path) for path in pages if '{% extends "base.html" %}' not in path.read_text()] == []
    assert [str(path) for path in pages if "{% block body %}" in path.read_text()] == []


def test_a_page_names_the_section_it_leads_to(client_for: Callable[[User | None], Client], alice: User) -> None:
    for address, target, name in (
        ("/problems/", "/help/problems/", "The problem library"),
        ("/marking/keys/", "/help/marking/#keys", "Keys"),
        ("/runs/", "/help/run_list/", "The list of runs"),
    ):
        (link,) = re.findall(r'<a class="help-link"[^>]*>', client_for(alice).get(address).content.decode())
        assert f'href="{target}"' in link
        assert f'aria-label="Help: {name}"' in link


def test_the_sign_in_page_and_a_missing_page_have_help_too(client: Client, db: None) -> None:
    assert 'href="/help/account/" aria-label="Help: Your account"' in client.get("/accounts/login/").content.decode()
    assert 'href="/help/" aria-label="Help: Documentation"' in client.get("/help/nothing/").content.decode()
