"""Kinds of events are named once, in an enum, for Python and for JavaScript."""

import re
from pathlib import Path

import pytest

from apps.reasoning.domain.event_base import Kind
from apps.reasoning.story.vocabulary import EVENT_CLASSES
from tests.node import facts

ROOT = Path(__file__).parents[2]
HOMES = {"apps/reasoning/domain/event_base.py", "static/js/run/kinds.js"}
LITERAL = re.compile(f"""["']({"|".join(map(re.escape, Kind))})["']""")


def test_every_kind_has_one_class() -> None:
    assert set(EVENT_CLASSES) == set(Kind)
    assert all(cls.kind is Kind(kind) for kind, cls in EVENT_CLASSES.items())


@pytest.mark.parametrize("folder", ["apps", "workers", "static/js"])
def test_no_code_names_a_kind_by_a_string(folder: str) -> None:
    files = [path for ending in ("*.py", "*.js") for path in (ROOT / folder).rglob(ending)]
    found = {
        f"{name}:{number} {match[0]}"
        for path in files
        if (name := str(path.relative_to(ROOT))) not in HOMES
        for number, line in enumerate(path.read_text().splitlines(), 1)
        for match in LITERAL.finditer(line)
    }
    assert files
    assert not found


def test_a_kind_as_a_string_would_be_found() -> None:
    assert LITERAL.search('event["kind"] == "lemma.proposed"')
    assert not LITERAL.search('event["kind"] == Kind.LEMMA_PROPOSED')


def test_the_pages_have_the_same_names() -> None:
    assert facts(str(Path(__file__).with_name("kinds.mjs"))) == {kind.name: kind.value for kind in Kind}
