"""Pictures of the documents: made by `make screenshot`, small, described and with a caption."""

import re

import pytest
from django.conf import settings
from PIL import Image

from apps.help.documents import sources
from tests.browser.screenshot import HEIGHT, MOST_BYTES, PICTURES, TARGET, WIDTH

FOUND = [
    (source, *match)
    for source in sources().values()
    for match in re.findall(r"^!\[([^\]]*)\]\((\S+)\)\n(.*)$", (settings.BASE_DIR / source).read_text(), re.MULTILINE)
]


#: Curves that a benchmark draws: `python -m benchmarks.learning.demonstration`.
CURVES = {"demonstration-0.svg"}


def test_every_picture_is_written_by_a_command_and_shown_in_a_document() -> None:
    files = {path.name for path in TARGET.iterdir()}
    assert files == {f"{name}.webp" for name in PICTURES} | CURVES
    assert {address.rsplit("/", 1)[1] for _, _, address, _ in FOUND} == files


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_a_picture_is_small_and_as_wide_as_the_others(name: str) -> None:
    path = TARGET / f"{name}.webp"
    assert path.stat().st_size <= MOST_BYTES
    with Image.open(path) as picture:
        assert picture.size == (WIDTH, HEIGHT)


@pytest.mark.parametrize(("source", "description", "address", "caption"), FOUND)
def test_a_picture_has_a_description_and_a_caption(source: str, description: str, address: str, caption: str) -> None:
    assert len(description.split()) > 5
    assert re.fullmatch(r"\*[^*]+\.\*", caption)
