"""Forms of the preparation page: add references, start a run, edit each kind of piece field by field."""

import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from pydantic import ValidationError

from apps.preparation.state import Group, Place, State
from apps.reasoning.domain.values import Value
from apps.reasoning.graders.pieces.pieces import (
    FEWEST_STEPS,
    HARDEST,
    MOST_STEPS,
    WORDS_LENGTH,
    Analysis,
    Clusters,
    Rubric,
    analysis_fault,
    clusters_fault,
    rubric_fault,
)
from apps.reasoning.graders.with_references import MANNERS
from apps.reasoning.inference.aliases import Alias
from apps.ui.sent import whole_number

GROUPS_AT_MOST = 12
ITEMS_AT_MOST = 7
FILE_SIZE = 2_000_000
#: A line of three or more dashes separates two pasted texts.
SEPARATOR = "---"


class PieceWrong(ValueError):
    """An invalid piece or file; the message says why."""


class ReferencesForm(forms.Form):
    """Posts and solutions, pasted or uploaded as a file."""

    text = forms.CharField(
        label="Posts or solutions",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 8, "spellcheck": "false"}),
        help_text="One or more, separated by lines of ---.",
    )
    file = forms.FileField(label="Or a file", required=False, help_text="Plain text with the same separators; at most 2 MB.")
    origin = forms.CharField(label="Origin", required=False, max_length=200)

    def texts(self) -> list[str]:
        """All texts of a valid form. Raises `PieceWrong` for a file that is not text."""
        given = [self.cleaned_data["text"]]
        if upload := self.cleaned_data["file"]:
            if upload.size > FILE_SIZE:
                raise PieceWrong("The file is larger than 2 MB. Split it.")
            try:
                given.append(upload.read().decode("utf-8-sig"))
            except UnicodeDecodeError as error:
                raise PieceWrong("The file is not UTF-8 text. Convert it first.") from error
        return [text for one in given for text in texts_split(one)]


def texts_split(text: str) -> list[str]:
    """Split a text at lines of `---`."""
    texts: list[list[str]] = [[]]
    for line in text.replace("\r\n", "\n").split("\n"):
        if line.strip().startswith(SEPARATOR) and not line.strip().strip("-"):
            texts.append([])
        else:
            texts[-1].append(line)
    return [found for one in texts if (found := "\n".join(one).strip())]


