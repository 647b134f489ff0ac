"""The reader rejects PDFs with extreme compression and stays within its memory limit."""

import json
import subprocess
import sys
import time
import zlib

import pytest

from apps.submissions.intake import PageImage, UploadWrong, pages_read
from apps.submissions.intake.child import CPU_S, MEMORY

MEGABYTE = 1024**2
#: Unpacked size of a file of some kilobytes.
UNPACKED = 600 * MEGABYTE
#: Reads a PDF in a new process, because the kernel's peak memory covers all children of a process and its own size.
ALONE = """
import json, resource, sys
from apps.submissions.intake import UploadWrong, pages_read
try:
    found = [max(page.width, page.height) for page in pages_read(sys.stdin.buffer.read(), wall_s=40)]
except UploadWrong as refused:
    found = str(refused)
print(json.dumps([found, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024]))
"""


def pdf_of(*objects: bytes) -> bytes:
    """A PDF of the given objects; the first is its catalogue."""
    out, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + b"".join(b"%010d 00000 n \n" % at for at in places)
    return out + b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)


def stream(data: bytes, entries: bytes = b"") -> bytes:
    return b"<<%s/Length %d>>\nstream\n%s\nendstream" % (entries, len(data), data)


def deflated(size: int, piece: bytes = b"0 0 m 1 1 l S\n") -> bytes:
    """`size` bytes of repeated `piece`, deflated twice to about a millionth."""
    packer, block = zlib.compressobj(6), piece * (MEGABYTE // len(piece))
    inner = b"".join(packer.compress(block) for _ in range(size // len(block))) + packer.flush()
    return zlib.compress(inner, 9)


def page_with(resources: bytes, contents: bytes, *more: bytes) -> bytes:
    head = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<<%s>>>>" % resources,
    )
    return pdf_of(*head, contents, *more)


def content_bomb() -> bytes:
    """A page with drawing instructions of hundreds of megabytes."""
    return page_with(b"", stream(deflated(UNPACKED), b"/Filter[/FlateDecode/FlateDecode]"))


def picture_bomb() -> bytes:
    """An image that declares 60,000 × 60,000 pixels."""
    entries = b"/Type/XObject/Subtype/Image/Width 60000/Height 60000/ColorSpace/DeviceRGB/BitsPerComponent 8"
    packed = stream(deflated(UNPACKED, b"\0"), entries + b"/Filter[/FlateDecode/FlateDecode]")
    return page_with(b"/XObject<</I 5 0 R>>", stream(b"595 0 0 842 0 0 cm /I Do"), packed)


def nested_forms() -> bytes:
    """Nested forms: ten levels, each drawing the next ten times."""
    levels = 10
    forms = []
    for level in range(levels):
        below = b"/Resources<</XObject<</F %d 0 R>>>>" % (6 + level) if level < levels - 1 else b""
        drawn = b"/F Do " * 10 if level < levels - 1 else b"0 0 m 500 500 l S "
        forms.append(stream(drawn, b"/Type/XObject/Subtype/Form/BBox[0 0 595 842]" + below))
    return page_with(b"/XObject<</F 5 0 R>>", stream(b"/F Do"), *forms)


def read(data: bytes, wall_s: float = 40.0) -> list[PageImage] | str:
    """The pages, or the reason of the refusal."""
    try:
        return pages_read(data, wall_s=wall_s)
    except UploadWrong as refused:
        return str(refused)


@pytest.mark.parametrize("bomb", [content_bomb, picture_bomb])
def test_a_file_of_hundreds_of_megabytes_is_refused_or_rendered_within_the_limits(bomb: object) -> None:
    data = bomb()  # type: ignore[operator]
    assert len(data) < MEGABYTE, "the file is small"
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", ALONE], input=data, capture_output=True, check=True)
    found, peak = json.loads(done.stdout)
    assert time.monotonic() - began < 2 * CPU_S + 5
    if isinstance(found, str):
        assert "more time or memory" in found or "took too long" in found or "damaged" in found
    else:
        assert found == [2_000]
    assert 0 < peak <= MEMORY


def test_deeply_nested_forms_are_refused() -> None:
    """The speed of the machine determines which limit applies: time, processor or memory."""
    began = time.monotonic()
    found = read(nested_forms(), wall_s=4)
    assert isinstance(found, str)
    assert "took too long" in found or "more time or memory" in found
    assert time.monotonic() - began < 20


def test_a_page_tree_with_a_false_length_or_a_cycle_gives_at_most_one_page() -> None:
    long = page_with(b"", stream(b"")).replace(b"/Count 1", b"/Count 2147483647")
    circle = pdf_of(b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2>>")
    for data in (long, circle):
        found = read(data, wall_s=15)
        assert isinstance(found, str) or len(found) <= 1


def test_a_harmless_page_of_the_same_structure_is_read() -> None:
    found = read(page_with(b"", stream(zlib.compress(b"0 0 m 500 500 l S\n" * 100), b"/Filter/FlateDecode")))
    assert [max(page.width, page.height) for page in found if isinstance(page, PageImage)] == [2_000]
