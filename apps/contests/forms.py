"""Forms of contests: settings, problem, coach, students and group of students."""

from collections import Counter
from datetime import datetime
from typing import Any

from django import forms
from django.conf import settings
from django.utils import timezone

from apps.accounts.access import group_visible_to
from apps.accounts.models import StudentGroup, User
from apps.accounts.selectors import people_named
from apps.contests.entering import Pasted
from apps.contests.models import (
    EXTERNAL_LENGTH,
    LABEL_LENGTH,
    NAME_LENGTH,
    TITLE_LENGTH,
    Contest,
    ContestKind,
    ContestProblem,
    PointStep,
)
from apps.contests.services import Settings
from apps.problems.access import library_of
from apps.problems.models import Problem
from apps.ui.zones import zone_names, zone_of

STUDENTS_AT_ONCE = 500
_MOMENT = "%Y-%m-%dT%H:%M"


class _MomentField(forms.DateTimeField):
    """A date and time in the current time zone, entered with the browser's picker.

    `kept`: the stored time. Its unchanged text means this time, with its seconds, also in an hour that occurs twice.
    """

    kept: datetime | None = None

    def __init__(self, **options: Any) -> None:
        widget = forms.DateTimeInput(attrs={"type": "datetime-local"}, format=_MOMENT)
        super().__init__(widget=widget, input_formats=[_MOMENT, f"{_MOMENT}:%S"], required=False, **options)

    def to_python(self, value: Any) -> datetime | None:
        if self.kept is not None and value == timezone.localtime(self.kept).strftime(_MOMENT):
            return self.kept
        return super().to_python(value)


def _times_keep(form: forms.Form, row: Contest | ContestProblem | None) -> None:
    for name in ("opens_at", "closes_at"):
        field = form.fields[name]
        assert isinstance(field, _MomentField)
        field.kept = getattr(row, name, None)


def _zones() -> list[tuple[str, str]]:
    return [("", f"as the server: {settings.TIME_ZONE}"), *((name, name.replace("_", " ")) for name in zone_names())]


class ContestForm(forms.Form):
    """The settings of a contest; `contest` is the one that is changed."""

    title = forms.CharField(max_length=TITLE_LENGTH, help_text="For example: Selection test 2")
    kind = forms.ChoiceField(
        choices=[choice for choice in ContestKind.choices if choice[0] != ContestKind.PRACTICE],
        initial=ContestKind.CONTEST,
        required=False,
        help_text="On a training sheet, coaches read and comment while it is open, and students hand in newer versions. "
        "A sheet does not hide its problems in the library. You cannot change this after the opening.",
    )
    time_zone = forms.ChoiceField(
        choices=_zones, required=False, label="Time zone", help_text="Pages, files and PDFs show the contest's times in it."
    )
    opens_at = _MomentField(label="Opens", help_text="In the time zone above. Leave empty to open at once.")
    closes_at = _MomentField(label="Closes", help_text="In the time zone above. Leave empty: open until marking begins.")
    point_step = forms.ChoiceField(choices=PointStep.choices, label="Points")
    is_anonymous = forms.BooleanField(
        required=False,
        initial=True,
        label="Anonymous",
        help_text="Markers see random paper numbers. You cannot switch this off after the contest was opened.",
    )

    def __init__(self, *args: Any, contest: Contest | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        _times_keep(self, contest)

    def full_clean(self) -> None:
        """Read the times in the zone that was sent with them."""
        with timezone.override(zone_of(str(self.data.get(self.add_prefix("time_zone"), "")))):
            super().full_clean()

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        cleaned["kind"] = cleaned.get("kind") or ContestKind.CONTEST
        opens, closes = cleaned.get("opens_at"), cleaned.get("closes_at")
        if opens and closes and opens >= closes:
            self.add_error("closes_at", "The closing time must be after the opening time.")
        return cleaned

    def settings(self) -> Settings:
        """The validated settings; call `is_valid` first."""
        return Settings(**self.cleaned_data)

    @staticmethod
    def initial_of(contest: Contest) -> dict[str, Any]:
        """Initial values of the form for a contest."""
        names = ("title", "kind", "time_zone", "point_step", "is_anonymous")
        times = {"opens_at": contest.opens_at, "closes_at": contest.closes_at}
        local = {name: timezone.make_naive(at, contest.zone) if at else None for name, at in times.items()}
        return {name: getattr(contest, name) for name in names} | local


class TimesForm(forms.Form):
    """The own times of a problem on a sheet, in the zone of the sheet; empty for those of the sheet."""

    opens_at = _MomentField(label="Opens")
    closes_at = _MomentField(label="Closes")

    def __init__(self, row: ContestProblem, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        _times_keep(self, row)


class ProblemForm(forms.Form):
    """A problem of the library, its label and its captain."""

    problem = forms.ModelChoiceField(Problem.objects.none(), empty_label="Choose a problem")
    label = forms.CharField(
        max_length=LABEL_LENGTH, required=False, help_text="For example: 1 or A2. Default: the next number."
    )
    captain = forms.ModelChoiceField(User.objects.none(), required=False, empty_label="No captain")

    def __init__(self, contest: Contest, user: User, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        used = contest.problems.values("problem")
        _choices(self, "problem", library_of(user).exclude(pk__in=used))
        _choices(self, "captain", User.objects.filter(coached__contest=contest))


class CoachForm(forms.Form):
    """A coach by user name."""

    username = forms.CharField(max_length=150, label="User name")
    may_reveal = forms.BooleanField(required=False, label="May open identities, one at a time and with a reason")
    is_organiser = forms.BooleanField(required=False, label="Organiser")


class StudentsForm(forms.Form):
    """Students, one per line: user name or e-mail, optional school after a comma, optional external id after a semicolon."""

    students = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 6, "class": "mono", "spellcheck": "false"}),
        max_length=100_000,
        help_text="One student per line: user name or e-mail address, school; external id. The last two are optional.",
    )

    def clean_students(self) -> Pasted:
        lines = [line for line in self.cleaned_data["students"].splitlines() if line.strip()]
        if len(lines) > STUDENTS_AT_ONCE:
            raise forms.ValidationError(f"Add at most {STUDENTS_AT_ONCE} students at once. No students were added.")
        rows = {line.strip(): _student(line) for line in lines}
        known = people_named([name for name, *_ in rows.values()])
        names = Counter(_student(line)[0] for line in lines)
        return Pasted(
            repeated=[name for name, count in names.items() if count > 1],
            known=[(known[name], school, external) for name, school, external in rows.values() if name in known],
            unknown=[(line, *row) for line, row in rows.items() if row[0] not in known],
        )


def _student(line: str) -> tuple[str, str, str]:
    """Parse `user name, school; external id`; the last two are optional."""
    rest, _, external_id = line.partition(";")
    name, _, school = rest.partition(",")
    return name.strip(), school.strip()[:NAME_LENGTH], external_id.strip()[:EXTERNAL_LENGTH]


class RosterGroupForm(forms.Form):
    """A group of students to add."""

    group = forms.ModelChoiceField(
        StudentGroup.objects.none(),
        to_field_name="public_id",
        empty_label="Choose a group",
        help_text="Adds all students of the group or none. Students already in the contest stay unchanged.",
    )

    def __init__(self, user: User, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        _choices(self, "group", group_visible_to(user))


def _choices(form: forms.Form, name: str, rows: Any) -> None:
    field = form.fields[name]
    assert isinstance(field, forms.ModelChoiceField)
    field.queryset = rows
