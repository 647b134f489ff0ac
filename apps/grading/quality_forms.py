"""Forms that ask for the quality of a problem and measure its difficulty."""

from django import forms

from apps.grading.preparing_forms import AliasForm
from apps.grading.quality import attempts_offered
from apps.reasoning.graders.difficulty import ATTEMPTS, ATTEMPTS_AT_MOST, WORKFLOWS
from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.inference.aliases import Alias

SAMPLES_AT_MOST = 33


class QualityForm(AliasForm):
    """How often which model is asked."""

    prefix = "quality"
    samples = forms.IntegerField(
        label="Samples",
        min_value=1,
        max_value=SAMPLES_AT_MOST,
        initial=5,
        help_text="A flag stands where more than half raise it.",
    )


class DifficultyForm(AliasForm):
    """Who attempts the problem how often, and how that is graded."""

    prefix = "difficulty"
    grader_alias = forms.ChoiceField(label="Model that grades", help_text="Best another one than the one that attempts.")
    attempts = forms.IntegerField(
        label="Attempts", min_value=2, max_value=ATTEMPTS_AT_MOST, initial=ATTEMPTS, help_text="The paper makes 128."
    )
    by = forms.ChoiceField(
        label="An attempt is", required=False, choices=attempts_offered, help_text="A method costs many calls an attempt."
    )
    workflow = forms.ChoiceField(label="Grader", choices=[(name, GRADERS[name].title) for name in WORKFLOWS])

    field_order = ["alias", "by", "attempts", "workflow", "grader_alias"]

    def __init__(self, *args: object, aliases: dict[str, Alias], **kwargs: object) -> None:
        super().__init__(*args, aliases=aliases, **kwargs)
        self.fields["alias"].label = "Model that attempts it"
        self.fields["alias"].help_text = ""

    def players(self) -> dict[str, Alias]:
        """The models by role of a valid form."""
        return {
            "solver": self.aliases[self.cleaned_data["alias"]],
            "grader": self.aliases[self.cleaned_data["grader_alias"]],
        }
