"""Normalise the spelling of levels: "IMO-easy" and "imo easy" become "IMO easy"."""

import re

_LEVELS = {level.replace("-", " ").casefold(): level for level in ("pre-IMO", "IMO easy", "IMO medium", "IMO hard")}
_DASH = re.compile(r"[\s_\-\u2010-\u2014]+")


def level_spelled(text: str) -> str:
    """Normalise a level of IMO-Bench; strip white space from any other."""
    return _LEVELS.get(_DASH.sub(" ", text).strip().casefold(), text.strip())
