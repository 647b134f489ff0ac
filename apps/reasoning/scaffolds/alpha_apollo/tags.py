"""What a helper role wrote between its tags."""

import re

from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.answers import whole_answer
from apps.reasoning.scaffolds.candidates.desk import Desk


def held(desk: Desk, call: str, role: str, final: Final | Unscored, pattern: re.Pattern[str]) -> str:
    """What the last such tag holds; empty, and told, where there is none."""
    answer = final if isinstance(final, Unscored) else whole_answer(final)
    if isinstance(answer, Unscored):
        reason = answer.reason
    elif not (found := pattern.findall(answer)) or not found[-1].strip():
        reason = f"there is no {pattern.pattern.split('>')[0].removeprefix('<')} tag with something in it"
    else:
        return str(found[-1]).strip()
    if isinstance(final, Final):
        desk.unread(call, role, reason)
    return ""
