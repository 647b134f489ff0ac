"""The manifest of an experiment on solving: its axes and scorers, as TOML or as JSON in the database."""

import datetime
import tomllib
from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from apps.experiments.refusals import CELLS_AT_MOST, instead_of
from apps.reasoning.domain.tools import scope_of
from apps.reasoning.domain.values import Value, first_mistake
from apps.reasoning.scaffolds.spec import Budget, TokenPrice

FORMAT = 1
NAME_LENGTH = 60
#: What people give at most, unless the manifest says otherwise.
MOST_POINTS = 7
#: The scaffold of a method whose results were made elsewhere and imported.
EXTERNAL = "external"
Name = Field(min_length=1, max_length=NAME_LENGTH, pattern=r"^[A-Za-z0-9][\w .+×@-]*$")
#: What a budget and the table count.
Unit = Literal["completion tokens", "tokens", "calls", "seconds", "money"]


#: What to write in a field of another form, by its last name.
_FORMS = {
    "set": "name a version of a set, such as sums@1",
    "name": "begin with a letter or a digit, and use letters, digits, spaces and . + × @ - only",
    "currency": "write three capital letters, such as EUR",
}


class ManifestWrong(ValueError):
    """The manifest is unusable; the message names the field and what to write there."""


class Problems(Value):
    """The problems: a version of a set (`slug@number`), of which a split or some names may be chosen."""

    set: str = Field(pattern=r"^[\w-]+@\d+$")
    split: str = ""
    names: tuple[str, ...] = ()


class Method(Value):
    """A scaffold with a preset and parameters that differ from it. `max_new_tokens` and `temperature` are for all roles."""

    name: str = Name
    scaffold: str
    preset: str = ""
    params: dict[str, Any] = {}
    max_new_tokens: int | None = Field(default=None, ge=16)
    temperature: float | None = Field(default=None, ge=0, le=2)

    @field_validator("params")
    @classmethod
    def _runs_are_independent(cls, params: dict[str, Any]) -> dict[str, Any]:
        """What a search finds depends on earlier runs, those of the same experiment included."""
        if scope_of(params) != "none":
            raise ValueError("earlier_lemmas must be none in an experiment, because its runs would depend on each other")
        return params


class Team(Value):
    """Aliases by role; the alias under "" plays the other roles."""

    name: str = Name
    roles: dict[str, str]


class Scorer(Value):
    """What gives an ended cell a score.

    `answer`: equal final answer; `accepted`: the method's own verdict; `grader`: a grading `workflow` by `players`; `people`:
    marks by people, who give up to `points` and are asked for `sample` cells of each method, team and budget (0: all);
    `imported`: scores from a file.
    """

    name: str = Name
    kind: Literal["answer", "accepted", "grader", "people", "imported"]
    workflow: str = ""
    players: dict[str, str] = {}
    points: int = Field(default=MOST_POINTS, ge=1, le=1000)
    sample: int = Field(default=0, ge=0, le=CELLS_AT_MOST)

    @model_validator(mode="after")
    def _graders_are_named(self) -> Self:
        if (self.kind == "grader") != bool(self.workflow):
            raise ValueError("a scorer of the kind grader, and no other, needs a workflow")
        if self.kind != "people" and (self.points, self.sample) != (MOST_POINTS, 0):
            raise ValueError("a scorer of the kind people, and no other, may have points and a sample")
        return self


class Price(TokenPrice):
    """A price as known on a date."""

    currency: str = Field(default="USD", pattern=r"^[A-Z]{3}$")
    date: datetime.date


class CellBudget(Budget):
    """Limits of a cell. `currency`: of `money`; that of the prices if it is empty."""

    currency: str = Field(default="", pattern=r"^([A-Z]{3})?$", exclude_if=lambda word: not word)

    @property
    def limits(self) -> Budget:
        """The limits of a run."""
        return Budget(tokens=self.tokens, calls=self.calls, seconds=self.seconds, money=self.money)


