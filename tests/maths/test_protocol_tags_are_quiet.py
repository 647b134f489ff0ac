"""Tags that the prompts ask for are shown quietly in a model's text, the same in the browser and on the server."""

import html
import re
from pathlib import Path
from typing import Any

import pytest

from apps.ui.markdown import render, render_answer
from apps.ui.protocol import pieces
from tests.node import run_script

PROMPTS = Path(__file__).parents[2] / "apps" / "reasoning" / "prompts"
ASKED_FOR = sorted({tag for file in PROMPTS.rglob("*.md") for tag in re.findall(r"</?[a-z][^<>\n`]*>", file.read_text())})
TEXTS = {
    '<lemma number="1">\n<statement>Let $p$ be a **prime**.</statement>\n<step>So $a<b>c$.</step>\n</lemma>': [
        '<lemma number="1">', "<statement>", "</statement>", "<step>", "</step>", "</lemma>",
    ],
    "We have *<claim> a < b* and b > c.": ["<claim>"],
    "No tag: 1 <2> 3, `<step>`, a<b and <onclick=alert(1)>.": [],
    "<no-lemmas/>": ["<no-lemmas/>"],
}  # fmt: skip


def on_the_server(text: str) -> list[str]:
    found = re.findall(r'<span class="protocol">(.*?)</span>', render_answer(text))
    return [html.unescape(tag) for tag in found]


@pytest.mark.parametrize(("text", "tags"), TEXTS.items())
def test_the_server_finds_tags_in_prose_and_none_in_code_or_formulas(text: str, tags: list[str]) -> None:
    assert on_the_server(text) == tags
    assert "protocol" not in render(text)


def test_the_browser_finds_the_same_and_loses_nothing() -> None:
    drawn: list[dict[str, Any]] = run_script("protocol.mjs", list(TEXTS))
    assert [one["tags"] for one in drawn] == list(TEXTS.values())
    assert all(tag in one["text"] for one, tags in zip(drawn, TEXTS.values(), strict=True) for tag in tags)


def test_a_tag_that_begins_a_line_begins_a_line() -> None:
    text = "First.\n<step>Second.</step> <step>Third.\nStill third.</step>"
    assert render_answer(text).count("<br>") == 1
    assert "<br>" not in render(text)
    assert run_script("protocol.mjs", [text])[0]["breaks"] == 1


def test_every_tag_of_every_prompt_is_one() -> None:
    assert {"<claim>", "</verdict>", "<no-lemmas/>"} <= set(ASKED_FOR)
    assert [tag for tag in ASKED_FOR if list(pieces(tag)) != [(tag, True)]] == []


def test_a_text_is_never_changed() -> None:
    for text in TEXTS:
        assert "".join(piece for piece, _ in pieces(text)) == text
