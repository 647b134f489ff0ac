"""Forms of the circle: a checkpoint gets a name, is compared with its parent, and somebody decides."""

import uuid
from typing import Any

from django import forms

from apps.accounts.models import User
from apps.learning.comparing import problems_compare, toy_compare
from apps.learning.models import Comparison, ModelState, TrainedModel, TrainingJob
from apps.learning.recipes import TOYS
from apps.learning.registering import engines, model_register
from apps.learning.taught import problems_taught
from apps.problems.access import library_of
from apps.problems.models import Problem
from apps.reasoning.graders.difficulty import WORKFLOWS
from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.inference.aliases import Alias

MOST_PROBLEMS = 200


class RegisterForm(forms.Form):
    """A checkpoint's name, and the engine that serves it."""

    name = forms.CharField(max_length=60, help_text="Small letters, digits, “-” and “_”: the alias that runs name.")
    like = forms.ChoiceField(
        label="Served by",
        required=False,
        help_text="An adapter is loaded beside that alias’ model, a whole model gets its settings. Choose its parent.",
    )

    def __init__(self, *args: Any, job: TrainingJob, **more: Any) -> None:
        super().__init__(*args, **more)
        field = self.fields["like"]
        assert isinstance(field, forms.ChoiceField)
        none = "Nothing yet: it is compared on a toy"
        field.choices = [("", none), *((name, f"{one.title} ({name})") for name, one in engines().items())]
        self.job = job

    def register(self, user: User, step: int) -> TrainedModel:
        """Of a valid form. Raises `NotRegistered`."""
        values = self.cleaned_data
        return model_register(user=user, job=self.job, step=step, name=values["name"], like=values["like"])


class ToyForm(forms.Form):
    """The same items of a toy for both."""

    prefix = "toy"
    start_id = forms.UUIDField(widget=forms.HiddenInput, required=False)
    toy = forms.ChoiceField(choices=[(card.name, card.title) for card in TOYS.values()])
    items = forms.IntegerField(min_value=2, max_value=2000, initial=64, help_text="Each a problem with a group of attempts.")
    seed = forms.IntegerField(min_value=0, max_value=2**31 - 1, initial=1000, help_text="Another than the training’s.")

    def __init__(self, *args: Any, model: TrainedModel, **more: Any) -> None:
        more.setdefault("initial", {"start_id": uuid.uuid4(), "toy": model.job.toy or "copy"})
        super().__init__(*args, **more)
        self.model = model

    def start(self, user: User) -> Comparison:
        """Of a valid form. Raises `NotComparable`."""
        return toy_compare(model=self.model, user=user, **self.cleaned_data)


class ProblemsForm(forms.Form):
    """The same problems, seeds and budget for both; ordinary runs attempt and grade."""

    prefix = "problems"
    start_id = forms.UUIDField(widget=forms.HiddenInput, required=False)
    problems = forms.ModelMultipleChoiceField(
        queryset=Problem.objects.none(), help_text="Held out from training; the interval is over problems, so take many."
    )
    attempts = forms.IntegerField(label="Attempts a problem", min_value=2, max_value=128, initial=8)
    workflow = forms.ChoiceField(label="Grader", choices=[(name, GRADERS[name].title) for name in WORKFLOWS])
    with_learned = forms.BooleanField(
        label="Also problems that it learned from", required=False, help_text="They measure what it remembers."
    )
    grader = forms.ChoiceField(label="Model that grades", help_text="The same for both; best neither of the two.")
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
        """So many that both models' runs are started in one request."""
        found = self.cleaned_data["problems"]
        if len(found) > MOST_PROBLEMS:
            raise forms.ValidationError(f"Take at most {MOST_PROBLEMS} problems.")
        return found

    def clean(self) -> dict[str, Any]:
        """Problems that it was trained on are taken where that is wanted."""
        data = super().clean() or {}
        learned = [] if data.get("with_learned") else problems_taught(self.model, data.get("problems") or ())
        if learned:
            names = ", ".join(problem.title for problem in learned[:5]) + (" and others" if len(learned) > 5 else "")
            words = "It, or what it was trained from, learned from"
            self.add_error(
                "problems", f"{words} {len(learned)} of these: {names}. Take others, or tick that they count as well."
            )
        return data

    def start(self, user: User) -> Comparison:
        """Of a valid form. Raises `NotComparable`."""
        del self.cleaned_data["with_learned"]
        return problems_compare(model=self.model, user=user, **self.cleaned_data)


class DecisionForm(forms.Form):
    """Promote or reject, with the reason for the record."""

    state = forms.ChoiceField(choices=[(ModelState.PROMOTED, "promote"), (ModelState.REJECTED, "reject")])
    reason = forms.CharField(max_length=4000, widget=forms.Textarea(attrs={"rows": 3}), help_text="For the record.")
