"""Recorded views of graders: labels for pages, text for files, and summaries for tables that compare graders."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.reasoning.domain.values import Value
from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.graders.view import PARTS, View

BEFORE = "as recorded before views: "
DIFFERENT = "These graders had different views, which may explain differences between them."
NOT_KEPT = "not recorded"


class ViewShown(Value):
    """A view. Without a record it is inferred from what earlier versions showed."""

    view: View
    is_recorded: bool = True

    @property
    def words(self) -> str:
        """The label for pages."""
        return ("" if self.is_recorded else BEFORE) + self.view.words

    @property
    def text(self) -> str:
        """The text for files, parsed by `shown_read`."""
        return ("" if self.is_recorded else BEFORE) + ", ".join(self.view.parts)


def shown_read(text: Any) -> ViewShown | None:
    """Parse `ViewShown.text`; None for any other value."""
    if not isinstance(text, str) or not text.strip():
        return None
    parts = [part.strip() for part in text.strip().removeprefix(BEFORE).split(",")]
    if not set(parts) <= set(PARTS):
        return None
    return ViewShown(view=View(problem="problem" in parts).also(*parts), is_recorded=not text.strip().startswith(BEFORE))


def shown_of(workflow: str, params: Mapping[str, Any]) -> ViewShown:
    """The view of a grading with these run parameters."""
    if given := params.get("view"):
        return ViewShown(view=View.model_validate(given))
    return ViewShown(view=shown_before(workflow, params), is_recorded=False)


def shown_before(workflow: str, params: Mapping[str, Any]) -> View:
    """The view of a grading with these run parameters from before views were recorded."""
    grader = GRADERS[workflow]
    # Not validated, as old runs have parameters of old versions.
    material: Any = grader.params.model_construct(**params)
    return grader.seen_before(material)


def shown_suggested(name: str, parts: Sequence[str]) -> ViewShown | None:
    """The view of a suggestion by this grader with these recorded parts; None for a removed grader."""
    if parts:
        return shown_read(", ".join(parts))
    workflow = name.partition("@")[0].split("+")[0]
    return ViewShown(view=shown_before(workflow, {}), is_recorded=False) if workflow in GRADERS else None


@dataclass(frozen=True)
class ViewsSummary:
    """The lines above a table that compares graders: one per grader if their views differ, else one for all."""

    differ: bool
    lines: Sequence[str]


def views_summary(views: Mapping[str, Sequence[ViewShown]], names: Mapping[str, str]) -> ViewsSummary:
    """Summarise `views` by grader (several if its view changed, none if unknown). `names`: labels of graders."""
    if not any(views.values()):
        return ViewsSummary(False, ())
    titles = {name: names.get(name, name) for name in views}
    every = [one for given in views.values() for one in given]
    if all(views.values()) and len({one.view for one in every}) == 1:
        who = f"View of {next(iter(titles.values()))}" if len(views) == 1 else "View of every grader"
        since = "" if all(one.is_recorded for one in every) else f" ({BEFORE.strip(': ')})"
        return ViewsSummary(False, (f"{who}: {every[0].view.words}, in addition to the script{since}.",))
    lines = [f"{titles[name]}: {'; or '.join(one.words for one in given) or NOT_KEPT}." for name, given in views.items()]
    return ViewsSummary(True, (DIFFERENT, *lines))


def views_json(views: Mapping[str, Sequence[ViewShown]]) -> dict[str, list[str]]:
    """The views by grader, as text for files."""
    return {name: [one.text for one in given] for name, given in views.items() if given}
