"""Forms of marking."""

from typing import Any

from django import forms

from apps.contests.models import ContestProblem
from apps.marks.models import MarkingSetup
from apps.marks.setups import Choices, schemes_usable
from apps.schemes.models import MarkingScheme

NO_SCHEME = "No scheme: points are typed, from 0 to 7"


class SetupForm(forms.Form):
    """How a problem is marked."""

    scheme = forms.ModelChoiceField(MarkingScheme.objects.none(), required=False, empty_label=NO_SCHEME, label="Marking scheme")
    markers = forms.TypedChoiceField(
        choices=((1, "One"), (2, "Two, blind to each other")), coerce=int, label="Markers of a script"
    )
    asks_place = forms.BooleanField(required=False, label="Points between none and all need a verdict or a comment at a step")
    unrevealed_percent = forms.IntegerField(
        min_value=0,
        max_value=100,
        label="Scripts without suggestions, in percent",
        help_text="Drawn. On these nobody is shown what a grader suggests, so that its influence can be measured.",
    )
    remark_percent = forms.IntegerField(
        min_value=0,
        max_value=100,
        label="Settled scripts that come back, in percent",
        help_text="Unannounced, to see whether a marker stays the same.",
    )
    needs_calibration = forms.BooleanField(required=False, label="Nobody marks before the calibration scripts")

    def __init__(self, problem: ContestProblem, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["scheme"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = schemes_usable(problem)

    def choices(self) -> Choices:
        """What was chosen. Ask `is_valid` first."""
        return Choices(**self.cleaned_data)

    @staticmethod
    def initial_of(setup: MarkingSetup | None) -> dict[str, Any]:
        """The fields of a setup, or those of a new one."""
        if setup is None:
            return vars(Choices(scheme=None))
        return {name: getattr(setup, name) for name in vars(Choices(scheme=None))}
