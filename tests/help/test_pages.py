"""A document as a page: anchors as on GitHub, links between documents, formulas, tables and code in boxes that scroll."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from pytest_django import Settings

from apps.help import documents
from apps.help.documents import page_get, page_url, pages, sources
from apps.help.rendering import page_render, slug

ALL = sorted(sources())


def rendered(text: str) -> str:
    known = {"other.md": "/help/other/", "images/run.webp": "/static/help/run.webp", "#here": "#here"}
    return str(page_render("one", f"# One\n\n{text}", known.get).html)


@pytest.mark.parametrize(
    ("title", "anchor"),
    [
        ("The student's pages", "the-students-pages"),
        ("Lines of `metrics.jsonl`", "lines-of-metricsjsonl"),
        ("States: always a glyph or a shape and a word, never colour alone",
         "states-always-a-glyph-or-a-shape-and-a-word-never-colour-alone"),
        ("1. Text", "1-text"),
        ("Celery's settings — and why", "celerys-settings--and-why"),
        ("Keys of an_alias", "keys-of-an_alias"),
    ],
)  # fmt: skip
def test_anchors_are_those_of_github(title: str, anchor: str) -> None:
    assert slug(title.replace("`", "")) == anchor


def test_a_page_has_its_title_once_and_a_table_of_its_sections(client: Client) -> None:
    html = client.get("/help/marking/").content.decode()
    assert re.findall(r"<h1>([^<]+)</h1>", html) == ["Marking"]
    assert '<h2 id="the-workspace"><a href="#the-workspace" class="help__anchor" rel="noopener">The workspace</a></h2>' in html
    table = html.split('<nav class="help__sections"')[1].split("</nav>")[0]
    assert '<a href="#the-workspace">The workspace</a>' in table


def test_equal_headings_get_different_anchors() -> None:
    page = page_render("one", "# One\n\n## Two\n\n## Two\n", lambda _: None)
    assert [section.anchor for section in page.sections] == ["", "two", "two-1"]


def test_a_section_has_the_words_up_to_the_next_heading() -> None:
    page = page_render(
        "one", "# One\n\nFirst `code` and\n$x^2$.\n\n## Two\n\n| a | b |\n|---|---|\n| c | d |\n", lambda _: None
    )
    assert [(section.title, section.text) for section in page.sections] == [
        ("One", "First code and x^2."),
        ("Two", "a b c d"),
    ]


def test_links_lead_to_pages_and_a_link_to_a_code_file_becomes_its_text() -> None:
    html = rendered("[there](other.md), [`ports.py`](../apps/reasoning/ports.py), [up](#here)")
    assert '<a href="/help/other/" rel="noopener">there</a>' in html
    assert '<a href="#here" rel="noopener">up</a>' in html
    assert "<code>ports.py</code>," in html
    assert "apps/reasoning" not in html


def test_an_image_is_shown_and_a_missing_one_is_its_description() -> None:
    assert '<img src="/static/help/run.webp" alt="A run">' in rendered("![A run](images/run.webp)")
    assert rendered("![A run](elsewhere.png)") == "<p>A run</p>\n"


def test_raw_html_is_text_and_scripts_have_no_address() -> None:
    html = rendered("<script>alert(1)</script> [x](javascript:alert(1))")
    assert "<script" not in html
    assert "href" not in html


def test_formulas_wait_for_typesetting_and_tables_and_code_scroll() -> None:
    html = rendered("$n\\ge 1$\n\n| a |\n|--:|\n| b |\n\n```\nlong\n```\n")
    assert '<span class="math inline">n\\ge 1</span>' in html
    assert '<div class="scroll-x" tabindex="0"><table class="table">' in html
    assert 'style="text-align:right"' in html
    assert '<pre tabindex="0"><code>long' in html


def test_every_document_has_a_title_and_its_links_lead_to_sections_and_pictures() -> None:
    anchors = {page_url(page.name, section.anchor) for page in pages() for section in page.sections}
    anchors |= {page_url(name) for name in ALL}
    wrong = []
    for name in ALL:
        page = page_get(name)
        if page is None or not page.title:
            wrong.append(f"{name} has no title")
            continue
        inside = [link if link[0] == "/" else page_url(name) + link for link in re.findall(r'href="([#/][^"]*)"', page.html)]
        wrong += [f"{name}: {link}" for link in inside if link.startswith("/help/") and link not in anchors]
        pictures = re.findall(r'src="/static/([^"]+)"', page.html)
        wrong += [f"{name}: {picture}" for picture in pictures if finders.find(picture) is None]
    assert wrong == []


@pytest.mark.parametrize(
    "address",
    ["/help/nothing/", "/help/README/", "/help/../manage.py/", "/help/..%2Fapps%2Fconfig%2Fmodels.toml/",
     "/help/%2Fetc%2Fpasswd/", "/help/adr/..%2Fmarking/"],
)  # fmt: skip
def test_an_unknown_name_and_a_path_to_another_file_are_not_found(client: Client, address: str) -> None:
    assert client.get(address).status_code == 404


@pytest.fixture
def other_docs(settings: Settings, tmp_path: Path) -> Iterator[Path]:
    """A folder of documents with one page, `only-here`."""
    settings.BASE_DIR = tmp_path
    document = tmp_path / "docs" / "only-here.md"
    document.parent.mkdir()
    document.write_text("# Before\n")
    for cache in (sources, documents._read):
        cache.cache_clear()
    yield document
    for cache in (sources, documents._read):
        cache.cache_clear()


@pytest.mark.parametrize(("debug", "title"), [(True, "After"), (False, "Before")])
def test_a_changed_document_is_read_again_while_developing_only(
    other_docs: Path, settings: Settings, debug: bool, title: str
) -> None:
    settings.DEBUG = debug
    before = page_get("only-here")
    other_docs.write_text("# After\n")
    os.utime(other_docs, (1, 1))
    after = page_get("only-here")
    assert before is not None
    assert before.title == "Before"
    assert after is not None
    assert after.title == title
