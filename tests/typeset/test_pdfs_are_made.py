"""Documents become PDFs in a child process: all content stays text, and too large documents are rejected."""

import io
import re
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pypdfium2  # type: ignore[import-untyped]
import pytest
from PIL import Image

from apps.ui.typeset import document as written
from apps.ui.typeset import press
from apps.ui.typeset.document import Document, Pin
from apps.ui.typeset.press import PdfBusy, PdfFailed, pdf_made
from tests.answers import pdf_text

NASTY = '#read("/etc/passwd") #panic() \\ `code` @preview $x$ *not bold* = heading // comment "quote" #import "x.typ" <label> ~'


@pytest.fixture(autouse=True)
def _empty_cache() -> None:
    press.MADE.clear()


def document(text: str) -> Document:
    made = Document("Paper ABC", "A contest", note="A note.")
    part = made.part("Problem 1: 3 of 7", "A1 3 = 3")
    part.step(1, text)
    part.remark("A gap", "Why is $x>0$?")
    return made


def test_a_pdf_has_steps_remarks_and_facts() -> None:
    data = pdf_made(document("Let $p$ be a prime. Then\n\n$$\\sum_{i=1}^n i=\\frac{n(n+1)}2.$$\n\n1. one\n2. two"))
    assert data.startswith(b"%PDF")
    text = pdf_text(data)
    for words in ("Paper ABC", "A contest", "Problem 1: 3 of 7", "A1 3 = 3", "be a prime", "A gap", "A note.", "two"):
        assert words in text, words
    assert "could not be typeset" not in text


def test_displayed_formulas_work_inside_every_block(caplog: pytest.LogCaptureFixture) -> None:
    inside = (
        "Then \\[x=4711\\] so **bold \\[x=4712\\] on**.\n\n- one \\[x=4713\\] two\n\n1. a\n\n   b $$x=4714$$ c\n\n> $$x=4715$$"
    )
    text = pdf_text(pdf_made(document(inside)))
    for number in range(4711, 4716):
        assert str(number) in text
    assert caplog.text == "", "Typst warns about omitted content"


def test_user_text_is_never_executed() -> None:
    text = pdf_text(pdf_made(document(NASTY)))
    assert '#read("/etc/passwd") #panic()' in text.replace("“", '"').replace("”", '"')
    assert "root:" not in text


def test_a_formula_that_cannot_be_typeset_is_shown_as_source_and_marked() -> None:
    text = pdf_text(pdf_made(document("See $\\notacommand{x}$ here.")))
    assert "\\notacommand{x}" in text
    assert "could not be typeset" in text


def test_other_scripts_and_symbols_work() -> None:
    assert pdf_made(
        document("Пусть $x$ — число. Ω ∀ 数 😀 é\n\n| a | b |\n|---|---|\n| $1$ | 2 |\n\n> quoted\n\n```\ncode $x$\n```")
    )


def test_a_pdf_has_pictures() -> None:
    jpeg = io.BytesIO()
    Image.new("RGB", (200, 300), "white").save(jpeg, "JPEG")
    made = document("Seen on the page.")
    made.picture(made.parts[0], jpeg.getvalue())
    assert b"/Subtype /Image" in pdf_made(made).replace(b"/Subtype/Image", b"/Subtype /Image")


def test_a_too_large_document_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(press, "LETTERS_AT_MOST", 100)
    with pytest.raises(PdfFailed, match="too long for one PDF"):
        pdf_made(document("x"))


def test_a_too_large_document_is_rejected_before_parsing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(press, "LETTERS_AT_MOST", 10)
    monkeypatch.setattr(written, "prose_nodes", lambda text: pytest.fail(f"{text} was read"))
    with pytest.raises(PdfFailed, match="too long for one PDF"):
        pdf_made(document("elevenwords"))


def test_the_same_document_is_created_once(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = counted(monkeypatch)
    assert pdf_made(document("one")) == pdf_made(document("one"))
    assert len(runs) == 1
    pdf_made(document("another"))
    for picture in (b"1", b"2"):
        made = document("one")
        made.picture(made.parts[0], picture)
        pdf_made(made)
    assert len(runs) == 4, "a changed character or picture makes another document"


def test_a_failed_document_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as context:
        context.setattr(press, "WALL_S", 0.01)
        with pytest.raises(PdfFailed):
            pdf_made(document("x"))
    runs = counted(monkeypatch)
    for _ in range(press.AT_ONCE + 1):
        pdf_made(document("x"))
    assert len(runs) == 1, "the failed run released its place"


def test_the_number_of_concurrent_pdfs_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = counted(monkeypatch)
    monkeypatch.setattr(press, "WAIT_S", 0.01)
    with ExitStack() as places:
        for _ in range(press.AT_ONCE):
            places.enter_context(press.PLACES)
        with pytest.raises(PdfBusy):
            pdf_made(document("x"))
        assert not runs
    assert pdf_made(document("x"))


def counted(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Replace the child process by a stub; return the list of its folders."""
    runs: list[Path] = []

    def run(folder: Path) -> None:
        runs.append(folder)
        (folder / "out.pdf").write_bytes(b"made")

    monkeypatch.setattr(press, "_run", run)
    return runs


def test_a_slow_document_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(press, "WALL_S", 0.01)
    with pytest.raises(PdfFailed, match="too long"):
        pdf_made(document("x"))


def test_a_failure_is_reported_and_logged(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def failed(*_: Any, **__: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess([], 1, "", "typst broke")

    monkeypatch.setattr(subprocess, "run", failed)
    with pytest.raises(PdfFailed, match="could not be created"):
        pdf_made(document("x"))
    assert "typst broke" in caplog.text


def test_missing_libraries_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(press, "is_possible", lambda: False)
    with pytest.raises(PdfFailed, match="typst and latex2mathml"):
        pdf_made(document("x"))


def test_pins_have_the_colours_of_the_web() -> None:
    blank = io.BytesIO()
    Image.new("RGB", (400, 400), "white").save(blank, "JPEG")
    tokens = dict(re.findall(r"--pin-(error|comment): (#\w{6});", Path("static/css/tokens.css").read_text()))
    for is_error, name in ((True, "error"), (False, "comment")):
        made = Document("Paper ABC", "A contest")
        part = made.part("Problem 1")
        made.picture(part, blank.getvalue(), size=(400, 400), pins=[Pin(1, 50, 50, 200, 200, is_error)])
        (part.remark if is_error else part.comment)("Place 1", "Why?")
        colours = set(pypdfium2.PdfDocument(pdf_made(made))[0].render(scale=3).to_pil().getcolors(1 << 20))
        drawn = {f"#{red:02x}{green:02x}{blue:02x}" for count, (red, green, blue) in colours if count > 100}
        assert tokens[name] in drawn
        assert not (drawn & ({*tokens.values(), "#a3301f"} - {tokens[name]}))
