"""Propagation chains as graders write them: `E1(Step_3) -> C2(Step_7) -> M2 -> FINAL_INVALID`.

Source: RefGrader, App. B.1 (error propagation analysis).
"""

import re
from collections.abc import Collection

from apps.reasoning.domain.values import Unscored
from apps.reasoning.marking.propagation import ChainEnd, Link, Propagation

LINKS_AT_MOST = 40
_ARROW = re.compile(r"\s*(?:-+>|→|⇒|=>)\s*")
_LINK = re.compile(r"([ECSM])(\d{1,3})\s*(?:\(\s*(?:step[\s_]*)?(\d{1,4})\s*\))?", re.IGNORECASE)


def propagation_read(text: str, findings: Collection[str], steps: int) -> Propagation | Unscored:
    """A chain as a grader writes it. Unscored where it names no error that was found, a step that is not there, or no end."""
    parts = [part.strip(" `.;") for part in _ARROW.split(text.strip())]
    *names, last = parts
    if len(parts) > LINKS_AT_MOST:
        return Unscored(reason="the chain is too long")
    if last.upper() not in set(ChainEnd):
        return Unscored(reason=f"the chain ends with {last[:40]!r}")
    links = []
    for name in names:
        found = _LINK.fullmatch(name)
        if found is None:
            return Unscored(reason=f"{name[:40]!r} is no link of a chain")
        step = int(found[3] or 0)
        if step > steps:
            return Unscored(reason=f"the chain names step {step} of {steps}")
        links.append(Link(name=f"{found[1].upper()}{int(found[2])}", step=step))
    if not links or links[0].name not in findings:
        return Unscored(reason="the chain does not begin with an error that was found")
    if len({link.name for link in links}) < len(links):
        return Unscored(reason="the chain runs in a circle")
    return Propagation(links=tuple(links), end=ChainEnd(last.upper()))