class Manifest(Value):
    """All that decides the cells of an experiment. Repeats are numbered from 0; their seeds follow from `seed`.

    `curves`: earlier answers of a run are scored too, for scores at smaller budgets. `prices` by alias are all in one currency.
    """

    format: int = FORMAT
    title: str = Field(min_length=1, max_length=120)
    problems: Problems
    methods: tuple[Method, ...] = Field(min_length=1)
    teams: tuple[Team, ...] = Field(min_length=1)
    budgets: tuple[CellBudget, ...] = Field(default=(CellBudget(),), min_length=1)
    repeats: int = Field(default=1, ge=1, le=1024)
    seed: int = Field(default=0, ge=0)
    scorers: tuple[Scorer, ...] = ()
    counts: Unit = "completion tokens"
    baseline: str = ""
    at_once: int = Field(default=4, ge=1, le=1024)
    take_over: bool = True
    curves: bool = False
    prices: dict[str, Price] = {}

    @field_validator("methods", "teams", "scorers")
    @classmethod
    def _names_differ(cls, rows: tuple[Any, ...]) -> tuple[Any, ...]:
        names = [row.name for row in rows]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"the name {twice[0]} is used twice")
        return rows

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.format != FORMAT:
            raise ValueError(
                f"this version reads manifests of format {FORMAT}; this one has format {self.format}. Write format = {FORMAT} "
                "with the fields of that format, or run the version of Lemmascope that wrote it"
            )
        if self.baseline and self.baseline not in {method.name for method in self.methods}:
            raise ValueError(f"the baseline {self.baseline} is no method")
        if len(set(self.budgets)) < len(self.budgets):
            raise ValueError("two budgets are equal")
        if len({price.currency for price in self.prices.values()}) > 1:
            raise ValueError("prices are in two currencies. Convert them to one")
        for budget in self.budgets:
            self._is_priced(budget)
        return self

    def _is_priced(self, budget: CellBudget) -> None:
        """Refuse a limit in money without a price of each model, or in another currency."""
        if budget.money is None:
            if budget.currency:
                raise ValueError("a budget has a currency and no money. Write money, or leave the currency out")
            return
        if missing := sorted({alias for team in self.teams for alias in team.roles.values()} - set(self.prices)):
            raise ValueError(f"a budget limits money, and {missing[0]} has no price. Add it to prices, or limit tokens instead")
        if budget.currency not in ("", self.currency):
            raise ValueError(f"a budget is in {budget.currency}, and the prices are in {self.currency}. Write both in one")

    @property
    def currency(self) -> str:
        """The currency of the prices; "" without prices."""
        return next((price.currency for price in self.prices.values()), "")

    def prices_for(self, number: int) -> dict[str, TokenPrice]:
        """By alias, the prices by which a budget counts money; none for one without such a limit."""
        if self.budgets[number].money is None:
            return {}
        return {alias: TokenPrice(input=price.input, output=price.output) for alias, price in self.prices.items()}

    @property
    def external(self) -> frozenset[str]:
        """Names of the methods whose results were imported; they have no runs here."""
        return frozenset(method.name for method in self.methods if method.scaffold == EXTERNAL)

    @property
    def played(self) -> tuple[Method, ...]:
        """The methods that have runs here."""
        return tuple(method for method in self.methods if method.scaffold != EXTERNAL)

    def with_imports_of(self, old: "Manifest") -> "Manifest":
        """This manifest with the imported methods and scorers of `old`, which no file of a manifest needs to name."""
        methods = tuple(
            one for one in old.methods if one.scaffold == EXTERNAL and one.name not in {m.name for m in self.methods}
        )
        scorers = tuple(one for one in old.scorers if one.kind == "imported" and one.name not in {s.name for s in self.scorers})
        return self.model_copy(update={"methods": (*self.methods, *methods), "scorers": (*self.scorers, *scorers)})

    def adds_to(self, old: "Manifest") -> str:
        """Why this manifest is no extension of `old`; "" if all cells of `old` are cells of it."""
        if (self.seed, self.problems.set.partition("@")[0]) != (old.seed, old.problems.set.partition("@")[0]):
            return "Another set or seed is another experiment. Start a new one."
        for word, mine, theirs in (
            ("method", self.methods, old.methods),
            ("team", self.teams, old.teams),
            ("scorer", self.scorers, old.scorers),
        ):
            if missing := [row for row in theirs if row not in mine]:
                return f"The {word} {missing[0].name} is missing or changed. Keep it, and give a changed one another name."
        if self.budgets[: len(old.budgets)] != old.budgets:
            return "New budgets follow the old ones, in their order. Keep these, or start a new experiment."
        counted = any(budget.money is not None for budget in old.budgets)
        if counted and (changed := [alias for alias, price in old.prices.items() if self.prices.get(alias) != price]):
            return f"Budgets in money count by the price of {changed[0]}. Keep it, or start a new experiment."
        return "The number of repeats can only grow." if self.repeats < old.repeats else ""


def manifest_read(text: str) -> Manifest:
    """The manifest in a TOML file. Raises `ManifestWrong`."""
    try:
        return manifest_of(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ManifestWrong(f"The file is not valid TOML: {error}.") from error


def manifest_of(values: Mapping[str, Any]) -> Manifest:
    """The manifest of parsed values. Raises `ManifestWrong` for the first wrong field."""
    try:
        return Manifest.model_validate(values)
    except ValidationError as error:
        unknown = next((one["loc"] for one in error.errors() if one["type"] == "extra_forbidden"), None)
        if unknown is not None:  # A misspelt field may be the one that is missing.
            where, name = ".".join(map(str, unknown)), str(unknown[-1])
            fields = _PARTS.get(str(unknown[0]), Manifest) if len(unknown) > 1 else Manifest
            raise ManifestWrong(f"{where}: there is no such field. {instead_of(name, list(fields.model_fields))}") from error
        where, said = first_mistake(error)
        if error.errors()[0]["type"] == "string_pattern_mismatch":
            said = _FORMS.get(where.rpartition(".")[2], said)
        raise ManifestWrong(f"{where or 'manifest'}: {said}.") from error


#: By the first name of a field in a table of the manifest, what such a table has.
_PARTS: dict[str, type[Value]] = {
    "problems": Problems,
    "methods": Method,
    "teams": Team,
    "budgets": CellBudget,
    "scorers": Scorer,
    "prices": Price,
}
