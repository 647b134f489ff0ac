"""Convert uploaded scans and photos to clean JPEG pages.

The first bytes determine the file type, never the name. A child process with limits (`child`) renders new images, without
metadata, scripts or text layers. Before it reads any input, it enters the fence of the Python sandbox as far as the kernel
supports it. The sources of the fence are sent to the child, because this app is below the workers and the child must not import
our packages.
"""

import json
import logging
import struct
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from threading import BoundedSemaphore

log = logging.getLogger(__name__)

UPLOAD_BYTES = 32 * 1024 * 1024
PAGES_AT_MOST = 50
WALL_S = 40.0
#: The smallest part of a page's width and height that a cut may keep.
SIDE_AT_LEAST = 0.05
#: Concurrent reads per web process, and the time in seconds that a further one waits.
AT_ONCE, WAIT_S = 2, 10.0
PLACES = BoundedSemaphore(AT_ONCE)
FENCED = "landlock and filter"
_CHILD = Path(__file__).with_name("child.py")
_SANDBOX = Path(__file__).resolve().parents[3] / "workers" / "sandbox"
_FENCE = ("syscalls", "seccomp", "landlock")
#: Reads one line of `[[name, source], …]`, creates the modules and runs `main` of the last one.
_BOOT = (
    "import sys,json\n"
    "for n,s in json.loads(sys.stdin.buffer.readline()):\n"
    " m=sys.modules[n]=type(sys)(n);exec(compile(s,n,'exec'),m.__dict__)\n"
    " for p in [n.rpartition('.')]:\n"
    "  if p[0]:sys.modules.setdefault(p[0],type(sys)(p[0]));setattr(sys.modules[p[0]],p[2],m)\n"
    "m.main()"
)
_LENGTH = struct.Struct(">IHH")


Module = tuple[str, str]


class UploadWrong(Exception):
    """The file is unusable; the message gives the reason and the next step."""


@dataclass(frozen=True)
class PageImage:
    """A page as JPEG."""

    jpeg: bytes
    width: int
    height: int


@dataclass(frozen=True)
class Cut:
    """A clockwise turn in degrees, then the part to keep, in fractions of the turned page. Raises `UploadWrong` when made."""

    turn: int = 0
    left: float = 0.0
    top: float = 0.0
    right: float = 1.0
    bottom: float = 1.0

    def __post_init__(self) -> None:
        is_inside = all(0 <= value <= 1 for value in (self.left, self.top, self.right, self.bottom))
        is_large = self.right - self.left >= SIDE_AT_LEAST and self.bottom - self.top >= SIDE_AT_LEAST
        if self.turn not in (0, 90, 180, 270) or not is_inside or not is_large:
            raise UploadWrong("The page was not changed: keep at least a twentieth of its width and height.")

    @property
    def is_whole(self) -> bool:
        """Whether nothing changes."""
        return self == Cut()


def pages_read(data: bytes, *, wall_s: float = WALL_S, cut: Cut | None = None) -> list[PageImage]:
    """Return the pages of a PDF or the single page of a photo (JPEG, PNG, HEIC), of a photo the part `cut`.

    Raises `UploadWrong`.
    """
    if len(data) > UPLOAD_BYTES:
        raise UploadWrong(f"The file is larger than {UPLOAD_BYTES // 1024**2} MB. Upload a smaller one.")
    kind = kind_of(data)
    if not kind:
        raise UploadWrong("This is neither a PDF nor a photo in JPEG, PNG or HEIC format.")
    if not PLACES.acquire(timeout=min(WAIT_S, wall_s)):
        raise UploadWrong("The server is busy with other uploads. Try again in a minute.")
    try:
        found = child_run(modules(), kind, data, wall_s=wall_s, cut=cut)
    finally:
        PLACES.release()
    return _unpacked(found)


def modules() -> list[Module]:
    """Names and sources of the child's modules: the fence, if its files exist, and the reader."""
    fence = [(f"workers.sandbox.{name}", _SANDBOX / f"{name}.py") for name in _FENCE]
    chosen = fence if all(path.is_file() for _, path in fence) else []
    return [(name, path.read_text(encoding="utf-8")) for name, path in (*chosen, ("intake_child", _CHILD))]


def child_run(sources: Sequence[Module], kind: str, data: bytes, *, wall_s: float = WALL_S, cut: Cut | None = None) -> bytes:
    """Run the child on `data` with `main` of the last module; return its output. Raises `UploadWrong` on failure or timeout."""
    cuts = [",".join(str(value) for value in astuple(cut))] if cut else []
    with tempfile.TemporaryFile() as out:
        try:
            done = subprocess.run(  # noqa: S603
                [sys.executable, "-I", "-B", "-c", _BOOT, kind, str(PAGES_AT_MOST), *cuts],
                input=json.dumps(sources).encode() + b"\n" + data,
                stdout=out,
                stderr=subprocess.DEVNULL,
                timeout=wall_s,
                check=False,
                env={},
                cwd="/",
            )
        except subprocess.TimeoutExpired as error:
            raise UploadWrong("Reading the file took too long. Upload a smaller file or fewer pages.") from error
        out.seek(0)
        found = out.read()
    if done.returncode != 0:
        raise UploadWrong("Reading the file took more time or memory than is allowed. Upload a smaller file or fewer pages.")
    return found


def kind_of(data: bytes) -> str:
    """The file type by its first bytes: `pdf`, `image` or empty."""
    if data[:1024].lstrip()[:5] == b"%PDF-":
        return "pdf"
    if data[:3] == b"\xff\xd8\xff" or data[:8] == b"\x89PNG\r\n\x1a\n":
        return "image"
    is_heic = data[4:8] == b"ftyp" and data[8:12] in (b"heic", b"heix", b"mif1", b"msf1", b"hevc", b"heim", b"heis")
    return "image" if is_heic else ""


def _unpacked(found: bytes) -> list[PageImage]:
    head, _, rest = found.partition(b"\n")
    try:
        result = json.loads(head)
    except ValueError as error:
        raise UploadWrong("Could not read the file. Save it again as PDF or JPEG and retry.") from error
    if result["fence"] != FENCED:
        log.warning("An upload was read without the sandbox's fence (%s); see docs/contests.md.", result["fence"])
    if result["error"]:
        raise UploadWrong(result["error"])
    pages: list[PageImage] = []
    place = 0
    for _ in range(result["pages"]):
        size, width, height = _LENGTH.unpack_from(rest, place)
        place += _LENGTH.size
        pages.append(PageImage(rest[place : place + size], width, height))
        place += size
    return pages
