"""What graders were shown, from what was recorded of them: for pages, files, and tables that compare graders."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.reasoning.domain.values import Value
from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.graders.view import PARTS, View

BEFORE = "as recorded before views: "
DIFFERENT = "These graders were not all shown the same: a difference between them may come from that."
NOT_KEPT = "not recorded"


class ViewShown(Value):
    """A view, and whether it was recorded: else it is what versions before views did show."""

    view: View
    is_recorded: bool = True

    @property
    def words(self) -> str:
        """For pages."""
        return ("" if self.is_recorded else BEFORE) + self.view.words

    @property
    def text(self) -> str:
        """For files; `shown_read` reads it."""
        return ("" if self.is_recorded else BEFORE) + ", ".join(self.view.parts)


def shown_read(text: Any) -> ViewShown | None:
    """What `ViewShown.text` wrote; None for all else."""
    if not isinstance(text, str) or not text.strip():
        return None
    parts = [part.strip() for part in text.strip().removeprefix(BEFORE).split(",")]
    if not set(parts) <= set(PARTS):
        return None
    return ViewShown(view=View(problem="problem" in parts).also(*parts), is_recorded=not text.strip().startswith(BEFORE))


def shown_of(workflow: str, params: Mapping[str, Any]) -> ViewShown:
    """What a grading with these parameters of a run shows."""
    if given := params.get("view"):
        return ViewShown(view=View.model_validate(given))
    return ViewShown(view=shown_before(workflow, params), is_recorded=False)


def shown_before(workflow: str, params: Mapping[str, Any]) -> View:
    """What a grading with these parameters showed before there were views."""
    grader = GRADERS[workflow]
    # Unchecked: old runs have what old versions took.
    material: Any = grader.params.model_construct(**params)
    return grader.seen_before(material)


def shown_suggested(name: str, parts: Sequence[str]) -> ViewShown | None:
    """What a suggestion of a grader of this name, which keeps these parts, was shown; None for a grader that is gone."""
    if parts:
        return shown_read(", ".join(parts))
    workflow = name.partition("@")[0].split("+")[0]
    return ViewShown(view=shown_before(workflow, {}), is_recorded=False) if workflow in GRADERS else None


@dataclass(frozen=True)
class ViewsTold:
    """What stands above a table that compares graders: a line each where they differ, else one for all."""

    differ: bool
    lines: Sequence[str]


def views_told(views: Mapping[str, Sequence[ViewShown]], names: Mapping[str, str]) -> ViewsTold:
    """`views` by grader (several where it changed, none where nobody knows), `names` the graders' words."""
    if not any(views.values()):
        return ViewsTold(False, ())
    titles = {name: names.get(name, name) for name in views}
    every = [one for given in views.values() for one in given]
    if all(views.values()) and len({one.view for one in every}) == 1:
        who = f"{next(iter(titles.values()))} was" if len(views) == 1 else "Every grader here was"
        since = "" if all(one.is_recorded for one in every) else f" ({BEFORE.strip(': ')})"
        return ViewsTold(False, (f"{who} shown {every[0].view.words}, besides the script{since}.",))
    lines = [f"{titles[name]}: {'; or '.join(one.words for one in given) or NOT_KEPT}." for name, given in views.items()]
    return ViewsTold(True, (DIFFERENT, *lines))


def views_json(views: Mapping[str, Sequence[ViewShown]]) -> dict[str, list[str]]:
    """By grader what it was shown, as files have it."""
    return {name: [one.text for one in given] for name, given in views.items() if given}
