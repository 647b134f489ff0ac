"""Page codes of printed sheets are read from poor scans, and no page is read as another one."""

from tempfile import TemporaryFile
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.scanning.codes import CHARACTERS, PageCode, code_of, token_random
from apps.scanning.likeness import correlation
from apps.scanning.reading import PageRead, Work, pages_of
from tests.scanning.factory import jpeg, scanned, sheet

TOKENS = st.text(alphabet=CHARACTERS, min_size=8, max_size=8)
SCANS: list[dict[str, Any]] = [
    {"dpi": dpi, "angle": angle, "noise": noise, "shadow": shadow, "turn": turn}
    for dpi, angle, noise, shadow, turn in (
        (150, 10, 20, 0.4, 0),
        (150, -10, 10, 0, 90),
        (200, 6, 25, 0.3, 180),
        (300, -8, 15, 0.45, 270),
        (150, 0, 0, 0.2, 180),
        (200, -3, 20, 0.45, 0),
    )
]


def read(files: list[bytes]) -> list[PageRead]:
    with TemporaryFile() as source:
        work, at = [], 0
        for data in files:
            source.write(data)
            work.append(Work("image", at, len(data)))
            at += len(data)
        source.flush()
        return list(pages_of(source, work))


@given(TOKENS, st.integers(0, 10**9), st.integers(0, 40))
def test_a_code_is_read_back(token: str, problem: int, page: int) -> None:
    code = PageCode(token, problem, page)
    assert code_of(code.text) == code
    assert len(code.text) <= 29, "a QR code of version 2 with a quarter of its signs for correction holds no more"


@settings(max_examples=300)
@given(TOKENS, st.integers(1, 10**6), st.integers(0, 40), st.data())
def test_a_changed_sign_makes_no_other_code(token: str, problem: int, page: int, data: st.DataObject) -> None:
    text = PageCode(token, problem, page).text
    at = data.draw(st.integers(3, len(text) - 1))
    changed = text[:at] + data.draw(st.sampled_from([sign for sign in CHARACTERS if sign != text[at]])) + text[at + 1 :]
    assert code_of(changed) is None


@pytest.mark.parametrize("text", ["", "https://example.org", "L1.BCDFGHJK.1.1", "L1.BCDFGHJK.1.1.BB", "L2.BCDFGHJK.1.1.BB"])
def test_another_code_is_none_of_ours(text: str) -> None:
    assert code_of(text) is None


def test_turned_shaded_and_noisy_pages_are_read_upright_without_their_code() -> None:
    codes = [PageCode(token_random(), number, 1) for number in range(1, len(SCANS) + 1)]
    files = []
    for number, (code, options) in enumerate(zip(codes, SCANS, strict=True)):
        drawn = sheet(code, dpi=int(options["dpi"]), seed=number)
        files.append(
            jpeg(scanned(drawn, **{name: value for name, value in options.items() if name != "dpi"}, seed=number), quality=70)
        )
    found = read(files)
    assert [page.codes for page in found] == [(code.text,) for code in codes]
    assert [(page.turn, page.height > page.width) for page in found] == [(option["turn"], True) for option in SCANS]
    assert [page.angle for page in found] == pytest.approx([option["angle"] for option in SCANS], abs=0.6)
    again = read([page.jpeg for page in found])
    assert [page.codes for page in again] == [()] * len(SCANS), "markers must not see the code"


def test_blank_pages_have_no_ink_and_copies_are_alike() -> None:
    code = PageCode(token_random(), 1, 1)
    blank = jpeg(scanned(sheet(code, lines=0, dpi=150), noise=12, shadow=0.3, angle=4))
    first, second, other = (sheet(code, seed=seed, dpi=150) for seed in (1, 1, 2))
    pages = read([blank, jpeg(scanned(first, angle=3)), jpeg(scanned(second, angle=-4, noise=15, shadow=0.2)), jpeg(other)])
    assert pages[0].ink < 0.0004 < 0.002 < pages[1].ink
    near, far = (correlation(pages[1].likeness, one.likeness) for one in pages[2:])
    assert near > 0.9
    assert far < 0.6


def test_lines_of_writing_straighten_a_page_without_a_code() -> None:
    (page,) = read([jpeg(scanned(sheet(None), angle=5, noise=8))])
    assert page.codes == ()
    assert page.angle == pytest.approx(5, abs=1)
