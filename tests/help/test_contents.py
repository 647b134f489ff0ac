"""The contents page is docs/README.md: one path for each reader, every document listed there, readable without an account."""

import re

from django.conf import settings
from django.test import Client

from apps.help.documents import page_url, pages, sources


def test_the_contents_have_a_path_for_each_reader_and_lead_to_pages(client: Client) -> None:
    html = client.get("/help/").content.decode()
    assert re.findall(r'<h2 id="([^"]+)"', html) == ["researcher", "coach-and-captain", "student", "operator", "contributor"]
    assert '<a href="/help/marking/" rel="noopener">Marking</a>' in html
    assert '<a href="/help/results/#appeals" rel="noopener">Appeals</a>' in html
    assert '<a href="/help/project/contributing/" rel="noopener">' in html


def test_every_document_is_listed_in_the_contents_or_in_the_index_of_its_folder() -> None:
    listed = {page.name: str(page.html) for page in pages()}
    index = {name: name.rpartition("/")[0] for name in sources() if name}
    missing = [name for name, folder in index.items() if page_url(name) not in listed[folder if folder in listed else ""]]
    assert missing == [], "list them in README.md of their folder"


def test_every_document_is_in_the_images_of_a_deployment() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (settings.BASE_DIR / "docker/Dockerfile").read_text(), re.MULTILINE)
    names = {name for line in copied for name in line.split()}
    assert [path for path in sources().values() if path not in names and path.split("/")[0] not in names] == []
