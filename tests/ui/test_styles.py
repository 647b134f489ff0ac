"""Style sheets use the design tokens, and both themes are readable."""

import re

import pytest
from django.conf import settings

CSS = settings.BASE_DIR / "static" / "css"
TOKENS = (CSS / "tokens.css").read_text()
OTHERS = sorted(path.name for path in CSS.glob("*.css") if path.name != "tokens.css")
RAW = re.compile(r"#[0-9a-f]{3,8}\b|\brgb\(|\bhsl\(|\b\d*\.?\d+px\b|\b\d+ms\b", re.IGNORECASE)
TEXT_PAIRS = [
    ("ink", "paper"), ("ink", "surface"), ("muted", "paper"), ("muted", "surface"), ("accent", "paper"), ("accent", "surface"),
    ("accent-strong", "accent-tint"), ("on-accent", "accent"), ("good", "paper"), ("warn", "paper"), ("bad", "paper"),
    ("ink", "good-tint"), ("ink", "warn-tint"), ("ink", "bad-tint"), ("bad", "bad-tint"),
    ("warn", "warn-tint"), ("good", "good-tint"),
]  # fmt: skip


def _block(selector: str) -> dict[str, str]:
    body = TOKENS.split(selector + " {", 1)[1].split("}", 1)[0]
    return {name: value.strip() for name, value in re.findall(r"--([\w-]+):\s*([^;]+);", body)}


LIGHT = _block(":root")
DARK = LIGHT | _block(':root[data-theme="dark"]')


def _luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    bright, dim = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


@pytest.mark.parametrize("name", OTHERS)
def test_only_the_tokens_have_raw_values(name: str) -> None:
    text = re.sub(r"/\*.*?\*/", "", (CSS / name).read_text(), flags=re.DOTALL)
    lines = [line.strip() for line in text.splitlines() if not line.lstrip().startswith("@media")]
    assert [line for line in lines if RAW.search(line)] == []


def test_both_definitions_of_the_dark_theme_are_equal() -> None:
    assert _block(':root:not([data-theme="light"])') == _block(':root[data-theme="dark"]')


@pytest.mark.parametrize(("text", "ground"), TEXT_PAIRS)
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_passes_wcag_aa(theme: dict[str, str], text: str, ground: str) -> None:
    assert _contrast(theme[text], theme[ground]) >= 4.5


@pytest.mark.parametrize("step", range(5))
def test_text_on_the_ramp_passes_wcag_aa(step: int) -> None:
    assert _contrast(LIGHT[f"on-ramp-{step}"], LIGHT[f"ramp-{step}"]) >= 4.5


def test_the_ramp_is_monotonic_in_grey() -> None:
    greys = [_luminance(LIGHT[f"ramp-{step}"]) for step in range(5)]
    assert greys == sorted(greys)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_lines_of_controls_are_visible(theme: dict[str, str]) -> None:
    assert _contrast(theme["line-strong"], theme["paper"]) >= 3
