"""The process that reads an upload: `pdf` or `image` and the most pages are its arguments, the bytes come on stdin.

Writes one line of JSON, `{"error": "", "pages": n, "fence": …}`, and n pages as length, width, height and JPEG. It limits
itself and gives up every right that it does not need before it looks at the first byte: with Landlock it opens libraries and
fonts and nothing else, and the system call filter leaves it no socket, no process and no signal. It imports nothing of ours but
the fence, whose modules its starter hands over, so that no secret is in its memory.
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
#: Imported before the rights go.
_PARTS = {"pdf": ("pypdfium2",), "image": ("pillow_heif", "PIL.ImageOps", "PIL.PngImagePlugin")}
#: What the readers open beside their own code: fonts for a PDF that brings none.
_FONTS = ("/usr/share/fonts", "/usr/local/share/fonts", "/etc/fonts")
_LIBRARIES = ("/usr/lib", "/usr/lib64", "/lib", "/lib64", "/etc/ld.so.cache", "/dev/urandom")


class Refused(Exception):
    """The message goes to the person."""


def main() -> None:
    """Read, draw anew, write."""
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
            picture.save(jpeg, "JPEG", quality=QUALITY, optimize=True)
            out.write(struct.pack(">IHH", jpeg.tell(), *picture.size) + jpeg.getvalue())
            pages += 1
        said: dict[str, Any] = {"error": "", "pages": pages, "fence": fence}
    except Refused as refused:
        said = {"error": str(refused), "fence": fence}
    except ImportError:
        said = {"fence": fence, "error": "Scans and photos cannot be read here: Pillow, pillow-heif or pypdfium2 is missing."}
    except MemoryError:
        said = {"error": "The file needs more memory than is allowed.", "fence": fence}
    sys.stdout.buffer.write(json.dumps(said).encode() + b"\n" + out.getvalue())
    sys.stdout.flush()


def fenced() -> str:
    """Give up all rights that the kernel lets a process give up; which were given up, in words."""
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
    """Where Python's own modules and the installed packages lie; never a folder that a package was only linked from."""
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
        yield _fresh(picture)
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
        raise Refused("This photo is damaged.") from error
    yield _fresh(turned)


def _fresh(picture: Any) -> Any:
    """The same picture on a new sheet, small enough and without anything that its file said."""
    from PIL import Image

    picture = _in_levels(picture)
    picture.thumbnail((LONG_SIDE, LONG_SIDE))
    sheet = Image.new("RGB", picture.size, "white")
    if picture.mode == "RGBA":
        sheet.paste(picture, mask=picture.getchannel("A"))
    else:
        sheet.paste(picture.convert("RGB"))
    return sheet


def _in_levels(picture: Any) -> Any:
    """A picture that keeps thin strokes when it is shrunk, with 8 bits a colour.

    Pillow cuts 16 bits off at 255 instead of scaling them, and shrinks black and white or a palette by leaving pixels out.
    """
    if picture.mode.startswith("I"):
        return picture.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    if picture.mode in ("P", "LA", "PA", "La", "RGBa") or "transparency" in picture.info:
        return picture.convert("RGBA")
    return picture.convert("L") if picture.mode == "1" else picture


if __name__ == "__main__":
    main()
