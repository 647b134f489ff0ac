"""Form fields for parameters of programs, from the type, bounds, title and help of their declaration."""

import types
import typing
from collections.abc import Mapping
from typing import Any

from django import forms
from pydantic.fields import FieldInfo


def param_field(name: str, info: FieldInfo, offered: Mapping[str, str] | None = None) -> forms.Field:
    """A form field for one parameter: a checkbox, a choice, a number within bounds, or a text.

    `offered`: choices with their titles, if the program declares them.
    """
    kind, optional = _kind(info.annotation)
    label, text = info.title or name.replace("_", " ").capitalize(), info.description or ""
    if offered is not None:
        return forms.ChoiceField(label=label, help_text=text, choices=list(offered.items()))
    if kind is bool:
        return forms.BooleanField(label=label, help_text=text, required=False)
    if typing.get_origin(kind) is typing.Literal:
        none = [("", "the scaffold's own")] if optional else []
        options = none + [(word, word.replace("_", " ").capitalize()) for word in typing.get_args(kind)]
        return forms.TypedChoiceField(label=label, help_text=text, required=not optional, choices=options, empty_value=None)
    bounds: dict[str, Any] = {}
    for rule in info.metadata:
        for attribute, argument in (("ge", "min_value"), ("gt", "min_value"), ("le", "max_value"), ("lt", "max_value")):
            if (bound := getattr(rule, attribute, None)) is not None:
                bounds[argument] = bound
    if kind is int:
        return forms.IntegerField(label=label, help_text=text, required=not optional, **bounds)
    if kind is float:
        widget = forms.NumberInput(attrs={"step": "any"})
        return forms.FloatField(label=label, help_text=text, required=not optional, widget=widget, **bounds)
    return forms.CharField(label=label, help_text=text, required=not optional)


def _kind(annotation: Any) -> tuple[type, bool]:
    """The type of a parameter without None, and whether it may be None."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        inner = [kind for kind in typing.get_args(annotation) if kind is not type(None)]
        return inner[0], True
    return annotation, False
