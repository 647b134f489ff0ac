"""How levels are spelled: "IMO-easy", "imo easy" and "IMO easy" are one level."""

import re

_LEVELS = {level.replace("-", " ").casefold(): level for level in ("pre-IMO", "IMO easy", "IMO medium", "IMO hard")}
_DASH = re.compile(r"[\s_\-\u2010-\u2014]+")


def level_spelled(text: str) -> str:
    """A level of the IMO-Bench in our spelling; any other as it was written, without white space around it."""
    return _LEVELS.get(_DASH.sub(" ", text).strip().casefold(), text.strip())
