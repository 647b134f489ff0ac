"""Child process that reads an upload. Arguments: `pdf` or `image`, the maximum number of pages, and for an image an optional
cut, `turn,left,top,right,bottom`: clockwise degrees, then the kept part in fractions of the turned image; stdin: the file.

Writes one line of JSON, `{"error": "", "pages": n, "fence": …}`, and n pages as length, width, height and JPEG. Before it reads
any input, it sets resource limits and drops all unneeded rights. Landlock lets it open only libraries and fonts. The filter of
system calls blocks sockets, processes and signals. It imports none of our packages but the fence modules from its parent, so
that no secret is in its memory.
"""

import contextlib
import importlib
import io
import json
import os
import resource
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PIXELS_AT_MOST = 80_000_000
LONG_SIDE = 2_000
QUALITY = 80
CPU_S = 20
MEMORY = 1024**3
OUT_BYTES = 96 * 1024**2
UNFENCED = "limits only"
#: Imported before rights are dropped.
_PARTS = {"pdf": ("pypdfium2",), "image": ("pillow_heif", "PIL.ImageOps", "PIL.PngImagePlugin")}
#: Fonts for PDFs without embedded ones.
_FONTS = ("/usr/share/fonts", "/usr/local/share/fonts", "/etc/fonts")
_LIBRARIES = ("/usr/lib", "/usr/lib64", "/lib", "/lib64", "/etc/ld.so.cache", "/dev/urandom")


class Refused(Exception):
    """The file is rejected; the user sees the message."""


def main() -> None:
    """Read the upload, render its pages and write them."""
    for what, most in (
        (resource.RLIMIT_CPU, CPU_S),
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_FSIZE, OUT_BYTES),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 64),
    ):
        resource.setrlimit(what, (most, most))
    kind, most_pages = sys.argv[1], int(sys.argv[2])
    for name in (*_PARTS[kind], "PIL.Image", "PIL.JpegImagePlugin"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    fence = fenced()
    out = io.BytesIO()
    pages = 0
    try:
        data = sys.stdin.buffer.read()
        for picture in _pdf(data, most_pages) if kind == "pdf" else _photo(data):
            jpeg = io.BytesIO()
            kept = _cut(picture, sys.argv[3]) if len(sys.argv) > 3 else picture
            kept.save(jpeg, "JPEG", quality=QUALITY, optimize=True)
            out.write(struct.pack(">IHH", jpeg.tell(), *kept.size) + jpeg.getvalue())
            pages += 1
        result: dict[str, Any] = {"error": "", "pages": pages, "fence": fence}
    except Refused as refused:
        result = {"error": str(refused), "fence": fence}
    except ImportError:
        result = {"fence": fence, "error": "This server cannot read scans: Pillow, pillow-heif or pypdfium2 is missing."}
    except MemoryError:
        result = {"error": "The file needs more memory than is allowed. Upload a smaller file or fewer pages.", "fence": fence}
    sys.stdout.buffer.write(json.dumps(result).encode() + b"\n" + out.getvalue())
    sys.stdout.flush()


def fenced() -> str:
    """Drop all rights that the kernel lets a process drop. Returns a description of the fence."""
    held = []
    landlock, seccomp = (sys.modules.get(f"workers.sandbox.{name}") for name in ("landlock", "seccomp"))
    if landlock is None or seccomp is None:
        return UNFENCED
    with contextlib.suppress(OSError, AttributeError):
        landlock.restrict([*_library_folders(), *_LIBRARIES, *_FONTS], ["/dev/null"])
        held.append("landlock")
    with contextlib.suppress(OSError, AttributeError, seccomp.UnknownProcessor):
        seccomp.lock(seccomp.locked_filter(os.getpid(), files_may_change=False))
        held.append("filter")
    return " and ".join(held) or UNFENCED


def _library_folders() -> list[str]:
    """Folders of Python's modules and installed packages, without folders of linked packages."""
    inside = [entry for entry in sys.path if entry.endswith(("site-packages", "dist-packages", "lib-dynload"))]
    return [*inside, str(Path(os.__file__).parent), str(Path(sys.base_prefix) / "lib")]


def _pdf(data: bytes, most_pages: int) -> Iterator[Any]:
    import pypdfium2  # type: ignore[import-untyped]

    try:
        document = pypdfium2.PdfDocument(data)
        count = len(document)
    except pypdfium2.PdfiumError as error:
        raise Refused("This PDF is damaged or needs a password.") from error
    if not 0 < count <= most_pages:
        raise Refused(f"The PDF has {count} pages; at most {most_pages} can be handed in to a problem.")
    for number in range(count):
        try:
            page = document[number]
            width, height = page.get_size()
            if not (0 < width < 1e6 and 0 < height < 1e6):
                raise Refused(f"Page {number + 1} of this PDF has no size.")
            picture = page.render(scale=LONG_SIDE / max(width, height), may_draw_forms=False).to_pil()
        except pypdfium2.PdfiumError as error:
            raise Refused(f"Page {number + 1} of this PDF is damaged.") from error
        yield _clean_copy(picture)
        page.close()


def _photo(data: bytes) -> Iterator[Any]:
    import pillow_heif
    from PIL import Image, ImageOps, UnidentifiedImageError

    Image.MAX_IMAGE_PIXELS = PIXELS_AT_MOST
    pillow_heif.register_heif_opener()
    try:
        picture = Image.open(io.BytesIO(data), formats=["JPEG", "PNG", "HEIF"])
        if picture.width * picture.height > PIXELS_AT_MOST:
            raise Refused(f"The photo has more than {PIXELS_AT_MOST // 1_000_000} million pixels.")
        picture.draft("RGB", (LONG_SIDE, LONG_SIDE))
        picture.load()
        turned = ImageOps.exif_transpose(picture)
    except Image.DecompressionBombError as error:
        raise Refused(f"The photo has more than {PIXELS_AT_MOST // 1_000_000} million pixels.") from error
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise Refused("This photo is damaged. Take or export it again.") from error
    yield _clean_copy(turned)


def _cut(picture: Any, cut: str) -> Any:
    """Turn an image clockwise by a multiple of 90 degrees, then keep a part of it of at least one pixel."""
    turn, left, top, right, bottom = (float(value) for value in cut.split(","))
    picture = picture.rotate(-turn, expand=True)
    width, height = picture.size
    x, y = min(int(left * width), width - 1), min(int(top * height), height - 1)
    return picture.crop((x, y, max(x + 1, round(right * width)), max(y + 1, round(bottom * height))))


def _clean_copy(picture: Any) -> Any:
    """Copy an image to a new one within the size limit and without metadata."""
    from PIL import Image

    picture = _in_8_bits(picture)
    picture.thumbnail((LONG_SIDE, LONG_SIDE))
    sheet = Image.new("RGB", picture.size, "white")
    if picture.mode == "RGBA":
        sheet.paste(picture, mask=picture.getchannel("A"))
    else:
        sheet.paste(picture.convert("RGB"))
    return sheet


def _in_8_bits(picture: Any) -> Any:
    """Convert an image to 8 bits per channel so that thin strokes survive scaling.

    Pillow clips 16-bit values at 255 instead of scaling them. It scales bilevel and palette images by dropping pixels.
    """
    if picture.mode.startswith("I"):
        return picture.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    if picture.mode in ("P", "LA", "PA", "La", "RGBa") or "transparency" in picture.info:
        return picture.convert("RGBA")
    return picture.convert("L") if picture.mode == "1" else picture


if __name__ == "__main__":
    main()
