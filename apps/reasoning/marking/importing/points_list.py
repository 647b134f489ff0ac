"""Lists of grading points, one a line: "- A1 (+2) Shows that …", "3. (1 point) …", "2 points: …", "… (2 points)".

Headings "Chain A: title" begin a chain and "All chains" ends them; "Zero:", "Deduct −1:" and "Cap 5:" are the other kinds.
"""

import re
from decimal import Decimal
from typing import Any

from apps.reasoning.marking.importing.imported import Imported, code_free, refuse_too_large, scale_found
from apps.reasoning.marking.schemes.scheme import CHAINS_AT_MOST, Chain, Kind, Scheme, SchemeItem, code_checked, lines_clean

_BULLET = r"\s*(?:[-*•–]\s+|(?:\d+|[a-z])[.)]\s+)?"
_NUMBER = r"(\d{1,3}(?:\.\d{1,2})?)"
_WORD = r"\s*(?:p|pts?|points?|marks?)"
_LABEL = r"[A-Za-z]{1,2}\d{1,2}[a-z]?|[A-Z]"
_CHAIN = re.compile(
    r"\s*(?:#+\s*|\*\*)?(?:chain|route|solution|approach|method)\s+(\w{1,16})\s*(?:[:.–—-]\s*(.*?))?\s*(?:\*\*)?", re.I
)
_ALL = re.compile(r"\s*(?:#+\s*|\*\*)?(?:all chains|general|common)\s*:?\s*(?:\*\*)?\s*:?", re.I)
_LABELLED = re.compile(rf"{_BULLET}(?:\*\*)?({_LABEL})?[.:]?(?:\*\*)?\s*[(\[]\+?{_NUMBER}(?:{_WORD})?[)\]]\s*[:.]?\s*(.*\w.*)")
_BEFORE = re.compile(rf"{_BULLET}\+?{_NUMBER}{_WORD}\s*[:.–—-]\s*(.+)", re.I)
_AFTER = re.compile(rf"{_BULLET}(.+?)\s*[(\[]\+?{_NUMBER}{_WORD}[)\]]\.?", re.I)
_OTHERS = {
    Kind.ZERO_CREDIT: re.compile(rf"{_BULLET}(?:zero|no)(?:[ -]credit| points?)?(?: for)?\s*()[:.]\s*(.+)", re.I),
    Kind.DEDUCTION: re.compile(rf"{_BULLET}deduct(?:ion)?\s*[−-]?\s*{_NUMBER}(?:{_WORD})?\s*[:.]\s*(.+)", re.I),
    Kind.CAP: re.compile(rf"{_BULLET}(?:cap|at most)\s*(?:at)?\s*{_NUMBER}(?:{_WORD})?\s*[:.]\s*(.+)", re.I),
}
_LETTERS = {Kind.CHECKPOINT: "c", Kind.ZERO_CREDIT: "z", Kind.DEDUCTION: "d", Kind.CAP: "k"}


def points_list_read(text: str) -> Imported | None:
    """The scheme of a list of grading points; None where no line gives points to something."""
    found: list[dict[str, Any]] = []
    chains: dict[str, str] = {}
    chain, open_item, loose = "", False, list[str]()
    lines = lines_clean(text)
    refuse_too_large(0, lines)
    for line in lines:
        if not line:
            open_item = False
        elif (item := _item(line)) is not None:
            found.append({**item, "chains": (chain,) if chain else ()})
            open_item = True
        elif heading := _CHAIN.fullmatch(line):
            chain = heading.group(1)
            chains.setdefault(chain, heading.group(2) or "")
            open_item = False
        elif _ALL.fullmatch(line):
            chain, open_item = "", False
        elif open_item:
            found[-1]["text"] += f"\n{line.strip()}"
        else:
            loose.append(line.strip())
    if not any(item["kind"] is Kind.CHECKPOINT for item in found) or len(chains) > CHAINS_AT_MOST:
        return None
    return _imported(found, chains, loose)


def _item(line: str) -> dict[str, Any] | None:
    for kind, pattern in _OTHERS.items():
        if match := pattern.fullmatch(line):
            return {"kind": kind, "label": "", "points": Decimal(match.group(1) or 0), "text": match.group(2)}
    if match := _LABELLED.fullmatch(line):
        label, points, text = match.groups()
    elif match := _BEFORE.fullmatch(line):
        label, (points, text) = "", match.groups()
    elif match := _AFTER.fullmatch(line):
        label, (text, points) = "", match.groups()
    else:
        return None
    kind = Kind.CHECKPOINT if Decimal(points) else Kind.ZERO_CREDIT
    return {"kind": kind, "label": label or "", "points": Decimal(points), "text": text}


def _imported(found: list[dict[str, Any]], chains: dict[str, str], loose: list[str]) -> Imported:
    refuse_too_large(len(found), [*(item["text"] for item in found), "\n".join(loose)])
    items: list[SchemeItem] = []
    for values in found:
        label = values.pop("label")
        items.append(SchemeItem(code=_code(label, values["kind"], items), **_without_chain(values)))
    used = {name for item in items for name in item.chains}
    scheme = Scheme(
        chains=tuple(Chain(name=name, title=title) for name, title in chains.items() if name in used),
        items=tuple(items),
        remarks="\n".join(loose),
    )
    scheme, notes = scale_found(scheme)
    kept = tuple(f"Kept in the remarks: “{line[:80]}”." for line in loose)
    return Imported(scheme=scheme, shape="list of grading points", notes=(*notes, *kept))


def _without_chain(values: dict[str, Any]) -> dict[str, Any]:
    """A deduction belongs to no chain, wherever it appears."""
    return {**values, "chains": ()} if values["kind"] is Kind.DEDUCTION else values


def _code(label: str, kind: Kind, items: list[SchemeItem]) -> str:
    used = {item.code.casefold() for item in items}
    if label and label.casefold() not in used | {"mix"}:
        try:
            return code_checked(label)
        except ValueError:
            pass
    return code_free(_LETTERS[kind], items)