class AliasForm(forms.Form):
    """A form for starting a run with one model."""

    start_id = forms.UUIDField(required=False, widget=forms.HiddenInput, initial=uuid.uuid4)
    alias = forms.ChoiceField(label="Model", help_text="Plays every role.")

    def __init__(self, *args: Any, aliases: Mapping[str, Alias], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.aliases = aliases
        for field in (self.fields[name] for name in self.fields if name.endswith("alias")):
            if isinstance(field, forms.ChoiceField):
                field.choices = [(name, one.title) for name, one in aliases.items()]

    def chosen(self) -> dict[str, Alias]:
        """The models by role of a valid form."""
        return {"": self.aliases[self.cleaned_data["alias"]]}


class PrepareForm(AliasForm):
    """Rubrics, number of groups, and model of a preparation run."""

    manners = forms.MultipleChoiceField(
        label="Rubrics",
        choices=[
            ("ref5_approachability", "By approachability"),
            ("ref5_hybrid", "Milestones by approachability"),
            ("ref5_plain", "Over the main steps"),
            ("ref5_milestones", "Milestones"),
        ],
        initial=["ref5_approachability"],
        widget=forms.CheckboxSelectMultiple,
    )
    groups = forms.IntegerField(
        label="Maximum groups", min_value=1, max_value=GROUPS_AT_MOST, initial=3, help_text="The most common ones."
    )

    def overrides(self) -> dict[str, Any]:
        """The parameters of the run."""
        return {
            "manners": [name for name in MANNERS if name in self.cleaned_data["manners"]],
            "groups": self.cleaned_data["groups"],
        }


def piece_typed(place: Place, state: State, data: Mapping[str, str]) -> dict[str, Any]:
    """The entered content of a place in the format of its piece, not validated."""
    what = place.name.split("/")[0]
    return _clusters(state, data) if what == "clusters" else _analysis(data) if what == "analysis" else _rubric(data)


def piece_entered(place: Place, state: State, typed: Mapping[str, Any]) -> Value:
    """The validated piece. Raises `PieceWrong`."""
    what = place.name.split("/")[0]
    try:
        if what == "clusters":
            clusters = Clusters.model_validate(typed)
            found: Value = clusters
            fault = clusters_fault(clusters, len(state.references))
        elif what == "analysis":
            analysis = Analysis.model_validate(typed)
            found, fault = analysis, analysis_fault(analysis, place.name.endswith("/scored"))
        else:
            rubric = Rubric.model_validate(typed)
            found, fault = rubric, rubric_fault(rubric)
    except ValidationError as error:
        first = error.errors()[0]
        raise PieceWrong(_in_words(first["loc"], first["type"])) from error
    if fault:
        raise PieceWrong(f"{fault.rstrip('.')}.")
    return found


def piece_fields(place: Place, state: State, value: Mapping[str, Any] | None) -> dict[str, Any]:
    """The rows of a piece's form: those of a version's content, and empty ones to add."""
    what, value = place.name.split("/")[0], value or {}
    if what == "clusters":
        clusters = list(value.get("clusters", []))
        belongs = {member: number for number, one in enumerate(clusters, 1) for member in one["members"]}
        count = max(len(clusters), min(len(clusters) + 2, GROUPS_AT_MOST, max(2, len(state.references))))
        rows = [
            {"number": number, "steps": "\n".join(one.get("steps", [])), "representative": one.get("representative")}
            for number, one in enumerate((clusters + [{}] * count)[:count], 1)
        ]
        members = [{"reference": one, "group": belongs.get(one.number, 0)} for one in state.references]
        return {"what": what, "rows": rows, "members": members, "numbers": range(1, count + 1)}
    if what == "analysis":
        steps = [{**one, "substeps": "\n".join(one.get("substeps", []))} for one in value.get("main_steps", [])]
        scale = range(1, HARDEST + 1) if place.name.endswith("/scored") else ()
        return {"what": what, "rows": _padded(steps, MOST_STEPS), "scale": scale}
    items = [{**one, "deductions": "\n".join(one.get("deductions", []))} for one in value.get("items", [])]
    return {"what": what, "rows": _padded(items, ITEMS_AT_MOST)}


def piece_heading(place: Place, group: Group | None) -> str:
    """The heading of the form of a piece."""
    return f"{place.title}, {group.name}" if group else place.title


def _in_words(loc: tuple[int | str, ...], kind: str) -> str:
    """The error in an entered piece, from location and kind of the validation error."""
    if loc == ("clusters",):
        return "No reference is in a group. Put at least one into a group."
    if loc == ("items",):
        return "The rubric has no items. Fill in at least one."
    if loc == ("main_steps",):
        return f"An analysis needs {FEWEST_STEPS} to {MOST_STEPS} main steps."
    if loc[0] == "clusters" and kind == "too_long":
        return f"A group has at most {MOST_STEPS} main steps. Merge or remove some."
    if loc[-1] == "members":
        return "A group has main steps but no reference. Add a reference, or clear its steps."
    number = next((part + 1 for part in loc if isinstance(part, int)), 1)
    where = {"items": f"Item {number}", "main_steps": f"Main step {number}"}.get(str(loc[0]), "A group")
    if loc[-1] == "points":
        return f"{where}: points must be a whole number from 1 to 7."
    if loc[-1] == "approachability":
        return f"{where}: difficulty of finding it must be a number from 1 to {HARDEST}."
    if kind == "string_too_long":
        return f"{where}: a text is longer than {WORDS_LENGTH:,} characters. Shorten it."
    what = {"title": "title", "full": "requirement for full credit"}.get(str(loc[-1]), "text")
    return f"{where} has no {what}."


def _padded(rows: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    return [{**one, "number": number} for number, one in enumerate((rows + [{}] * 2)[:most], 1)]


def _clusters(state: State, data: Mapping[str, str]) -> dict[str, Any]:
    members: dict[str, list[int]] = {}
    for reference in state.references:
        if (group := data.get(f"group-{reference.number}", "0")) != "0":
            members.setdefault(group, []).append(reference.number)
    # Keep main steps of a group without references, so that validation reports the missing reference.
    for name in data:
        if name.startswith("steps-") and _lines(data[name]):
            members.setdefault(name.removeprefix("steps-"), [])
    clusters = [
        {
            "members": numbers,
            "representative": _number(data.get(f"representative-{group}", "")) or next(iter(numbers), 0),
            "steps": _lines(data.get(f"steps-{group}", "")),
        }
        for group, numbers in sorted(members.items(), key=lambda one: one[0].zfill(3))
    ]
    return {"clusters": clusters}


def _analysis(data: Mapping[str, str]) -> dict[str, Any]:
    steps = [
        {
            "title": row["title"],
            "why": row["why"],
            "substeps": _lines(row["substeps"]),
            "approachability": _number(row["approachability"]) or None,
        }
        for row in _rows(data, MOST_STEPS, ("title", "why", "substeps", "approachability"))
        if any(row.values())
    ]
    return {"main_steps": steps}


def _rubric(data: Mapping[str, str]) -> dict[str, Any]:
    items = [
        {"title": row["title"], "points": row["points"], "full": row["full"], "deductions": _lines(row["deductions"])}
        for row in _rows(data, ITEMS_AT_MOST, ("title", "points", "full", "deductions"))
        if any(row.values())
    ]
    return {"items": items}


def _rows(data: Mapping[str, str], most: int, names: Iterable[str]) -> list[dict[str, str]]:
    wanted = tuple(names)
    return [{name: _clean(data.get(f"{name}-{number}", "")) for name in wanted} for number in range(1, most + 1)]


def _clean(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\x00", "").strip()


def _number(text: str) -> int:
    return whole_number(text, 3) or 0


def _lines(text: str) -> list[str]:
    return [line for one in _clean(text).split("\n") if (line := one.strip())]
