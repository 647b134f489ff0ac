"""Time zones in which people read times: names to choose from, and the zone of a name."""

from datetime import datetime
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from django.conf import settings
from django.utils import timezone

#: Zones of other systems and old names; a choice of places has them too.
_LEFT_OUT = ("Etc/", "SystemV/", "posix/", "right/", "US/", "Canada/", "Mexico/", "Brazil/", "Chile/")


@lru_cache(maxsize=1)
def zone_names() -> tuple[str, ...]:
    """The names that people choose from: places, and UTC."""
    places = sorted(name for name in available_timezones() if "/" in name and not name.startswith(_LEFT_OUT))
    return ("UTC", *places)


def zone_of(name: str) -> ZoneInfo:
    """The zone of a name; the server's for an empty name and for one that this system does not know."""
    return ZoneInfo(name if name in available() else settings.TIME_ZONE)


@lru_cache(maxsize=1)
def available() -> frozenset[str]:
    """Every name that this system knows."""
    return frozenset(available_timezones())


def exact(moment: datetime, zone: ZoneInfo) -> str:
    """A time with its zone: "27 Nov 2026, 15:05 CET"."""
    local = timezone.localtime(moment, zone)
    return f"{local.day} {local:%b %Y, %H:%M %Z}"


def stamped(moment: datetime, zone: ZoneInfo) -> str:
    """The same for files and the record: "2026-11-27 15:05+01:00"."""
    return timezone.localtime(moment, zone).isoformat(" ", "minutes")
