"""Join the remarks of agreeing markers to the student on one sheet: the claim once, no duplicate remarks. Pure.

A double says the same of the same step, at no other place in it: a verdict of the same type with the same words, or one of the
two without words, which then has those of the other; a comment with the same words. Notes to markers stay with who wrote them.
"""

from collections.abc import Collection, Sequence
from itertools import count

from apps.reasoning.marking.sheets.sheet import NOTES_AT_MOST, Comment, MarkSheet, Role, StepVerdict

STUDENT, ID_LENGTH = "student", 36


def notes_joined(sheets: Sequence[MarkSheet]) -> MarkSheet:
    """The first sheet with the other markers' additional remarks to the student; itself if there are none."""
    joined = sheets[0]
    for sheet in sheets[1:]:
        verdicts, comments = _verdicts(joined.verdicts, sheet.verdicts), _comments(joined.comments, sheet.comments)
        joined = joined.model_copy(update={"verdicts": verdicts, "comments": comments})
    return joined


def _verdicts(own: Sequence[StepVerdict], others: Sequence[StepVerdict]) -> tuple[StepVerdict, ...]:
    """Roots come before what follows from them, so that it can follow from the double of its root."""
    held = {one.id: one for one in own}
    names: dict[str, str] = {}
    for other in sorted(others, key=lambda one: one.role is Role.CONSEQUENCE):
        known = next((one for one in own if _is_double(one, other)), None)
        if known is not None:
            names[other.id] = known.id
            held[known.id] = _filled(held[known.id], other)
        elif len(held) < NOTES_AT_MOST:
            names[other.id] = key = _free(other.id, held)
            root = _root(held, names.get(other.root, ""))
            held[key] = other.model_copy(update={"id": key, "root": root.id if root else ""})
            if root is not None and root.role is Role.INDEPENDENT:
                held[root.id] = root.model_copy(update={"role": Role.ROOT})
    return tuple(held.values())


def _comments(own: Sequence[Comment], others: Sequence[Comment]) -> tuple[Comment, ...]:
    held = {one.id: one for one in own}
    shown = [one for one in own if one.audience == STUDENT]
    for other in others:
        is_known = any(_says_so(one, other) for one in shown)
        if other.audience == STUDENT and not is_known and len(held) < NOTES_AT_MOST:
            key = _free(other.id, held)
            held[key] = other.model_copy(update={"id": key})
    return tuple(held.values())


def _is_double(one: StepVerdict, other: StepVerdict) -> bool:
    is_same = (one.fallacy, one.role is Role.HARMLESS) == (other.fallacy, other.role is Role.HARMLESS)
    is_wordless = one.step == other.step and not (one.words and other.words) and _may_be_one(one, other)
    return is_same and (is_wordless or _says_so(one, other))


def _says_so(one: StepVerdict | Comment, other: StepVerdict | Comment) -> bool:
    is_same = (one.step, _plain(one.words)) == (other.step, _plain(other.words))
    return is_same and _may_be_one(one, other)


def _may_be_one(one: StepVerdict | Comment, other: StepVerdict | Comment) -> bool:
    """Whether the places of two notes at one step overlap; a note without a place has every place."""
    if one.region is not None and other.region is not None:
        return one.region.meets(other.region)
    mine, theirs = one.anchor, other.anchor
    return mine is None or theirs is None or (mine.start < theirs.end and theirs.start < mine.end)


def _filled(known: StepVerdict, other: StepVerdict) -> StepVerdict:
    """A verdict with the words of its double, and its place, where it has none of its own."""
    if known.words or not other.words:
        return known
    places = {"anchor": known.anchor or other.anchor, "region": known.region or other.region}
    return known.model_copy(update={"words": other.words, **places})


def _root(held: dict[str, StepVerdict], key: str) -> StepVerdict | None:
    """What a consequence follows from; where that is known as a consequence itself, what that one follows from."""
    root = held.get(key)
    return held.get(root.root) if root is not None and root.role is Role.CONSEQUENCE else root


def _free(key: str, taken: Collection[str]) -> str:
    """The id, or where another note has it one like it."""
    if key not in taken:
        return key
    names = (f"{key[: ID_LENGTH - 4]}-{number}" for number in count(2))
    return next(name for name in names if name not in taken)


def _plain(words: str) -> str:
    return " ".join(words.split()).casefold()
