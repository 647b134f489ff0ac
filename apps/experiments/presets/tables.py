"""Presets: a table of a paper as values for the forms of experiments."""

import functools
import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import model_validator

from apps.experiments.solving.manifest import Method
from apps.reasoning.domain.values import Value

FOLDER = Path(__file__).parent
#: Papers in the order of their pages.
PAPERS = ("intern_s1_mo", "qed_nano", "alpha_apollo", "marsrl", "refgrader")
#: Scorers by the word for them in the files.
_SCORERS: dict[str, dict[str, Any]] = {
    "answer": {"kind": "answer"},
    "grader": {"kind": "grader", "workflow": "single_turn"},
    "people 21": {"kind": "people", "points": 21},
}


class Solving(Value):
    """The part of a manifest that a preset decides. Problems and models are the user's."""

    methods: tuple[Method, ...]
    scorers: tuple[str, ...]
    repeats: int
    baseline: str = ""
    curves: bool = False


class Grading(Value):
    """Graders of a table, by their names, and how often each script is graded."""

    workflows: tuple[str, ...]
    repeats: int = 1


class Preset(Value):
    """A table: what it needs (`sets`), how the pages show it (`reads`), and how it differs from the paper.

    `teams`: names of teams of models. Without them there is one team, and more can be added in the form.
    """

    paper: str
    name: str
    table: str
    title: str
    sets: tuple[str, ...]
    reads: str
    differs: str
    teams: tuple[str, ...] = ()
    solving: Solving | None = None
    grading: Grading | None = None

    @model_validator(mode="after")
    def _is_of_one_kind(self) -> "Preset":
        if (self.solving is None) == (self.grading is None):
            raise ValueError("a table is of solving or of grading")
        return self

    def rows(self, alias: str) -> dict[str, list[dict[str, Any]]]:
        """Initial rows of the builder by part, all roles by `alias`."""
        if self.solving is None:
            return {}
        methods = [one.model_dump() | {"params": params_written(one.params)} for one in self.solving.methods]
        teams = [{"name": name, "alias": alias} for name in self.teams or (alias,)]
        scorers = [_SCORERS[word] | ({"alias": alias} if word == "grader" else {}) for word in self.solving.scorers]
        return {"methods": methods, "teams": teams, "budgets": [{}], "scorers": scorers}

    def fields(self) -> dict[str, Any]:
        """Initial values of the builder's other fields, or of the form of gradings."""
        if self.grading is not None:
            return {"title": self.heading, "workflows": list(self.grading.workflows), "repeats": self.grading.repeats}
        if self.solving is None:
            return {}
        return {"title": self.heading, **self.solving.model_dump(include={"repeats", "baseline", "curves"})}

    def found_in(self, titles: Mapping[str, str]) -> list[str]:
        """Keys of the titles that contain the name of a set that the table needs, in the order of `sets`, then by length."""
        ordered = sorted(titles.items(), key=lambda one: len(one[1]))
        return list(dict.fromkeys(key for name in self.sets for key, title in ordered if _words(name) in _words(title)))

    def other_set(self, title: str) -> str:
        """A warning if the chosen set is none of those that the table needs, by its title; else ""."""
        if self.found_in({"": title}):
            return ""
        return (
            f"{self.paper}, {self.table} needs {' or '.join(self.sets)}. The name of the chosen set, {title}, is another one. "
            "Choose that set, or check that this one has its problems."
        )

    @property
    def heading(self) -> str:
        return f"{self.paper}, {self.table}: {self.title}"


def _words(text: str) -> str:
    """The words of a text, each between two spaces, so that a number is found only as a whole."""
    return " " + re.sub(r"[\W_]+", " ", text.casefold()).strip() + " "


def params_written(params: dict[str, Any]) -> str:
    """Parameters as lines of TOML."""
    return "\n".join(f"{name} = {json.dumps(value)}" for name, value in params.items())


@functools.cache
def presets() -> dict[str, Preset]:
    """All presets by name, in the order of the papers and their tables."""
    found: dict[str, Preset] = {}
    for paper in PAPERS:
        content = tomllib.loads((FOLDER / f"{paper}.toml").read_text(encoding="utf-8"))
        for table in content["tables"]:
            preset = Preset(paper=content["paper"], **table)
            found[preset.name] = preset
    return found
