"""What a helper role wrote between its tags."""

import re
from collections.abc import Callable

from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.answers import whole_answer
from apps.reasoning.reading.echoes import own_text
from apps.reasoning.scaffolds.candidates.desk import Desk


def held(desk: Desk, call: str, role: str, final: Final | Unscored, pattern: re.Pattern[str]) -> str:
    """What the last such tag holds; empty, and told, where there is none."""
    answer = final if isinstance(final, Unscored) else whole_answer(final)
    if isinstance(answer, Unscored):
        reason = answer.reason
    elif not (found := pattern.findall(answer)) or not found[-1].strip():
        reason = f"there is no {pattern.pattern.partition('(')[0]}> with something in it"
    else:
        return str(found[-1]).strip()
    if isinstance(final, Final):
        desk.unread(call, role, reason)
    return ""


def condensing(pattern: re.Pattern[str], tag: str, prompt: str) -> Callable[..., str | Unscored]:
    """A reader of what the last such tag holds or, without one, of a whole answer that is more than an echo of `prompt`."""

    def read(final: Final, first: str = "") -> str | Unscored:
        answer = whole_answer(final)
        if isinstance(answer, Unscored):
            return answer
        if found := pattern.findall(answer):
            return str(found[-1]).strip() or Unscored(reason=f"<{tag}> is empty")
        own = own_text(re.sub(rf"</?{tag}>", "", answer, flags=re.IGNORECASE), prompt)
        return own if isinstance(own, str) else Unscored(reason=f"there is no <{tag}>, and {own.reason}")

    return read
