"""Fields for parameters of single graders: members of an ensemble, runs, spread of a jury.

They are collapsed and hold the defaults. Parameters of a manner (`naming.MANNERS`) are not options.
"""

from collections.abc import Sequence
from typing import Any, get_origin

from django import forms
from pydantic.fields import FieldInfo

from apps.graders.planning.naming import MANNERS, VARIANTS
from apps.reasoning.domain.errors import ParamsError
from apps.reasoning.graders.ensemble import MEMBERS
from apps.reasoning.graders.grader import Grader
from apps.reasoning.graders.material import Material
from apps.reasoning.graders.registry import GRADERS
from apps.ui.param_fields import param_field

PREFIX = "option_"
_BY_MANNER = {name for one in MANNERS.values() for name in one}


def _options() -> dict[str, tuple[Grader, FieldInfo]]:
    found: dict[str, tuple[Grader, FieldInfo]] = {}
    for grader in GRADERS.values():
        for name, info in grader.params.model_fields.items():
            if name not in Material.model_fields and name not in _BY_MANNER:
                found[name] = (grader, info)
    return found


#: Every option by its name, with its grader.
OPTIONS = _options()


def options_for(workflow: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options that belong to this grader."""
    return {name: value for name, value in options.items() if name in OPTIONS and OPTIONS[name][0].name == workflow}


def _field(name: str, info: FieldInfo) -> forms.Field:
    if get_origin(info.annotation) is tuple:
        field: forms.Field = forms.MultipleChoiceField(
            label=info.title or name,
            help_text=info.description or "",
            widget=forms.CheckboxSelectMultiple,
            choices=[(one, GRADERS[one].title) for one in MEMBERS],
        )
        field.initial = list(info.default)
    else:
        field = param_field(name, info)
        field.initial = info.default
    field.required = False
    return field


class OptionsForm(forms.Form):
    """A field `option_<name>` for each of `OPTIONS`. An empty field means the default."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, (_, info) in OPTIONS.items():
            self.fields[PREFIX + name] = _field(name, info)

    @property
    def option_groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The fields by the title of their grader, for a template."""
        groups: dict[str, list[forms.BoundField]] = {}
        for name, (grader, _) in OPTIONS.items():
            groups.setdefault(grader.title, []).append(self[PREFIX + name])
        return list(groups.items())

    @property
    def has_options(self) -> bool:
        """Whether an option is changed or invalid, so that the template expands them."""
        fields = [self[PREFIX + name] for name in OPTIONS]
        return any(field.errors for field in fields) or (self.is_bound and self.is_valid() and bool(self.options()))

    def options(self) -> dict[str, Any]:
        """The changed options of valid fields."""
        found = {}
        for name, (_, info) in OPTIONS.items():
            value = self.cleaned_data.get(PREFIX + name)
            if isinstance(value, list):
                value = tuple(value)
            if value not in (None, "", ()) and value != info.default:
                found[name] = value
        return found

    def refuse_options(self, variants: Sequence[str]) -> None:
        """Add an error to each changed option that belongs to none of these graders, or that its grader rejects."""
        chosen = {VARIANTS[name].grader.name for name in variants}
        for name, value in self.options().items():
            grader, info = OPTIONS[name]
            default = ", ".join(info.default) if isinstance(info.default, tuple) else info.default
            if grader.name not in chosen:
                self.add_error(
                    PREFIX + name, f"Only {grader.title} has this option. Choose that grader, or reset it to {default}."
                )
                continue
            try:
                grader.read_params({"script": "", name: value})
            except ParamsError as error:
                self.add_error(PREFIX + name, str(error))
