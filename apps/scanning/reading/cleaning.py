"""Part of the child process: straighten and clean the picture of a page, read its codes, measure its ink.

A page is turned and straightened by its code, else straightened by its lines of writing.
"""

import sys
from typing import Any

LONG_SIDE = 2_000
#: Codes are looked for in a larger picture: at 150 dpi a module of the code has some four pixels.
READ_SIDE = 3_600
QUALITY = 78
#: Straightening: half the range and the step in degrees, and the side of the picture on which it is measured.
ANGLE_MOST, ANGLE_STEP, ANGLE_SIDE = 10.0, 0.5, 500
#: Ink is darker than its paper by this part of white, or by this many times the noise. Its strokes have at least this many
#: pixels: dust is smaller, and a single digit is larger.
INK_DARKER, NOISES, STROKE = 0.07, 6, 12
#: Height of the strip with the code in parts of the side of the code, measured from its top.
STRIP = 1.1
GRID = (48, 64)


def page_read(draw: Any) -> tuple[dict[str, Any], bytes]:
    """Facts about a page, and its clean JPEG."""
    import cv2
    import numpy as np

    picture = _plain(draw())
    image = np.array(picture)
    gray = image if image.ndim == 2 else cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    codes = _codes(gray)
    turn, angle = _turn_and_angle(codes, gray)
    size = max(image.shape[:2])
    if size > LONG_SIDE:
        scale = LONG_SIDE / size
        image = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    image, flat = (_turned(one, turn, angle) for one in _without_shadow(image))
    top = _strip_painted(image, flat) if codes else 0
    height, width = flat.shape
    # Without the line below the code, and without edges of paper.
    ink = _strokes(flat[top + height // 30 : -height // 20, width // 16 : -width // 16])
    found = {
        "width": image.shape[1],
        "height": image.shape[0],
        "codes": sorted({code.text for code in codes}),
        "turn": turn,
        "angle": round(angle, 2),
        "ink": float(ink.mean()),
        "likeness": _likeness(ink),
    }
    return found, _jpeg(image)


def _plain(picture: Any) -> Any:
    """The picture in 8 bits, gray or RGB, on white."""
    from PIL import Image

    picture = sys.modules["intake_child"]._in_8_bits(picture)
    if picture.mode == "RGBA":
        sheet = Image.new("RGB", picture.size, "white")
        sheet.paste(picture, mask=picture.getchannel("A"))
        picture = sheet
    picture = picture if picture.mode in ("L", "RGB") else picture.convert("RGB")
    if max(picture.size) > READ_SIDE:
        picture.thumbnail((READ_SIDE, READ_SIDE))
    if min(picture.size) < 8:
        raise ValueError("too small")
    return picture


def _codes(gray: Any) -> list[Any]:
    """The QR codes of a page. Each further attempt costs time and finds what shadow, blur or few pixels have hidden."""
    import cv2
    import zxingcpp

    def read(image: Any) -> list[Any]:
        return [
            one
            for one in zxingcpp.read_barcodes(image, formats=zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.QRCode))
            if one.valid
        ]

    if max(gray.shape) > LONG_SIDE:
        scale = LONG_SIDE / max(gray.shape)
        small = cv2.resize(gray, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        if found := read(small):
            return [_Scaled(one, scale) for one in found]
    if found := read(gray):
        return found
    clear = cv2.createCLAHE(clipLimit=3.0, tileGridSize=(16, 16)).apply(cv2.GaussianBlur(gray, (3, 3), 0))
    if found := read(clear):
        return found
    large = cv2.resize(cv2.medianBlur(gray, 3), None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC)
    return [_Scaled(one, 2) for one in read(large)]


class _Point:
    def __init__(self, x: float, y: float) -> None:
        self.x, self.y = x, y


class _Scaled:
    """A code that was read in a picture scaled by `scale`, with its place in the original."""

    def __init__(self, code: Any, scale: float) -> None:
        self.text = code.text
        place = code.position
        for name in ("top_left", "top_right", "bottom_left", "bottom_right"):
            point = getattr(place, name)
            setattr(self, name, _Point(point.x / scale, point.y / scale))

    @property
    def position(self) -> "_Scaled":
        return self


def _turn_and_angle(codes: list[Any], gray: Any) -> tuple[int, float]:
    """The clockwise quarter turns in degrees that put the page upright, and the rest in degrees, clockwise."""
    import math

    if not codes:
        return 0, _angle_of_lines(gray)
    place = codes[0].position
    lean = math.degrees(math.atan2(place.top_right.y - place.top_left.y, place.top_right.x - place.top_left.x))
    quarter = round(lean / 90) * 90
    return -quarter % 360, quarter - lean


def _angle_of_lines(gray: Any) -> float:
    """The small clockwise angle that makes the lines of writing horizontal: then the sums of the rows differ most."""
    import cv2
    import numpy as np

    scale = ANGLE_SIDE / max(gray.shape)
    small = cv2.resize(gray, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    ink = cv2.adaptiveThreshold(small, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, 25, 12)
    height, width = ink.shape
    ink[: height // 20], ink[-height // 20 :], ink[:, : width // 20], ink[:, -width // 20 :] = 0, 0, 0, 0
    if ink.mean() < 0.2:
        return 0.0

    def sharpness(angle: float) -> float:
        matrix = cv2.getRotationMatrix2D((width / 2, height / 2), -angle, 1)
        rows = cv2.warpAffine(ink, matrix, (width, height)).sum(axis=1, dtype=np.float64)
        return float(np.square(np.diff(rows)).sum())

    steps = [step * ANGLE_STEP for step in range(-int(ANGLE_MOST / ANGLE_STEP), int(ANGLE_MOST / ANGLE_STEP) + 1)]
    best = max(steps, key=sharpness)
    return best if best and sharpness(best) > 1.25 * sharpness(0) else 0.0


def _turned(image: Any, turn: int, angle: float) -> Any:
    import cv2

    quarters = {90: cv2.ROTATE_90_CLOCKWISE, 180: cv2.ROTATE_180, 270: cv2.ROTATE_90_COUNTERCLOCKWISE}
    if turn in quarters:
        image = cv2.rotate(image, quarters[turn])
    if abs(angle) < 0.3:
        return image
    height, width = image.shape[:2]
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), -angle, 1)
    return cv2.warpAffine(image, matrix, (width, height), flags=cv2.INTER_LINEAR, borderValue=(255, 255, 255))


def _without_shadow(image: Any) -> tuple[Any, Any]:
    """The picture with even, white paper, and its brightness."""
    import cv2
    import numpy as np

    gray = image if image.ndim == 2 else cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    small = cv2.resize(gray, None, fx=0.125, fy=0.125, interpolation=cv2.INTER_AREA)
    paper = cv2.GaussianBlur(cv2.medianBlur(cv2.dilate(small, np.ones((7, 7), np.uint8)), 15), (0, 0), 6)
    paper = np.maximum(cv2.resize(paper, (gray.shape[1], gray.shape[0]), interpolation=cv2.INTER_LINEAR), 60)
    flat = cv2.divide(gray, paper, scale=255)
    if float(np.percentile(paper, 2)) > 235:
        return image, flat
    if image.ndim == 2:
        return flat, flat
    return cv2.merge([cv2.divide(channel, paper, scale=255) for channel in cv2.split(image)]), flat


def _strip_painted(image: Any, flat: Any) -> int:
    """Paint the strip with the code white; returns the height of the strip. The page is upright, its code at the top."""
    found = _codes(flat[: flat.shape[0] // 3])
    if not found:
        return 0
    top = 0
    for one in found:
        place = one.position
        ys = [place.top_left.y, place.top_right.y, place.bottom_left.y, place.bottom_right.y]
        bottom = min(ys) + STRIP * (max(ys) - min(ys))
        if bottom < image.shape[0] / 3:
            top = max(top, int(bottom))
    image[:top] = 255
    flat[:top] = 255
    return top


def _strokes(body: Any) -> Any:
    """1 where there is ink, also faint pencil, in strokes of some length; else 0. A page without strokes is blank."""
    import cv2
    import numpy as np

    smooth = cv2.GaussianBlur(body, (0, 0), 1.2).astype(np.float32)
    darker = cv2.blur(smooth, (61, 61)) - smooth
    noise = 1.4826 * float(np.median(np.abs(darker)))
    ink = (darker > max(INK_DARKER * 255, NOISES * noise)).astype(np.uint8)
    _, labels, facts, _ = cv2.connectedComponentsWithStats(ink, connectivity=8)
    is_stroke = np.maximum(facts[:, cv2.CC_STAT_WIDTH], facts[:, cv2.CC_STAT_HEIGHT]) >= STROKE
    is_stroke[0] = False
    return is_stroke[labels].astype(np.float32)


def _likeness(ink: Any) -> str:
    """How much ink is in each cell of a grid, as rows of hex digits, to tell two scans of a page from two pages."""
    import cv2
    import numpy as np

    cells = cv2.resize(ink, GRID, interpolation=cv2.INTER_AREA)
    most = float(np.percentile(cells, 99.5)) or 1.0
    digits = np.clip(cells / most * 15, 0, 15).round().astype(np.uint8)
    return "".join("".join(f"{digit:x}" for digit in row) for row in digits.tolist())


def _jpeg(image: Any) -> bytes:
    import cv2
    import numpy as np

    if image.ndim == 3:
        small = image[::8, ::8].astype(np.int16)
        if float((small.max(axis=2) - small.min(axis=2)).mean()) < 5:
            image = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
        else:
            image = cv2.cvtColor(image, cv2.COLOR_RGB2BGR)
    is_done, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, QUALITY, cv2.IMWRITE_JPEG_OPTIMIZE, 1])
    if not is_done:
        raise ValueError("no JPEG")
    return bytes(data)
