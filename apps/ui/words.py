"""Uniform words for numbers, times and confidences."""

import math
from datetime import datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

from django.utils import timezone

NOT_VERIFIED = "not yet verified"
STATUS_WORDS = {"needs_fork": "needs a fork", "ok": "up"}


def thousands(number: float) -> str:
    """12400 → "12,400"."""
    return f"{number:,.0f}"


def compact(number: float) -> str:
    """12400 → "12.4k", 3000000 → "3M"; numbers below ten thousand are written out."""
    if abs(number) < 10_000:
        return thousands(number)
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= size:
            return f"{number / size:.1f}".removesuffix(".0") + unit
    return thousands(number)


def duration(seconds: float) -> str:
    """The two largest units: "0.4 s", "42 s", "3 min 20 s", "2 h 5 min", "4 d 1 h"."""
    if seconds < 1:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    units = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
    for (size, unit), (smaller, smaller_unit) in pairwise(units):
        if whole >= size:
            rest = whole % size // smaller
            return f"{whole // size} {unit} {rest} {smaller_unit}" if rest else f"{whole // size} {unit}"
    return f"{whole} s"


def ago(moment: datetime, now: datetime | None = None, *, zone: ZoneInfo | None = None) -> str:
    """Time since `moment` in one unit; after a week a date, in this zone or the server's."""
    seconds = ((now or timezone.now()) - moment).total_seconds()
    if seconds < 60:
        return "just now"
    if seconds < 3_600:
        return f"{int(seconds // 60)} min ago"
    if seconds < 86_400:
        return f"{int(seconds // 3_600)} h ago"
    if seconds < 7 * 86_400:
        return f"{int(seconds // 86_400)} d ago"
    local = timezone.localtime(moment, zone)
    return f"{local.day} {local:%b %Y}"


def ramp_step(confidence: float | None) -> str:
    """The swatch of a confidence from 0 to 1: "0" to "4", or "none" if not verified."""
    if confidence is None or math.isnan(confidence):
        return "none"
    return str(min(4, max(0, int(confidence * 5))))
