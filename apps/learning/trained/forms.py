"""Forms of trained models: register a checkpoint, compare it with its parent, promote or reject it."""

import uuid
from typing import Any, Final

from django import forms

from apps.accounts.models import User
from apps.experiments.solving.manifest import Method, Problems, Scorer
from apps.learning.jobs.readers import cannot_ask
from apps.learning.models import Comparison, ModelState, TrainedModel, TrainingJob
from apps.learning.presets import TOYS
from apps.learning.trained.comparing import NotComparable, toy_compare
from apps.learning.trained.measuring import Measurement, models_measure, problems_of
from apps.learning.trained.registering import engines, model_register
from apps.learning.trained.taught import problems_learned
from apps.problem_sets.models import ProblemSet
from apps.reasoning.graders.problems.difficulty import WORKFLOWS
from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.programs.registry import SCAFFOLDS

ANSWER: Final = "answer"


def _methods() -> list[tuple[str, str]]:
    """Presets of all scaffolds as `scaffold/preset`, the single call first."""
    names = sorted(SCAFFOLDS, key=lambda name: name != "single_call")
    presets = [(name, *found) for name in names for found in SCAFFOLDS[name].presets.items()]
    return [(f"{name}/{key}", f"{SCAFFOLDS[name].title}: {one.title}") for name, key, one in presets]


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

    def clean_toy(self) -> str:
        """Reject a toy that cannot ask the model or its parent."""
        toy = str(self.cleaned_data["toy"])
        for model, which in ((self.model.folder, "model"), (self.model.parent, "parent")):
            if reason := cannot_ask(toy, model):
                raise forms.ValidationError(reason.replace("this model", f"this {which}"))
        return toy

    def start(self, user: User) -> Comparison:
        """Start the comparison of a valid form. Raises `NotComparable`."""
        return toy_compare(model=self.model, user=user, **self.cleaned_data)


class ProblemsForm(forms.Form):
    """Comparison by an experiment: one method with either model on the same problems, seeds and repeats."""

    prefix = "problems"
    start_id = forms.UUIDField(widget=forms.HiddenInput, required=False)
    set = forms.ModelChoiceField(ProblemSet.objects.all(), label="Problem set", to_field_name="slug", empty_label=None)
    split = forms.CharField(required=False, max_length=40, help_text="Held out from training. Empty: all problems of the set.")
    method = forms.ChoiceField(choices=_methods)
    repeats = forms.IntegerField(label="Runs of each problem", min_value=1, max_value=128, initial=4)
    scorer = forms.ChoiceField(
        label="Scored by", choices=[(ANSWER, "final answer"), *((name, GRADERS[name].title) for name in WORKFLOWS)]
    )
    grader = forms.ChoiceField(label="Grading model", required=False, help_text="Grades both; preferably neither of the two.")
    with_learned = forms.BooleanField(
        label="Include problems it was trained on", required=False, help_text="These measure memory, not progress."
    )
    seed = forms.IntegerField(min_value=0, max_value=2**31 - 1, initial=0)

    def __init__(self, *args: Any, model: TrainedModel, known: dict[str, Alias], **more: Any) -> None:
        more.setdefault("initial", {"start_id": uuid.uuid4()})
        super().__init__(*args, **more)
        self.model = model
        grader = self.fields["grader"]
        assert isinstance(grader, forms.ChoiceField)
        grader.choices = [(name, one.title) for name, one in known.items()]

    def clean(self) -> dict[str, Any]:
        """Reject a grader without a model, and problems the model was trained on, unless they were explicitly included."""
        data = super().clean() or {}
        if data.get("scorer", ANSWER) != ANSWER and not data.get("grader"):
            self.add_error("grader", "Choose the model that grades.")
        if self.errors:
            return data
        try:
            problems = problems_of(self.measurement(), self.model)
        except NotComparable as error:
            raise forms.ValidationError(str(error)) from error
        learned = [] if data["with_learned"] else problems_learned(self.model, problems)
        if learned:
            names = ", ".join(problem.title for problem in learned[:5]) + (" and others" if len(learned) > 5 else "")
            words = f"This model or one of its ancestors was trained on {len(learned)} of these"
            self.add_error("set", f"{words}: {names}. Choose another split or set, or include problems it was trained on.")
        return data

    def measurement(self) -> Measurement:
        """What a valid form measures."""
        data = self.cleaned_data
        scaffold, _, preset = data["method"].partition("/")
        by = data["scorer"]
        return Measurement(
            problems=Problems(set=str(data["set"].versions.first()), split=data["split"]),
            method=Method(name=scaffold, scaffold=scaffold, preset=preset),
            scorer=Scorer(name=ANSWER, kind=ANSWER)
            if by == ANSWER
            else Scorer(name=f"{by} by {data['grader']}"[:60], kind="grader", workflow=by, players={"": data["grader"]}),
            repeats=data["repeats"],
            seed=data["seed"],
        )

    def start(self, user: User) -> Comparison:
        """Start the comparison of a valid form. Raises `NotComparable`."""
        start_id = self.cleaned_data["start_id"]
        return models_measure(model=self.model, measurement=self.measurement(), user=user, start_id=start_id)


class DecisionForm(forms.Form):
    """Promotion or rejection, with a recorded reason."""

    state = forms.ChoiceField(choices=[(ModelState.PROMOTED, "promote"), (ModelState.REJECTED, "reject")])
    reason = forms.CharField(max_length=4000, widget=forms.Textarea(attrs={"rows": 3}), help_text="Kept in the record.")
