"""Skills of simulated agents by model and role, and difficulties of problems; as TOML or as JSON."""

import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, FiniteFloat, ValidationError

from apps.reasoning.domain.values import Value, first_mistake
from apps.reasoning.rehearsal.chances import gaussian, log_odds, logistic

Chance = Annotated[float, Field(ge=0, le=1)]
Tokens = Annotated[float, Field(ge=1, le=10_000_000)]
#: Roles that judge texts of others.
JUDGES = ("*verifier*", "grader*", "evaluator*", "judge*", "juror*")
#: Spread of the difficulties of problems of which nothing is known.
DIFFICULTY_SPREAD = 1.5


class SkillsWrong(ValueError):
    """The skills are unusable; the message names the field and what to write there."""


class Skill(Value):
    """What one agent can. Chances are from 0 to 1; those that depend on the problem are stated for one that it solves by half.

    `ability`: it solves a problem with chance 1 / (1 + e^(difficulty − ability)), or as `solves` says by problem. `fixes`: it
    turns a wrong solution into a right one. `keeps`: a right solution that it rewrites stays right. `spots`: it rejects a wrong
    solution. `passes`: it passes a right one. `same_again`: it repeats its judgement of the same text. `answer_tokens`,
    `thinking_tokens`: means; `spread`: standard deviation of their logarithm. `unreadable`: an answer without the form asked
    for.
    """

    model_config = ConfigDict(allow_inf_nan=False)

    ability: float = 0.0
    solves: dict[str, Chance] = {}
    fixes: Chance = 0.25
    keeps: Chance = 0.95
    spots: Chance = 0.7
    passes: Chance = 0.85
    same_again: Chance = 0.5
    answer_tokens: Tokens = 1_500
    thinking_tokens: Tokens = 8_000
    spread: float = Field(default=0.5, ge=0, le=3)
    unreadable: Chance = 0.02
    tokens_per_s: float = Field(default=50, ge=0.01)

    def ease(self, problem: str, difficulty: float) -> float:
        """The log-odds to solve a problem."""
        known = self.solves.get(problem)
        return self.ability - difficulty if known is None else log_odds(known)

    def solving(self, problem: str, difficulty: float) -> float:
        """The chance to solve a problem afresh."""
        return logistic(self.ease(problem, difficulty))

    def fixing(self, problem: str, difficulty: float) -> float:
        """The chance to correct a wrong solution: `fixes` in log-odds, plus the ease of the problem."""
        if self.fixes in (0, 1):
            return self.fixes
        return logistic(log_odds(self.fixes) + self.ease(problem, difficulty))


class Part(Value):
    """Skills of the models and roles whose names fit one of the patterns; fields that are not given stay as they are.

    `judgement` replaces `spots` and `passes`. `source` says where the numbers come from.
    """

    models: tuple[str, ...] = ("*",)
    roles: tuple[str, ...] = ("*",)
    judgement: Literal["", "perfect", "always yes"] = ""
    skills: dict[str, Any] = {}
    source: str = "stated"

    def fits(self, model: str, role: str) -> bool:
        """Whether it is about this role of this model."""
        return any(fnmatchcase(model, one) for one in self.models) and any(fnmatchcase(role, one) for one in self.roles)

    @property
    def changes(self) -> dict[str, Any]:
        """The fields of `Skill` that it sets."""
        judges = {"perfect": {"spots": 1.0, "passes": 1.0}, "always yes": {"spots": 0.0, "passes": 1.0}}
        return self.skills | judges.get(self.judgement, {})


GUESS = (
    Part(source="guessed"),
    Part(roles=JUDGES, skills={"answer_tokens": 600, "thinking_tokens": 4_000}, source="guessed"),
    Part(roles=("summarizer", "abstractor", "consolidator"), skills={"thinking_tokens": 1_500}, source="guessed"),
)


class Skills(Value):
    """Skills of all agents: later parts count over earlier ones. `difficulties` by the name of the problem.

    `notes` say where numbers come from and what could not be fitted.
    """

    parts: tuple[Part, ...] = ()
    difficulties: dict[str, FiniteFloat] = {}
    notes: tuple[str, ...] = ()

    def of(self, model: str, role: str) -> Skill:
        """The skill of a model in a role. Raises `SkillsWrong`."""
        values: dict[str, Any] = {}
        for part in (*GUESS, *self.parts):
            if part.fits(model, role):
                values |= part.changes
        return _skill(values)

    def difficulty(self, problem: str) -> float:
        """The difficulty of a problem; one of which nothing is known has a drawn one, the same in every rehearsal."""
        known = self.difficulties.get(problem)
        return DIFFICULTY_SPREAD * gaussian("difficulty", problem) if known is None else known


def _skill(values: Mapping[str, Any]) -> Skill:
    try:
        return Skill.model_validate(dict(values))
    except ValidationError as error:
        raise SkillsWrong(_first(error)) from error


def skills_read(text: str) -> Skills:
    """The skills in a TOML file: tables `[[skills]]` and `[difficulties]`. Raises `SkillsWrong`."""
    try:
        return skills_of(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise SkillsWrong(f"The file is not valid TOML: {error}.") from error


def skills_of(values: Mapping[str, Any]) -> Skills:
    """The skills of the parsed tables. Raises `SkillsWrong` for the first wrong field."""
    if unknown := sorted(set(values) - {"skills", "difficulties"}):
        raise SkillsWrong(f"{unknown[0]}: unknown table. There are skills and difficulties.")
    rows, own = values.get("skills", []), set(Part.model_fields) - {"skills"}
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise SkillsWrong("skills: Write [[skills]] in double brackets.")
    parts = []
    for row in rows:
        skills = {name: value for name, value in row.items() if name not in own}
        _skill(skills)
        parts.append({name: value for name, value in row.items() if name in own} | {"skills": skills})
    try:
        return Skills.model_validate({"parts": parts, "difficulties": values.get("difficulties", {})})
    except ValidationError as error:
        raise SkillsWrong(_first(error)) from error


def _first(error: ValidationError) -> str:
    where, said = first_mistake(error)
    return f"{where or 'skills'}: {said}."
