"""Form of a sweep: one or two settings with their values."""

import uuid
from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from apps.accounts.models import User
from apps.learning.models import TITLE_LENGTH, Sweep, TrainingJob
from apps.learning.sweeps.grid import Grid, grid_of
from apps.learning.sweeps.settings import in_force, names_of, shown, values_read

PLACES = (1, 2)
LONGEST = 2000


class SweepForm(forms.Form):
    """Settings and values of a sweep; `grid` is the grid of a valid form. For an existing sweep the settings are fixed."""

    start_id = forms.UUIDField(widget=forms.HiddenInput, required=False)
    shown = forms.CharField(widget=forms.HiddenInput, required=False)
    title = forms.CharField(max_length=TITLE_LENGTH, required=False)
    name_1 = forms.CharField(label="Setting")
    values_1 = forms.CharField(label="Values", max_length=LONGEST, help_text="Separated by commas; “off” switches a limit off.")
    name_2 = forms.CharField(label="Second setting", required=False)
    values_2 = forms.CharField(label="Its values", max_length=LONGEST, required=False, help_text="With seeds, means are shown.")

    def __init__(self, data: Any = None, *, template: TrainingJob, user: User, sweep: Sweep | None = None) -> None:
        super().__init__(data, initial={"start_id": uuid.uuid4(), "title": template.title, **_initial(sweep)})
        self.template, self.user, self.sweep = template, user, sweep
        self.grid: Grid | None = None
        self.names = names_of(template.config)
        for place in PLACES:
            choices = [
                ("", "None" if place > 1 else "Choose a setting …"),
                *((name, _choice(name, title)) for name, title in self.names.items()),
            ]
            self.fields[f"name_{place}"].widget = forms.Select(choices=choices)
        if sweep is not None:
            for name in ("title", *(f"name_{place}" for place in PLACES)):
                self.fields[name].disabled = True
            if len(sweep.names) < len(PLACES):
                del self.fields["name_2"], self.fields["values_2"]

    def clean(self) -> dict[str, Any]:
        """Read the settings and their values, and check every job of the grid."""
        data = super().clean() or self.cleaned_data
        chosen: dict[str, list[Any]] = {}
        for place in PLACES:
            name = data.get(f"name_{place}") or ""
            if not name:
                if data.get(f"values_{place}"):
                    self.add_error(f"name_{place}", "Choose the setting of these values.")
                continue
            if name not in self.names:
                self.add_error(f"name_{place}", f"Unknown setting {name}. Valid settings: {', '.join(self.names)}.")
            elif name in chosen:
                self.add_error(f"name_{place}", f"{name} is chosen twice.")
            else:
                self._read(place, name, chosen)
        if not self.errors:
            try:
                self.grid = grid_of(self.template, chosen, user=self.user, sweep=self.sweep)
            except ValidationError as error:
                self.add_error(None, error)
        return data

    def _read(self, place: int, name: str, chosen: dict[str, list[Any]]) -> None:
        field = f"values_{place}"
        if field in self.errors:
            return
        try:
            chosen[name] = values_read(self.cleaned_data.get(field) or "")
        except ValidationError as error:
            self.add_error(field, error)

    @property
    def signature(self) -> str:
        """What a shown grid consists of; a form with another one is shown again before it starts."""
        return "; ".join(cell.label for cell in self.grid.new) if self.grid else ""


def _choice(name: str, title: str) -> str:
    return name if name == title else f"{title} ({name})"


def _initial(sweep: Sweep | None) -> Mapping[str, Any]:
    """Settings of an existing sweep with the values that its jobs have."""
    if sweep is None:
        return {}
    known = [in_force(config) for config in sweep.jobs.order_by("pk").values_list("config", flat=True)]
    found: dict[str, Any] = {"title": sweep.title}
    for place, name in enumerate(sweep.names, 1):
        values = dict.fromkeys(shown(one.get(name)) for one in known)
        found |= {f"name_{place}": name, f"values_{place}": ", ".join(values)}
    return found
