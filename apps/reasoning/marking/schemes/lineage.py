"""Identity across versions: which item of a new version is which of the old one, what changed, and two hashes.

The content hash changes with every letter. The meaning hash changes with what marks depend on: scale, step, chains, kinds,
points, relations and the words of the items, not with codes, order, notes, upper case, punctuation or white space.
"""

import hashlib
import json
import re
from collections.abc import Callable
from typing import Any, Literal

from apps.reasoning.domain.values import Value
from apps.reasoning.marking.schemes.scheme import Scheme, SchemeItem, points_text

ChangeKind = Literal["added", "removed", "meaning", "wording", "renamed"]

_WORDS = re.compile(r"[^\W_]+|[^\w\s.,;:!?'\"“”‘’`()\[\]]")


class Change(Value):
    """How one item differs between two versions; `fields` are what differs. A removed item has its old code."""

    lineage: str
    code: str
    kind: ChangeKind
    fields: tuple[str, ...] = ()


def lineages_carried(new: Scheme, old: Scheme | None, fresh: Callable[[], str]) -> Scheme:
    """`new` with a lineage for every item: the old item's of the same code, else of the same kind and text, else a fresh one.

    Lineages given in `new` are kept if the old version knows them and no other item has them.
    """
    before = {item.lineage: item for item in old.items} if old else {}
    taken: dict[int, str] = {}
    matches: list[Callable[[SchemeItem, SchemeItem], bool]] = [
        lambda one, other: one.lineage == other.lineage,
        lambda one, other: one.code == other.code and one.kind is other.kind,
        lambda one, other: one.kind is other.kind and bool(one.text) and _normal(one.text) == _normal(other.text),
        lambda one, other: one.code == other.code,
    ]
    for is_match in matches:
        for index, item in enumerate(new.items):
            if index in taken:
                continue
            found = next((key for key, one in before.items() if is_match(item, one) and key not in taken.values()), None)
            if found is not None:
                taken[index] = found
    items = tuple(item.model_copy(update={"lineage": taken.get(index) or fresh()}) for index, item in enumerate(new.items))
    return new.model_copy(update={"items": items})


def without_lineage(scheme: Scheme) -> Scheme:
    """The scheme as the text form knows it."""
    return scheme.model_copy(update={"items": tuple(item.model_copy(update={"lineage": ""}) for item in scheme.items)})


def content_hash(scheme: Scheme) -> str:
    """sha-256 in hex over everything that is written, lineage apart."""
    return _digest(without_lineage(scheme).model_dump(mode="json"))


def meaning_hash(scheme: Scheme) -> str:
    """sha-256 in hex over what marks depend on."""
    return _meaning_digest(scheme, with_text=True)


def structure_hash(scheme: Scheme) -> str:
    """sha-256 in hex over the meaning without the items' words: what a change of wording must not touch."""
    return _meaning_digest(scheme, with_text=False)


def _meaning_digest(scheme: Scheme, *, with_text: bool) -> str:
    names = _names(scheme)
    items = [_meaning(item, names) for item in scheme.items]
    body = {
        "scale": points_text(scheme.scale),
        "step": points_text(scheme.step),
        "mixing": bool(scheme.mixing),
        "chains": sorted([chain.name, "" if chain.limit is None else points_text(chain.limit)] for chain in scheme.chains),
        "items": sorted((item if with_text else {**item, "text": ""} for item in items), key=lambda item: str(item["name"])),
    }
    return _digest(body)


def changes(old: Scheme, new: Scheme) -> tuple[Change, ...]:
    """What happened to each item, matched by lineage: first the new version's in their order, then what is gone."""
    before, after = {item.lineage: item for item in old.items}, {item.lineage: item for item in new.items}
    found = []
    for item in new.items:
        if item.lineage not in before:
            found.append(Change(lineage=item.lineage, code=item.code, kind="added"))
        elif change := _change(before[item.lineage], item, _names(old), _names(new)):
            found.append(change)
    gone = [item for item in old.items if item.lineage not in after]
    return (*found, *(Change(lineage=item.lineage, code=item.code, kind="removed") for item in gone))


def _change(one: SchemeItem, other: SchemeItem, names: dict[str, str], new_names: dict[str, str]) -> Change | None:
    was, now = _meaning(one, names), _meaning(other, new_names)
    if was != now:
        fields = tuple(field for field in was if was[field] != now[field])
        return Change(lineage=other.lineage, code=other.code, kind="meaning", fields=fields)
    worded = tuple(field for field in ("text", "note") if getattr(one, field) != getattr(other, field))
    if worded:
        return Change(lineage=other.lineage, code=other.code, kind="wording", fields=worded)
    return Change(lineage=other.lineage, code=other.code, kind="renamed") if one.code != other.code else None


def _names(scheme: Scheme) -> dict[str, str]:
    """Per code, what identifies the item: its lineage, or the code of one that has none yet."""
    return {item.code: item.lineage or item.code for item in scheme.items}


def _meaning(item: SchemeItem, names: dict[str, str]) -> dict[str, Any]:
    return {
        "name": names[item.code],
        "kind": str(item.kind),
        "points": points_text(item.points),
        "text": _normal(item.text),
        "chains": sorted(item.chains),
        "group": item.group,
        "requires": sorted(names.get(code, code) for code in item.requires),
        "excludes": sorted(names.get(code, code) for code in item.excludes),
    }


def _normal(text: str) -> str:
    return " ".join(_WORDS.findall(text.casefold()))


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()
