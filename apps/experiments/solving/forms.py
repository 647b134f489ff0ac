"""The builder: one form for the experiment, and rows for methods, teams, budgets and scorers. Its result is a manifest."""

import json
import tomllib
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict

from apps.experiments.presets.tables import Preset
from apps.experiments.refusals import CELLS_AT_MOST
from apps.experiments.solving.manifest import MOST_POINTS, Manifest, ManifestWrong, manifest_of
from apps.graders.planning.naming import VARIANTS
from apps.problem_sets.models import ProblemSet
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.ui.sent import whole_number

ROWS_AT_MOST = 200
_GRADERS = [("", "–"), *((name, one.title) for name, one in VARIANTS.items())]
PARTS = ("methods", "teams", "budgets", "scorers")
_SCORERS = [
    ("", "none"),
    ("answer", "final answer"),
    ("accepted", "the method’s own verdict"),
    ("grader", "a grader"),
    ("people", "marks by people"),
]


class Lines(forms.CharField):
    """Lines of TOML, with the line ends of Unix, so that a text which came back from a browser has not changed."""

    widget = forms.Textarea(attrs={"rows": 2})

    def to_python(self, value: Any) -> str:
        """The text."""
        return (super().to_python(value) or "").replace("\r\n", "\n")


class SolvingForm(forms.Form):
    """What is not a row: title, problems, repeats and the like."""

    start_id = forms.UUIDField(required=False, widget=forms.HiddenInput, initial=uuid.uuid4)
    title = forms.CharField(label="Title", max_length=120)
    set = forms.ModelChoiceField(ProblemSet.objects.all(), label="Problem set", to_field_name="slug", empty_label=None)
    split = forms.CharField(label="Split", required=False, max_length=40, help_text="Empty: all problems.")
    names = forms.CharField(
        label="Only these problems", required=False, max_length=4_000, help_text="Names in the set, separated by commas."
    )
    repeats = forms.IntegerField(label="Repeats", min_value=1, max_value=1024, initial=1, help_text="Runs of each cell.")
    seed = forms.IntegerField(label="Seed", min_value=0, initial=0)
    at_once = forms.IntegerField(label="Cells at a time", min_value=1, max_value=1024, initial=4)
    baseline = forms.CharField(
        label="Baseline", required=False, max_length=60, help_text="Name of the method with which the others are compared."
    )
    take_over = forms.BooleanField(label="Use equal runs that exist", required=False, initial=True)
    curves = forms.BooleanField(label="Score earlier answers too, for scores at smaller budgets", required=False)
    prices = Lines(
        label="Prices", required=False,
        help_text='Per million tokens, one model a line: big = { input = 0.5, output = 2, date = "2026-11-01" }.',
    )  # fmt: skip

    def clean_prices(self) -> dict[str, Any]:
        """The prices by alias."""
        return _toml(self.cleaned_data["prices"])


