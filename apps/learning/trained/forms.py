"""Forms of trained models: register a checkpoint, compare it with its parent, promote or reject it."""

import uuid
from typing import Any

from django import forms

from apps.accounts.models import User
from apps.learning.models import Comparison, ModelState, TrainedModel, TrainingJob
from apps.learning.presets import TOYS
from apps.learning.trained.comparing import problems_compare, toy_compare
from apps.learning.trained.registering import engines, model_register
from apps.learning.trained.taught import problems_learned
from apps.problems.access import library_of
from apps.problems.models import Problem
from apps.reasoning.graders.problems.difficulty import WORKFLOWS
from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.inference.aliases import Alias

MOST_PROBLEMS = 200


class RegisterForm(forms.Form):
    """Name of a checkpoint, and the engine that serves it."""

    name = forms.CharField(max_length=60, help_text="Alias for runs: lower-case letters, digits, “-” and “_”.")
    like = forms.ChoiceField(
        label="Served by",
        required=False,
        help_text="Choose the parent’s alias. An adapter is loaded onto that model; a full model gets its settings.",
    )

    def __init__(self, *args: Any, job: TrainingJob, **more: Any) -> None:
        super().__init__(*args, **more)
        field = self.fields["like"]
        assert isinstance(field, forms.ChoiceField)
        none = "No engine: compare on a toy only"
        field.choices = [("", none), *((name, f"{one.title} ({name})") for name, one in engines().items())]
        self.job = job

    def register(self, user: User, step: int) -> TrainedModel:
        """Register the checkpoint of a valid form. Raises `NotRegistered`."""
        values = self.cleaned_data
        return model_register(user=user, job=self.job, step=step, name=values["name"], like=values["like"])


class ToyForm(forms.Form):
    """Comparison on the same items of a toy for both models."""

    prefix = "toy"
    start_id = forms.UUIDField(widget=forms.HiddenInput, required=False)
    toy = forms.ChoiceField(choices=[(card.name, card.title) for card in TOYS.values()])
    items = forms.IntegerField(min_value=2, max_value=2000, initial=64, help_text="Problems, each with a group of attempts.")
    seed = forms.IntegerField(min_value=0, max_value=2**31 - 1, initial=1000, help_text="Different from the training seed.")

    def __init__(self, *args: Any, model: TrainedModel, **more: Any) -> None:
        more.setdefault("initial", {"start_id": uuid.uuid4(), "toy": model.job.toy or "copy"})
        super().__init__(*args, **more)
        self.model = model

    def start(self, user: User) -> Comparison:
        """Start the comparison of a valid form. Raises `NotComparable`."""
        return toy_compare(model=self.model, user=user, **self.cleaned_data)


class ProblemsForm(forms.Form):
    """Comparison by ordinary runs on the same problems, seeds and budget for both models."""

    prefix = "problems"
    start_id = forms.UUIDField(widget=forms.HiddenInput, required=False)
    problems = forms.ModelMultipleChoiceField(
        queryset=Problem.objects.none(), help_text="Problems held out from training. More problems give a narrower interval."
    )
    attempts = forms.IntegerField(label="Attempts per problem", min_value=2, max_value=128, initial=8)
    workflow = forms.ChoiceField(label="Grader", choices=[(name, GRADERS[name].title) for name in WORKFLOWS])
    with_learned = forms.BooleanField(
        label="Include problems it was trained on", required=False, help_text="These measure memory, not progress."
    )
    grader = forms.ChoiceField(label="Grading model", help_text="Grades both; preferably neither of the two.")
    seed = forms.IntegerField(min_value=0, max_value=2**31 - 1, initial=0)

    def __init__(self, *args: Any, model: TrainedModel, known: dict[str, Alias], user: User, **more: Any) -> None:
        more.setdefault("initial", {"start_id": uuid.uuid4()})
        super().__init__(*args, **more)
        self.model = model
        problems, grader = self.fields["problems"], self.fields["grader"]
        assert isinstance(problems, forms.ModelMultipleChoiceField)
        assert isinstance(grader, forms.ChoiceField)
        problems.queryset = library_of(user).order_by("title")
        grader.choices = [(name, one.title) for name, one in known.items()]

    def clean_problems(self) -> Any:
        """Limit the problems, because one request starts the runs of both models."""
        found = self.cleaned_data["problems"]
        if len(found) > MOST_PROBLEMS:
            raise forms.ValidationError(f"Choose at most {MOST_PROBLEMS} problems.")
        return found

    def clean(self) -> dict[str, Any]:
        """Reject problems the model was trained on, unless they were explicitly included."""
        data = super().clean() or {}
        learned = [] if data.get("with_learned") else problems_learned(self.model, data.get("problems") or ())
        if learned:
            names = ", ".join(problem.title for problem in learned[:5]) + (" and others" if len(learned) > 5 else "")
            words = f"This model or one of its ancestors was trained on {len(learned)} of these"
            self.add_error("problems", f"{words}: {names}. Choose others, or include problems it was trained on.")
        return data

    def start(self, user: User) -> Comparison:
        """Start the comparison of a valid form. Raises `NotComparable`."""
        del self.cleaned_data["with_learned"]
        return problems_compare(model=self.model, user=user, **self.cleaned_data)


class DecisionForm(forms.Form):
    """Promotion or rejection, with a recorded reason."""

    state = forms.ChoiceField(choices=[(ModelState.PROMOTED, "promote"), (ModelState.REJECTED, "reject")])
    reason = forms.CharField(max_length=4000, widget=forms.Textarea(attrs={"rows": 3}), help_text="Kept in the record.")
