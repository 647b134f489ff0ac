"""Forms of contests: settings, a problem, a coach, students, a group of them."""

from typing import Any

from django import forms
from django.conf import settings

from apps.accounts.access import group_visible_to
from apps.accounts.models import StudentGroup, User
from apps.contests.models import EXTERNAL_LENGTH, LABEL_LENGTH, NAME_LENGTH, TITLE_LENGTH, Contest, PointStep
from apps.contests.services import Settings
from apps.problems.access import library_of
from apps.problems.models import Problem

STUDENTS_AT_ONCE = 500
_MOMENT = "%Y-%m-%dT%H:%M"


class _MomentField(forms.DateTimeField):
    """A moment in the server's time zone, by the browser's own picker."""

    def __init__(self, **options: Any) -> None:
        widget = forms.DateTimeInput(attrs={"type": "datetime-local"}, format=_MOMENT)
        super().__init__(widget=widget, input_formats=[_MOMENT, f"{_MOMENT}:%S"], required=False, **options)


class ContestForm(forms.Form):
    """The settings of a contest."""

    title = forms.CharField(max_length=TITLE_LENGTH, help_text="Such as: Selection test 2.")
    opens_at = _MomentField(label="Opens", help_text=f"{settings.TIME_ZONE}. Empty: as soon as you open it.")
    closes_at = _MomentField(label="Closes", help_text=f"{settings.TIME_ZONE}. Empty: until marking begins.")
    point_step = forms.ChoiceField(choices=PointStep.choices, label="Points")
    is_anonymous = forms.BooleanField(
        required=False,
        initial=True,
        label="Anonymous",
        help_text="Markers see random paper numbers. Stays on once the contest was opened.",
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        opens, closes = cleaned.get("opens_at"), cleaned.get("closes_at")
        if opens and closes and opens >= closes:
            self.add_error("closes_at", "It closes before it opens.")
        return cleaned

    def settings(self) -> Settings:
        """What was chosen; after `is_valid`."""
        return Settings(**self.cleaned_data)

    @staticmethod
    def initial_of(contest: Contest) -> dict[str, Any]:
        """The form's values of a contest."""
        return {name: getattr(contest, name) for name in ("title", "opens_at", "closes_at", "point_step", "is_anonymous")}


class ProblemForm(forms.Form):
    """A problem of the library, its label and its captain."""

    problem = forms.ModelChoiceField(Problem.objects.none(), empty_label="choose one")
    label = forms.CharField(max_length=LABEL_LENGTH, required=False, help_text="Such as: 1 or A2. Empty: the next number.")
    captain = forms.ModelChoiceField(User.objects.none(), required=False, empty_label="none")

    def __init__(self, contest: Contest, user: User, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        used = contest.problems.values("problem")
        _choices(self, "problem", library_of(user).exclude(pk__in=used))
        _choices(self, "captain", User.objects.filter(coached__contest=contest))


class CoachForm(forms.Form):
    """A coach by user name."""

    username = forms.CharField(max_length=150, label="User name")
    may_reveal = forms.BooleanField(required=False, label="May learn who wrote a paper, one at a time and with a reason")
    is_organiser = forms.BooleanField(required=False, label="Organises the contest too")


class StudentsForm(forms.Form):
    """Students by user name, one a line, a school after a comma and an external id after a semicolon."""

    students = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 6, "class": "mono", "spellcheck": "false"}),
        max_length=100_000,
        help_text="One user name a line. A school may follow after a comma, an external id after a semicolon.",
    )

    def clean_students(self) -> list[tuple[User, str, str]]:
        lines = [line for line in self.cleaned_data["students"].splitlines() if line.strip()]
        if len(lines) > STUDENTS_AT_ONCE:
            raise forms.ValidationError(f"At most {STUDENTS_AT_ONCE} at once.")
        rows = [_student(line) for line in lines]
        known = {user.username: user for user in User.objects.filter(username__in=[name for name, *_ in rows], is_active=True)}
        if missing := [name for name, *_ in rows if name not in known]:
            raise forms.ValidationError(f"There is no account {', '.join(missing[:10])}. Nobody was added.")
        return [(known[name], school, external_id) for name, school, external_id in rows]


def _student(line: str) -> tuple[str, str, str]:
    """`user name, school; external id`, of which the last two may be left out."""
    rest, _, external_id = line.partition(";")
    name, _, school = rest.partition(",")
    return name.strip(), school.strip()[:NAME_LENGTH], external_id.strip()[:EXTERNAL_LENGTH]


class RosterGroupForm(forms.Form):
    """A group of students to enter."""

    group = forms.ModelChoiceField(
        StudentGroup.objects.none(),
        to_field_name="public_id",
        empty_label="choose one",
        help_text="All its students, or nobody. Who takes part already stays as they are.",
    )

    def __init__(self, user: User, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        _choices(self, "group", group_visible_to(user))


def _choices(form: forms.Form, name: str, rows: Any) -> None:
    field = form.fields[name]
    assert isinstance(field, forms.ModelChoiceField)
    field.queryset = rows
