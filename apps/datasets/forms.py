"""Form of a new version: name, recipe with its options, source of rewards, and runs."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict

from apps.datasets.rewards import JUDGES, judge_choices
from apps.datasets.services import NAME, NAME_RULE, options_read
from apps.recipes.options import Option
from apps.recipes.registry import TRAININGS
from apps.runs.models import Run


class DatasetForm(forms.Form):
    """Form of a new version. `run` fields are the page's check boxes, `chosen` their runs; `o_<name>` are recipe options."""

    name = forms.CharField(
        max_length=60, help_text="Lower-case letters, digits, hyphens. An existing name gets its next version.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )  # fmt: skip
    recipe = forms.ChoiceField(choices=[(name, f"{one.title} ({one.source})") for name, one in TRAININGS.items()])
    judge = forms.ChoiceField(label="Rewards", choices=judge_choices(JUDGES))

    def __init__(self, *args: Any, runs: list[Run], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._by_id = {str(run.public_id): run for run in runs}
        self.chosen: list[Run] = []
        self.options: dict[str, Any] = {}
        chosen = (self.data if self.is_bound else self.initial).get("recipe", "")
        self.algorithm = TRAININGS.get(chosen) or next(iter(TRAININGS.values()))
        for option in self.algorithm.options:
            self.fields[f"o_{option.name}"] = _field(option)

    @property
    def recipe_choices(self) -> list[tuple[str, str]]:
        """All recipes. Choosing another one reloads the page, because its options differ."""
        return [(name, f"{one.title} ({one.source})") for name, one in TRAININGS.items()]

    @property
    def ticked(self) -> set[str]:
        """Ids of the ticked runs; before the form is sent, of those that its address names."""
        return set(self.data.getlist("run")) if isinstance(self.data, QueryDict) else set(self.initial.get("run", ()))

    @property
    def option_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name.startswith("o_")]

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if not NAME.match(name):
            raise ValidationError(NAME_RULE)
        return name

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        self.chosen = [run for name, run in self._by_id.items() if name in self.ticked]
        if not self.chosen:
            self.add_error(None, "Choose at least one run.")
        given = {option.name: data.get(f"o_{option.name}") for option in self.algorithm.options}
        try:
            self.options = options_read(self.algorithm, given | {"judge": data.get("judge", "")})
        except ValidationError as error:
            for name, messages in error.message_dict.items():
                self.add_error(f"o_{name}" if f"o_{name}" in self.fields else None, messages)
        return data


def _field(option: Option) -> forms.Field:
    if option.choices:
        words = [(word, word.capitalize()) for word in option.choices]
        return forms.ChoiceField(
            label=option.label, choices=words, initial=option.default, required=False, help_text=option.help
        )
    more: dict[str, Any] = {"label": option.label, "initial": option.default, "required": False, "help_text": option.help}
    if option.is_whole:
        return forms.IntegerField(min_value=0, max_value=int(option.most), **more)
    return forms.FloatField(min_value=0, max_value=option.most, widget=forms.NumberInput(attrs={"step": "any"}), **more)
