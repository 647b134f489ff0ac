"""Forms for determining the quality flags and measuring the difficulty of a problem."""

from django import forms

from apps.preparation.forms import AliasForm
from apps.preparation.quality import attempts_offered
from apps.reasoning.graders.problems.difficulty import ATTEMPTS, ATTEMPTS_AT_MOST, WORKFLOWS
from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.inference.aliases import Alias

SAMPLES_AT_MOST = 33


class QualityForm(AliasForm):
    """The model and the number of samples."""

    prefix = "quality"
    samples = forms.IntegerField(
        label="Samples",
        min_value=1,
        max_value=SAMPLES_AT_MOST,
        initial=5,
        help_text="A flag is raised if more than half of the samples raise it.",
    )


class DifficultyForm(AliasForm):
    """The attempting model, the number of attempts, and their grader."""

    prefix = "difficulty"
    grader_alias = forms.ChoiceField(label="Grading model", help_text="Preferably not the attempting model.")
    attempts = forms.IntegerField(
        label="Attempts", min_value=2, max_value=ATTEMPTS_AT_MOST, initial=ATTEMPTS, help_text="The paper uses 128."
    )
    by = forms.ChoiceField(
        label="Method", required=False, choices=attempts_offered, help_text="Scaffolds need many calls per attempt."
    )
    workflow = forms.ChoiceField(label="Grader", choices=[(name, GRADERS[name].title) for name in WORKFLOWS])

    field_order = ["alias", "by", "attempts", "workflow", "grader_alias"]

    def __init__(self, *args: object, aliases: dict[str, Alias], **kwargs: object) -> None:
        super().__init__(*args, aliases=aliases, **kwargs)
        self.fields["alias"].label = "Attempting model"
        self.fields["alias"].help_text = ""

    def players(self) -> dict[str, Alias]:
        """The models by role of a valid form."""
        return {
            "solver": self.aliases[self.cleaned_data["alias"]],
            "grader": self.aliases[self.cleaned_data["grader_alias"]],
        }