class MethodForm(forms.Form):
    name = forms.CharField(label="Name", max_length=60, required=False, help_text="A row without a name does not count.")
    scaffold = forms.ChoiceField(label="Scaffold")
    preset = forms.CharField(label="Preset", required=False, max_length=60, help_text="Empty: the scaffold’s own values.")
    params = Lines(label="Parameters", required=False, help_text="One a line, as in rounds = 2.")
    max_new_tokens = forms.IntegerField(label="New tokens per call", required=False, min_value=16)
    temperature = forms.FloatField(label="Temperature", required=False, min_value=0, max_value=2)

    def __init__(self, *args: Any, aliases: Mapping[str, Alias], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _choices(self, "scaffold", [(name, one.title) for name, one in SCAFFOLDS.items()])

    def clean_params(self) -> dict[str, Any]:
        """The parameters as TOML values."""
        return _toml(self.cleaned_data["params"])


class TeamForm(forms.Form):
    name = forms.CharField(label="Name", max_length=60, required=False)
    alias = forms.ChoiceField(label="Model", help_text="Plays all roles that are not named.")
    roles = Lines(label="Other models by role", required=False, help_text='One a line, such as verifier_1 = "big".')

    def __init__(self, *args: Any, aliases: Mapping[str, Alias], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _choices(self, "alias", [(name, one.title) for name, one in aliases.items()])
        self.fields["alias"].required = self.initial.get("alias") != ""  # A stored team may name a model for each role.

    def clean_roles(self) -> dict[str, Any]:
        """The aliases by role."""
        return _toml(self.cleaned_data["roles"])


class BudgetForm(forms.Form):
    tokens = forms.IntegerField(label="Tokens", required=False, min_value=1)
    calls = forms.IntegerField(label="Calls", required=False, min_value=1)
    seconds = forms.FloatField(label="Seconds", required=False, min_value=1e-3)
    money = forms.FloatField(label="Money", required=False, min_value=1e-9, help_text="In the currency of the prices below.")

    def __init__(self, *args: Any, aliases: Mapping[str, Alias], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)


class ScorerForm(forms.Form):
    kind = forms.ChoiceField(label="Scorer", choices=_SCORERS, required=False)
    workflow = forms.ChoiceField(label="Grader", required=False, choices=_GRADERS)
    alias = forms.ChoiceField(label="Model of the grader", required=False)
    sample = forms.IntegerField(
        label="Cells that people mark",
        required=False,
        min_value=0,
        max_value=CELLS_AT_MOST,
        help_text="Of each method, drawn at random. Empty: all.",
    )
    points = forms.IntegerField(label="Points by people", required=False, min_value=1, max_value=1000,
                                help_text=f"At most. Empty: {MOST_POINTS}.")  # fmt: skip

    def __init__(self, *args: Any, aliases: Mapping[str, Alias], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _choices(self, "alias", [("", "–"), *((name, one.title) for name, one in aliases.items())])
        _choices(self, "workflow", _GRADERS)


_FIELDS = ("title", "repeats", "seed", "at_once", "baseline", "take_over", "curves", "prices")
_ROWS = {"methods": MethodForm, "teams": TeamForm, "budgets": BudgetForm, "scorers": ScorerForm}
_SETS = {name: forms.formset_factory(row, extra=0, max_num=ROWS_AT_MOST, validate_max=True) for name, row in _ROWS.items()}


class Builder:
    """All forms of the builder: sent, or filled with `fields` and with `rows` by part."""

    form_class: type[SolvingForm] = SolvingForm

    def __init__(
        self,
        aliases: Mapping[str, Alias],
        data: QueryDict | None,
        *,
        fields: Mapping[str, Any] | None = None,
        rows: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    ) -> None:
        self.aliases, self.data, self.trouble = aliases, data, ""
        sent = None if data is None else _with_one_more(data)
        self.form = self.form_class(sent, initial=dict(fields or {}))
        first = rows or {}
        extra: dict[str, Any] = {"form_kwargs": {"aliases": aliases}}
        self.rows = {part: _SETS[part](sent, initial=first.get(part), prefix=part, **extra) for part in PARTS}

    @property
    def asks_to_start(self) -> bool:
        """Whether the request starts or plans the experiment, instead of asking for a row or an estimate."""
        return self.data is not None and (self.data.get("action") == "start" or self.asks_to_rehearse)

    @property
    def asks_to_rehearse(self) -> bool:
        """Whether the experiment is to be planned and rehearsed first."""
        return self.data is not None and self.data.get("action") == "rehearse"

    def manifest(self) -> Manifest | None:
        """The manifest of valid forms; None with the errors in the forms or in `trouble`."""
        if not all([self.form.is_valid(), *(rows.is_valid() for rows in self.rows.values())]):
            return None
        try:
            return manifest_of(
                {name: self.form.cleaned_data[name] for name in _FIELDS}
                | {"problems": self.problems()}
                | {part: self.read(part) for part in PARTS}
            )
        except ManifestWrong as error:
            self.trouble = str(error)
            return None

    def problems(self) -> dict[str, Any]:
        """The chosen problems of the newest version of the set."""
        given = self.form.cleaned_data
        names = tuple(name.strip() for name in given["names"].split(",") if name.strip())
        return {"set": str(given["set"].versions.first()), "split": given["split"], "names": names}

    def read(self, part: str) -> list[dict[str, Any]]:
        """The rows of a part that count; for budgets one without a limit if there is none."""
        rows = [row_read(part, row.cleaned_data) for row in self.rows[part] if row_counts(part, row.cleaned_data)]
        return rows or ([{}] if part == "budgets" else [])


def builder_new(
    aliases: Mapping[str, Alias], data: QueryDict | None, initial: Mapping[str, Any], preset: Preset | None
) -> Builder:
    """The builder of a new experiment: sent, or filled with `initial` and with a preset."""
    if data is not None:
        return Builder(aliases, data)
    alias = next(iter(aliases), "")
    first: dict[str, Any] = {part: [{}] for part in PARTS}
    first |= {"methods": [{"name": "single", "scaffold": "single_call"}], "teams": [{"name": alias}]}
    fields = dict(initial) | (preset.fields() if preset else {})
    if preset and (needed := preset.found_in(dict(ProblemSet.objects.values_list("slug", "title")))):
        fields.setdefault("set", needed[0])
    return Builder(aliases, None, fields=fields, rows=first | (preset.rows(alias) if preset else {}))


def row_counts(part: str, row: Mapping[str, Any]) -> bool:
    """Whether a row counts: methods and teams with a name, scorers of a kind, budgets with a limit."""
    key = {"methods": "name", "teams": "name", "scorers": "kind"}.get(part)
    return bool(row.get(key) if key else any(row.values()))


def row_read(part: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the form as one of the manifest."""
    return _READ.get(part, dict)(row)


def _team(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": row["name"], "roles": {**({"": row["alias"]} if row["alias"] else {}), **row["roles"]}}


def _scorer(row: Mapping[str, Any]) -> dict[str, Any]:
    kind, workflow, alias = row["kind"], row["workflow"], row["alias"]
    if kind == "people":
        return {"name": kind, "kind": kind, "sample": row["sample"] or 0, "points": row["points"] or MOST_POINTS}
    if kind != "grader":
        return {"name": "own verdict" if kind == "accepted" else kind, "kind": kind}
    return {
        "name": f"{workflow or 'grader'} by {alias}".removesuffix(" by ")[:60],
        "kind": kind,
        "workflow": workflow,
        "players": {"": alias},
    }


_READ: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {"teams": _team, "scorers": _scorer}


def _toml(text: str) -> dict[str, Any]:
    """The values of lines such as `rounds = 2`, which JSON and both databases can hold."""
    try:
        found = tomllib.loads(text)
        json.dumps(found, allow_nan=False)
    except (ValueError, TypeError, RecursionError) as error:
        raise ValidationError(f'Write one value a line, such as rounds = 2 or name = "text" ({error}).') from error
    if "\\u0000" in json.dumps(found):
        raise ValidationError("A value has the character NUL.")
    return found


def _choices(form: forms.Form, name: str, options: list[tuple[str, str]]) -> None:
    """Give a field its options, and the stored one if it is none of them any more."""
    field, kept = form.fields[name], form.initial.get(name)
    if isinstance(field, forms.ChoiceField):
        field.choices = options if kept is None or kept in dict(options) else [*options, (kept, kept or "–")]


def _with_one_more(data: QueryDict) -> QueryDict:
    """The data with one more row of the part that `action` names (`add-methods`)."""
    part = data.get("action", "").removeprefix("add-")
    if part not in PARTS:
        return data
    changed = data.copy()
    count = whole_number(changed.get(f"{part}-TOTAL_FORMS", ""), 3)
    if count is not None:
        changed[f"{part}-TOTAL_FORMS"] = str(min(count + 1, ROWS_AT_MOST))
    return changed
