"""Carrying remarks from a text to its author's newer version.

A remark is kept only if everything that it touches is kept, and a consequence only if its root is kept. All other remarks are
proposed to a person, or reported as gone. Similar sentences are not searched for. A remark on a page goes with its page; if the
page was scanned again, it is proposed at the same region.
"""

from collections.abc import Sequence

from apps.reasoning.domain.values import Value
from apps.reasoning.marking.sheets.commands import Script
from apps.reasoning.marking.sheets.pages import page_of, page_step
from apps.reasoning.marking.sheets.sheet import Comment, Role, StepVerdict
from apps.reasoning.texts.anchors import Anchor, AnchorLost
from apps.reasoning.texts.revision import Fate, StepFate, anchor_carried, steps_mapped


class Carried(Value):
    """The fate of one remark. `step` is its step in the new text, or the one for a person to review; None if it is gone.

    `because` is the reason in words why it is not kept, or "".
    """

    id: str
    fate: Fate
    step: int | None = None
    anchor: Anchor | None = None
    because: str = ""


class Carrying(Value):
    """Every remark of a sheet in the newer text, and the fate of every old step."""

    verdicts: tuple[Carried, ...]
    comments: tuple[Carried, ...]
    steps: tuple[StepFate, ...]


def remarks_carried(verdicts: Sequence[StepVerdict], comments: Sequence[Comment], old: Script, new: Script) -> Carrying:
    """The fates of verdicts and comments. Remarks about the whole text are kept only where no step changed."""
    fates = steps_mapped(old.steps, new.steps)
    by_step = {fate.old: fate for fate in fates}
    carried = {verdict.id: _carried(verdict, by_step, old, new, fates) for verdict in verdicts}
    return Carrying(
        verdicts=tuple(_with_root(verdict, carried, verdicts) for verdict in verdicts),
        comments=tuple(_comment(comment, by_step, old, new, fates) for comment in comments),
        steps=fates,
    )


def _carried(
    remark: StepVerdict | Comment,
    by_step: dict[int, StepFate],
    old: Script,
    new: Script,
    fates: Sequence[StepFate],
) -> Carried:
    page = page_of(remark.step)
    if page is not None:
        return _on_page(remark.id, page, old.pages, new.pages)
    fate = by_step.get(remark.step)
    if fate is None or fate.fate == "orphaned":
        return Carried(id=remark.id, fate="orphaned", because="The step is gone.")
    if fate.fate != "kept":
        return Carried(id=remark.id, fate="needs confirmation", step=fate.number, because="The step was changed.")
    if remark.anchor is None:
        return Carried(id=remark.id, fate="kept", step=fate.number)
    try:
        anchor = anchor_carried(remark.anchor, old.source, old.steps, new.source, new.steps, fates)
    except AnchorLost:
        anchor = None
    if anchor is None:
        because = "The words that it is about reach beyond what stayed the same."
        return Carried(id=remark.id, fate="needs confirmation", step=fate.number, because=because)
    return Carried(id=remark.id, fate="kept", step=fate.number, anchor=anchor)


def _on_page(key: str, page: int, old: Sequence[str], new: Sequence[str]) -> Carried:
    """The fate of a remark on a page, by the ids of the pages."""
    before = old[page - 1] if page <= len(old) else ""
    if before in new:
        return Carried(id=key, fate="kept", step=page_step(new.index(before) + 1))
    if page <= len(new):
        return Carried(id=key, fate="needs confirmation", step=page_step(page), because="The page was scanned again.")
    return Carried(id=key, fate="orphaned", because="The page is gone.")


def _comment(comment: Comment, by_step: dict[int, StepFate], old: Script, new: Script, fates: Sequence[StepFate]) -> Carried:
    if comment.step:
        return _carried(comment, by_step, old, new, fates)
    if (old.source, old.pages) == (new.source, new.pages):
        return Carried(id=comment.id, fate="kept", step=0)
    return Carried(id=comment.id, fate="needs confirmation", step=0, because="It is about the whole text, which was changed.")


def _with_root(verdict: StepVerdict, carried: dict[str, Carried], verdicts: Sequence[StepVerdict]) -> Carried:
    """The fate of a verdict, knowing those that it follows from."""
    mine = carried[verdict.id]
    if mine.fate != "kept":
        return mine
    known = {one.id: one for one in verdicts}
    seen = {verdict.id}
    here = verdict
    while here.role is Role.CONSEQUENCE:
        root = known.get(here.root)
        if root is None or root.id in seen or carried[root.id].fate != "kept":
            because = "It follows from an error whose step was changed."
            return Carried(id=verdict.id, fate="needs confirmation", step=mine.step, because=because)
        seen.add(root.id)
        here = root
    return mine
