"""The builder filled with the manifest of an experiment. Rows that stay as they are keep all that the form does not show."""

import hashlib
from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import QueryDict

from apps.experiments.models import Experiment
from apps.experiments.solving.files.toml_files import toml_lines
from apps.experiments.solving.forms import PARTS, Builder, SolvingForm, row_counts, row_read
from apps.experiments.solving.manifest import Manifest, Scorer, Team
from apps.experiments.solving.services import is_free, manifest_stored
from apps.problem_sets.models import ProblemSetVersion
from apps.reasoning.domain.values import Value
from apps.reasoning.inference.aliases import Alias

NAMES_LENGTH = 400_000
CHANGED = "Nothing was saved: this experiment was changed in another window. Open this page again and change it there."


class ExtensionForm(SolvingForm):
    """Title and seed are fixed. `set` is a version of the same set, the stored one or a later one."""

    names = forms.CharField(
        label="Only these problems",
        required=False,
        max_length=NAMES_LENGTH,
        help_text="Names in the set, separated by commas. Those of the experiment stay.",
    )

    #: Digest of the manifest that the form was filled with.
    based_on = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("title", "seed"):
            self.fields[name].disabled, self.fields[name].help_text = True, "Fixed."
        slug, _, number = self.initial["set"].partition("@")
        versions = ProblemSetVersion.objects.filter(problem_set__slug=slug, number__gte=number).order_by("number")
        self.fields["set"] = forms.ChoiceField(
            label="Version of the set",
            help_text="A later version may add problems.",
            choices=[(f"{slug}@{one}", f"{slug}, version {one}") for one in versions.values_list("number", flat=True)],
        )


class Extension(Builder):
    """The builder of what an experiment gets more: filled with its manifest, or sent."""

    form_class = ExtensionForm

    def __init__(self, experiment: Experiment, aliases: Mapping[str, Alias], data: QueryDict | None) -> None:
        self.old, self.is_free = manifest_stored(experiment), is_free(experiment)
        self._stored = _shown(self.old)
        rows = {part: [_row(one) for one in found] or [{}] for part, found in self._stored.items()}
        super().__init__(aliases, data, fields=_fields(self.old), rows=rows)

    def manifest(self) -> Manifest | None:
        """As in `Builder`, with what no field of the form shows."""
        found = super().manifest()
        if self.is_free and self.form.cleaned_data.get("based_on") not in ("", _digest(self.old)):
            self.trouble = CHANGED
            return None
        return found and found.model_copy(update={"counts": self.old.counts})

    def problems(self) -> dict[str, Any]:
        """The problems by names as they are stored, unless others were written."""
        given = self.form.cleaned_data
        names = tuple(name.strip() for name in given["names"].split(",") if name.strip())
        kept = self.old.problems.names if "names" not in self.form.changed_data else names
        return {"set": given["set"], "split": given["split"], "names": kept}

    def read(self, part: str) -> list[dict[str, Any]]:
        """The stored rows that were not changed, and the others that count."""
        stored, found = self._stored[part], []
        for number, row in enumerate(self.rows[part]):
            if number < len(stored) and not row.has_changed():
                found.append(stored[number].model_dump())
            elif row_counts(part, row.cleaned_data):
                found.append(row_read(part, row.cleaned_data))
        return found or ([{}] if part == "budgets" else [])


def _shown(manifest: Manifest) -> dict[str, tuple[Value, ...]]:
    """The stored rows by part, without imported results, which stay in any case."""
    scorers = tuple(one for one in manifest.scorers if one.kind != "imported")
    rows = (manifest.played, manifest.teams, manifest.budgets, scorers)
    return dict(zip(PARTS, rows, strict=True))


def _fields(manifest: Manifest) -> dict[str, Any]:
    values = manifest.model_dump(include={"title", "repeats", "seed", "at_once", "baseline", "take_over", "curves"})
    prices = toml_lines({alias: price.model_dump(mode="json") for alias, price in manifest.prices.items()})
    chosen = {"set": manifest.problems.set, "split": manifest.problems.split, "names": ", ".join(manifest.problems.names)}
    return values | chosen | {"prices": prices, "based_on": _digest(manifest)}


def _digest(manifest: Manifest) -> str:
    return hashlib.sha256(manifest.model_dump_json().encode()).hexdigest()


def _row(stored: Value) -> dict[str, Any]:
    """A stored row as values of its form."""
    values = stored.model_dump()
    if isinstance(stored, Team):
        others = {role: alias for role, alias in stored.roles.items() if role}
        return {"name": stored.name, "alias": stored.roles.get("", ""), "roles": toml_lines(others)}
    if isinstance(stored, Scorer):
        by_people = {"sample": stored.sample or None, "points": stored.points} if stored.kind == "people" else {}
        return {"kind": stored.kind, "workflow": stored.workflow, "alias": stored.players.get("", "")} | by_people
    return values | ({"params": toml_lines(values["params"])} if "params" in values else {})
