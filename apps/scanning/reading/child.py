"""Child process that reads scanned pages. It gets the modules of `apps.submissions.intake.child` too, whose fence it uses.

Descriptor 3 has one line of JSON with the modules and one with the work: `[{"kind", "at", "size", "first", "last"}, …]`, the
files that follow each other in the standard input, and the pages to read of each, counted from 0. For each page it writes a
line of JSON and the JPEG: `{"file", "page", "pages", "bytes", "width", "height", "codes", "turn", "angle", "ink", "likeness"}`,
or `{"file", "page", "error"}`. A damaged page or file does not stop the others.

A page is turned and straightened by its code, else straightened by its lines. Shadows are removed. The strip with the code is
painted white, because organisers see the code next to a name.
"""

import contextlib
import importlib
import io
import json
import resource
import sys
from collections.abc import Iterator
from typing import Any

PIXELS_AT_MOST = 120_000_000
CPU_S = 120
MEMORY = 2 * 1024**3
PDF_PAGES_AT_MOST = 2_000


def _part(name: str) -> Any:
    """Another module that the parent sent."""
    return sys.modules[name]


def main() -> None:
    """Read the work and write the pages."""
    for what, most in ((resource.RLIMIT_CPU, CPU_S), (resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(what, (most, most))
    for name in ("cv2", "zxingcpp", "pypdfium2", "pillow_heif", "PIL.ImageOps", "PIL.PngImagePlugin", "PIL.TiffImagePlugin"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    work = json.loads(_part("boot_lines").lines[1])
    import cv2

    cv2.setNumThreads(1)
    _part("intake_child").fenced()
    for number, one in enumerate(work):
        _file_read(number, one)


def _file_read(number: int, one: dict[str, Any]) -> None:
    refused = _part("intake_child").Refused
    try:
        for page, pages, picture in _pictures(one):
            try:
                found, jpeg = _part("scan_cleaning").page_read(picture)
                _write({"file": number, "page": page, "pages": pages, "bytes": len(jpeg), **found}, jpeg)
            except Exception as error:  # Whatever breaks on one page must not stop the others.
                words = str(error) if isinstance(error, refused) else "This page is damaged. Scan it again."
                _write({"file": number, "page": page, "pages": pages, "error": words})
    except refused as error:
        _write({"file": number, "page": -1, "error": str(error)})
    except MemoryError:
        _write(
            {
                "file": number,
                "page": -1,
                "error": "The file needs more memory than is allowed. Scan it with fewer dots per inch.",
            }
        )


def _write(head: dict[str, Any], body: bytes = b"") -> None:
    sys.stdout.buffer.write(json.dumps(head).encode() + b"\n" + body)
    sys.stdout.buffer.flush()


def _pictures(one: dict[str, Any]) -> Iterator[tuple[int, int, Any]]:
    """The pages of a file as (number, number of pages, picture); a page that cannot be drawn comes as the error."""
    if one["kind"] == "pdf":
        yield from _of_pdf(one)
        return
    stream = sys.stdin.buffer
    stream.seek(one["at"])
    yield from _of_image(stream.read(one["size"]), one["first"], one["last"])


def _of_pdf(one: dict[str, Any]) -> Iterator[tuple[int, int, Any]]:
    import pypdfium2  # type: ignore[import-untyped]

    refused = _part("intake_child").Refused
    try:
        document = pypdfium2.PdfDocument(sys.stdin.buffer)  # A PDF is the only file of its work.
        count = len(document)
    except pypdfium2.PdfiumError as error:
        if "assword" in str(error):
            raise refused("This PDF needs a password. Save it without one and add it again.") from error
        raise refused("This PDF is damaged. Save or scan it again.") from error
    if not 0 < count <= PDF_PAGES_AT_MOST:
        raise refused(f"The PDF has {count} pages. Split it into files of at most {PDF_PAGES_AT_MOST} pages.")
    for number in range(one["first"], min(one["last"], count)):
        yield number, count, lambda number=number: _pdf_page(document, number)


def _pdf_page(document: Any, number: int) -> Any:
    page = document[number]
    try:
        width, height = page.get_size()
        if not (0 < width < 1e6 and 0 < height < 1e6):
            raise ValueError("no size")
        return page.render(scale=_part("scan_cleaning").READ_SIDE * 0.75 / max(width, height), may_draw_forms=False).to_pil()
    finally:
        page.close()


def _of_image(data: bytes, first: int, last: int) -> Iterator[tuple[int, int, Any]]:
    import pillow_heif
    from PIL import Image, UnidentifiedImageError

    refused = _part("intake_child").Refused
    Image.MAX_IMAGE_PIXELS = PIXELS_AT_MOST
    pillow_heif.register_heif_opener()
    try:
        picture = Image.open(io.BytesIO(data), formats=["JPEG", "PNG", "HEIF", "TIFF"])
        pages = getattr(picture, "n_frames", 1)
    except (Image.DecompressionBombError, UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise refused("This picture is damaged or too large. Scan it again, or save it as JPEG.") from error
    for number in range(first, min(last, pages)):
        yield number, pages, lambda number=number: _frame(picture, number)


def _frame(picture: Any, number: int) -> Any:
    from PIL import Image, ImageOps

    refused = _part("intake_child").Refused
    try:
        if getattr(picture, "n_frames", 1) > 1:
            picture.seek(number)
        if picture.width * picture.height > PIXELS_AT_MOST:
            raise refused(f"The picture has more than {PIXELS_AT_MOST // 1_000_000} million pixels.")
        side = _part("scan_cleaning").LONG_SIDE
        picture.draft("RGB" if picture.mode != "L" else "L", (side, side))
        picture.load()
        return ImageOps.exif_transpose(picture)
    except Image.DecompressionBombError as error:
        raise refused(f"The picture has more than {PIXELS_AT_MOST // 1_000_000} million pixels.") from error


if __name__ == "__main__":
    main()
