"""The process that reads an upload: `python -I child.py pdf|image PAGES` with the bytes on stdin.

Writes one line of JSON, `{"error": "", "pages": n}`, and n pages as length, width, height and JPEG. It limits itself before it
looks at the first byte. It imports nothing of ours, so that no secret is in its memory.
"""

import io
import json
import resource
import struct
import sys
from collections.abc import Iterator
from typing import Any

PIXELS_AT_MOST = 80_000_000
LONG_SIDE = 2_000
QUALITY = 80
CPU_S = 20
MEMORY = 1024**3
OUT_BYTES = 96 * 1024**2


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
    out = io.BytesIO()
    pages = 0
    try:
        data = sys.stdin.buffer.read()
        for picture in _pdf(data, most_pages) if kind == "pdf" else _photo(data):
            jpeg = io.BytesIO()
            picture.save(jpeg, "JPEG", quality=QUALITY, optimize=True)
            out.write(struct.pack(">IHH", jpeg.tell(), *picture.size) + jpeg.getvalue())
            pages += 1
        said: dict[str, Any] = {"error": "", "pages": pages}
    except Refused as refused:
        said = {"error": str(refused)}
    except ImportError:
        said = {"error": "Scans and photos cannot be read here: Pillow, pillow-heif or pypdfium2 is missing."}
    except MemoryError:
        said = {"error": "The file needs more memory than is allowed."}
    sys.stdout.buffer.write(json.dumps(said).encode() + b"\n" + out.getvalue())
    sys.stdout.flush()


def _pdf(data: bytes, most_pages: int) -> Iterator[Any]:
    import pypdfium2  # type: ignore[import-untyped]

    try:
        document = pypdfium2.PdfDocument(data)
        count = len(document)
    except pypdfium2.PdfiumError as error:
        raise Refused("This PDF is damaged or needs a password.") from error
    if not 0 < count <= most_pages:
        raise Refused(f"The PDF has {count} pages; at most {most_pages} can be handed in to a problem.")
    for page in document:
        width, height = page.get_size()
        if not (0 < width < 1e6 and 0 < height < 1e6):
            raise Refused("A page of this PDF has no size.")
        picture = page.render(scale=LONG_SIDE / max(width, height), may_draw_forms=False).to_pil()
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

    picture.thumbnail((LONG_SIDE, LONG_SIDE))
    sheet = Image.new("RGB", picture.size, "white")
    if picture.mode in ("RGBA", "LA", "P"):
        picture = picture.convert("RGBA")
        sheet.paste(picture, mask=picture.getchannel("A"))
    else:
        sheet.paste(picture.convert("RGB"))
    return sheet


if __name__ == "__main__":
    main()
