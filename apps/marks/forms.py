"""Forms of marking."""

from typing import Any

from django import forms
from django.conf import settings

from apps.contests.models import ContestProblem
from apps.marks.graders.computational import COMPUTATIONAL
from apps.marks.graders.families import (
    MANNERS,
    MARKS_LABEL,
    GraderUnknown,
    grader_of,
    label_of,
    manners_of,
    offers,
    with_players,
    without_players,
)
from apps.marks.models import MarkingSetup
from apps.marks.setups import Choices, schemes_choosable, schemes_usable, setup_of
from apps.schemes.models import MarkingScheme, VersionStatus

RETIRED = "The scheme of this problem was retired. No mark can be sealed until one of its versions is active."
NO_SCHEME = "No scheme (points are typed, 0 to 7)"
#: Fields of model graders, each with the field for the models of its roles.
PLAYERS = {"grader_one": "players_one", "grader_two": "players_two"}
NO_GRADER = ("", "None")
PLAYERS_LENGTH = 200
PLAYERS_HELP = (
    "Models by role, with names from models.toml, such as <code>grader=big</code>; for a jury its three models, such "
    "as <code>big,small,other</code>. Leave empty to use the model chosen above for every role."
)


class SetupForm(forms.Form):
    """How a problem is marked."""

    scheme = forms.ModelChoiceField(MarkingScheme.objects.none(), required=False, empty_label=NO_SCHEME, label="Marking scheme")
    markers = forms.TypedChoiceField(choices=((1, "One"), (2, "Two, independently")), coerce=int, label="Markers per script")
    asks_place = forms.BooleanField(
        required=False, label="Require a place for partial points: an error, a comment or a tick at a step"
    )
    unrevealed_percent = forms.IntegerField(
        min_value=0,
        max_value=100,
        label="Scripts without suggestions (%)",
        help_text="Random share on which no marker sees suggestions, to measure their influence.",
    )
    remark_percent = forms.IntegerField(
        min_value=0,
        max_value=100,
        label="Re-marks (%)",
        help_text="Share of settled scripts that return to their marker unannounced, to measure consistency.",
    )
    needs_calibration = forms.BooleanField(required=False, label="Require calibration scripts before other scripts")
    checks_formulas = forms.BooleanField(required=False, label="Check formulas by computation")
    grader_one = forms.ChoiceField(
        required=False,
        label="Model grader",
        help_text="Runs after a mark of the script is sealed. It only suggests; people grade.",
    )
    grader_two = forms.ChoiceField(required=False, label="Second model grader")
    players_one = forms.CharField(
        required=False, max_length=PLAYERS_LENGTH, label="Models of the first grader", help_text=PLAYERS_HELP
    )
    players_two = forms.CharField(
        required=False, max_length=PLAYERS_LENGTH, label="Models of the second grader", help_text="As above."
    )
    is_neutral = forms.BooleanField(
        required=False, label="Judge a neutral rewriting of the script, which is stored and shown next to it"
    )
    has_marks = forms.BooleanField(required=False, label=MARKS_LABEL)

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
        """Reject a model grader that does not suit this problem, such as one that needs a reference solution."""
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
                self.add_error(players, "Choose a grader for these models.")
        return values

    def choices(self) -> Choices:
        """The choices of a valid form."""
        values = dict(self.cleaned_data)
        for name in (*PLAYERS, *PLAYERS.values(), *MANNERS):
            values.pop(name)
        graders = [COMPUTATIONAL] if values.pop("checks_formulas") else []
        return Choices(**values, graders=list(dict.fromkeys([*graders, *self._asked])))

    @staticmethod
    def initial_of(setup: MarkingSetup | None) -> dict[str, Any]:
        """Initial values from a setup, or the defaults."""
        values = vars(Choices(scheme=None))
        if setup is not None:
            values = {name: getattr(setup, name) for name in values}
        chosen = values.pop("graders")
        names = list(settings.MARKING_GRADERS if chosen is None else chosen)
        plain = [manners_of(name) for name in names if ":" in name]
        models = [without_players(name) for name, _ in plain]
        manners: dict[str, Any] = {"checks_formulas": COMPUTATIONAL in names}
        manners |= {field: any(field in fields for _, fields in plain) for field in MANNERS}
        for (field, players), (name, more) in zip(PLAYERS.items(), models, strict=False):
            manners |= {field: name, players: more}
        return values | manners


def _in_manner(name: str, values: dict[str, Any]) -> str:
    """The name of a model grader, with the chosen manners."""
    suffixes = "".join(suffix for field, suffix in MANNERS.items() if values.get(field))
    return name.replace("@", f"{suffixes}@", 1) if name else name


def _grader_choices(known: list[str]) -> list[Any]:
    """Available graders, grouped by model; earlier choices stay listed even if they are unavailable now."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for offer in offers():
        groups.setdefault(offer.group, []).append((offer.name, offer.label))
    there = {name for group in groups.values() for name, _ in group}
    gone = [(name, label_of(name)) for name in known if name not in there]
    return [NO_GRADER, *groups.items(), *([("Not available now", gone)] if gone else [])]
