"""Forms of marking."""

from typing import Any

from django import forms
from django.conf import settings

from apps.contests.models import ContestProblem
from apps.marks.graders.computational import COMPUTATIONAL
from apps.marks.graders.families import NEUTRAL, GraderUnknown, grader_of, label_of, offers, with_players, without_players
from apps.marks.models import MarkingSetup
from apps.marks.setups import Choices, schemes_choosable, schemes_usable, setup_of
from apps.schemes.models import MarkingScheme, VersionStatus

RETIRED = "The scheme of this problem was retired: no mark can be sealed until a version of it is active."
NO_SCHEME = "No scheme: points are typed, from 0 to 7"
#: Fields of model graders, each with that of the models which play its single roles.
PLAYERS = {"grader_one": "players_one", "grader_two": "players_two"}
NO_GRADER = ("", "None")
PLAYERS_LENGTH = 200
PLAYERS_HELP = (
    "For a jury the three models, such as <code>big,small,other</code>. For others single roles, such as "
    "<code>grader=big</code>. Names are those of models.toml. Empty: the model chosen above plays every role."
)


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
    checks_formulas = forms.BooleanField(required=False, label="Formulas are checked by computing")
    grader_one = forms.ChoiceField(
        required=False,
        label="Model grader",
        help_text="Asked once a mark of a script is sealed. It proposes; only people grade.",
    )
    grader_two = forms.ChoiceField(required=False, label="Another model grader")
    players_one = forms.CharField(required=False, max_length=PLAYERS_LENGTH, label="Its models", help_text=PLAYERS_HELP)
    players_two = forms.CharField(
        required=False, max_length=PLAYERS_LENGTH, label="Models of the other one", help_text="Likewise."
    )
    is_neutral = forms.BooleanField(
        required=False, label="They judge a neutral rewriting of the script, which is kept and shown beside it"
    )

    def __init__(self, problem: ContestProblem, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["scheme"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = schemes_choosable(problem)
        chosen = setup_of(problem)
        if chosen is not None and chosen.scheme is not None and chosen.scheme not in schemes_usable(problem):
            field.help_text = RETIRED
        self._problem = problem
        self._asked: list[str] = []
        known = [self.initial.get(name, "") for name in PLAYERS]
        for name in PLAYERS:
            choice = self.fields[name]
            assert isinstance(choice, forms.ChoiceField)
            choice.choices = _grader_choices([one for one in known if one])

    def clean(self) -> dict[str, Any]:
        """Refuse a model grader that cannot look at this problem, such as one that needs a reference solution."""
        values: dict[str, Any] = super().clean() or {}
        scheme = values.get("scheme")
        version = scheme.versions.filter(status=VersionStatus.ACTIVE).first() if scheme else None
        self._asked = []
        for field, players in PLAYERS.items():
            if name := values.get(field):
                try:
                    named = with_players(_in_manner(name, values), values.get(players, ""))
                    self._asked.append(grader_of(named, self._problem.version, version.content if version else None).name)
                except GraderUnknown as unknown:
                    self.add_error(players if values.get(players) else field, str(unknown))
            elif values.get(players):
                self.add_error(players, "Choose the grader whose models these are.")
        return values

    def choices(self) -> Choices:
        """What was chosen. Ask `is_valid` first."""
        values = dict(self.cleaned_data)
        for name in (*PLAYERS, *PLAYERS.values(), "is_neutral"):
            values.pop(name)
        graders = [COMPUTATIONAL] if values.pop("checks_formulas") else []
        return Choices(**values, graders=list(dict.fromkeys([*graders, *self._asked])))

    @staticmethod
    def initial_of(setup: MarkingSetup | None) -> dict[str, Any]:
        """The fields of a setup, or those of a new one."""
        values = vars(Choices(scheme=None))
        if setup is not None:
            values = {name: getattr(setup, name) for name in values}
        chosen = values.pop("graders")
        names = list(settings.MARKING_GRADERS if chosen is None else chosen)
        models = [without_players(name.replace(f"{NEUTRAL}@", "@")) for name in names if ":" in name]
        manners: dict[str, Any] = {
            "checks_formulas": COMPUTATIONAL in names,
            "is_neutral": any(f"{NEUTRAL}@" in name for name in names),
        }
        for (field, players), (name, more) in zip(PLAYERS.items(), models, strict=False):
            manners |= {field: name, players: more}
        return values | manners


def _in_manner(name: str, values: dict[str, Any]) -> str:
    """The name of a model grader, with the neutral rewriting where that was chosen."""
    return name.replace("@", f"{NEUTRAL}@", 1) if name and values.get("is_neutral") else name


def _grader_choices(known: list[str]) -> list[Any]:
    """What may be chosen, by model; what was chosen before stays in the list though it cannot be asked now."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for offer in offers():
        groups.setdefault(offer.group, []).append((offer.name, offer.label))
    there = {name for group in groups.values() for name, _ in group}
    gone = [(name, label_of(name)) for name in known if name not in there]
    return [NO_GRADER, *groups.items(), *([("Cannot be asked now", gone)] if gone else [])]
