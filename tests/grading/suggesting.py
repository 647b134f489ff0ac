"""Fixtures of model graders for suggestions: scripts of three steps, and a model that answers from a table."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.graders.suggestions import family as suggesting
from apps.marks.models import Mark, MarkingSetup
from apps.marks.setups import cases_prepare
from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.ports import Dispatcher
from tests.graders.grade import SCRIPT
from tests.grading.test_grade_command import MODELS
from tests.marks.factory import claimed, problem_to_mark, script_add, sealed
from tests.reasoning.play import Answer, TableDispatcher

Answers = dict[str, Answer | Callable[[GenerationRequest], Answer]]


class Model:
    """A scripted model. `answers` by call key; `asked`: keys of all calls, in order."""

    def __init__(self) -> None:
        self.answers: Answers = {}
        self.asked: list[str] = []


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch, settings: LazySettings, tmp_path: Path) -> Model:
    settings.MODELS_FILE = tmp_path / "models.toml"
    settings.MODELS_FILE.write_text(MODELS)
    model = Model()

    @asynccontextmanager
    async def served(_aliases: Iterable[Alias]) -> AsyncIterator[Callable[[str, Any], Any]]:
        @asynccontextmanager
        async def one(_run: str, _journal: object) -> AsyncIterator[Dispatcher]:
            dispatcher = TableDispatcher(model.answers)
            try:
                yield dispatcher
            finally:
                model.asked.extend(dispatcher.keys)

        yield one

    monkeypatch.setattr(suggesting, "workers", served)
    return model


def problem_with(user: User, *graders: str, scripts: int = 1, **choices: Any) -> ContestProblem:
    """A problem in marking with these graders in its setup, and scripts of three steps."""
    problem = problem_to_mark(user, scripts=0, **{"unrevealed_percent": 0, **choices})
    for number in range(1, scripts + 1):
        script_add(problem, f"author {number}", SCRIPT if number == 1 else f"{SCRIPT} Version {number}.")
    cases_prepare(problem)
    MarkingSetup.objects.filter(problem=problem).update(graders=list(graders))
    return ContestProblem.objects.select_related("contest", "problem", "version", "captain", "setup").get(pk=problem.pk)


def sealed_with(user: User, *graders: str, **choices: Any) -> Mark:
    """A sealed mark of a problem with these graders."""
    return sealed(claimed(problem_with(user, *graders, **choices), user), user)
