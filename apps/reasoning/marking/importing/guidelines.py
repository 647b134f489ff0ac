"""Coarse guidelines: numbered remarks under "(Partial)" and "(Almost)", as IMO-ProofBench has them.

They name four tiers, which count 0, 1, 6 and 7 points there. Each remark becomes a checkpoint with its tier's points in one
pick-one group, so that the best tier counts; "(Incorrect)" remarks become zero-credit items.
"""

import re
from decimal import Decimal

from apps.reasoning.marking.importing.imported import Imported, code_free, refuse_too_large
from apps.reasoning.marking.schemes.scheme import Kind, Scheme, SchemeItem, lines_clean

GROUP = "tier"
_TIERS = {
    "incorrect": ("z", Decimal(0)),
    "partial": ("p", Decimal(1)),
    "almost": ("a", Decimal(6)),
    "correct": ("f", Decimal(7)),
}
_HEADING = re.compile(r"\s*\((incorrect|partial|almost|correct)\)\s*", re.IGNORECASE)
_REMARK = re.compile(r"\s*\d+[.)]\s+(.*)")
_NOTE = "The tiers count 0, 1, 6 and 7 points, as in IMO-ProofBench; an item for a complete proof was added."


def guidelines_read(text: str) -> Imported | None:
    """The scheme of coarse guidelines; None where no line is a tier's heading."""
    lines = lines_clean(text)
    if not any(_HEADING.fullmatch(line) for line in lines):
        return None
    tier, remarks, loose = "", list[tuple[str, str]](), list[str]()
    for line in lines:
        if found := _HEADING.fullmatch(line):
            tier = found.group(1).lower()
        elif tier and (found := _REMARK.fullmatch(line)):
            remarks.append((tier, found.group(1)))
        elif line and tier and remarks and remarks[-1][0] == tier:
            remarks[-1] = (tier, f"{remarks[-1][1]}\n{line.strip()}")
        elif line and tier:
            remarks.append((tier, line.strip()))
        elif line:
            loose.append(line)
    refuse_too_large(len(remarks) + 1, [remark for _, remark in remarks] + ["\n".join(loose)])
    items: list[SchemeItem] = []
    for tier, remark in remarks:
        items.append(_item(tier, remark, items))
    if not any(tier == "correct" for tier, _ in remarks):
        items.append(SchemeItem(code="full", points=Decimal(7), text="A complete and correct proof.", group=GROUP))
    notes = (_NOTE, *(f"Kept in the remarks: “{line[:80]}”." for line in loose))
    return Imported(scheme=Scheme(items=tuple(items), remarks="\n".join(loose)), shape="coarse guidelines", notes=notes)


def _item(tier: str, remark: str, items: list[SchemeItem]) -> SchemeItem:
    letter, points = _TIERS[tier]
    code = code_free(letter, items)
    if not points:
        return SchemeItem(code=code, kind=Kind.ZERO_CREDIT, text=remark)
    return SchemeItem(code=code, points=points, text=remark, group=GROUP)
