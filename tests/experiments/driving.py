"""Play experiments in the test process: real conductor, runs and journal, a scripted model, no broker and no threads."""

import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from fnmatch import fnmatchcase

import pytest

from apps.accounts.models import User
from apps.experiments.advancing import conduct_once
from apps.experiments.models import Experiment, ExperimentState
from apps.experiments.scripts import Chosen
from apps.experiments.services import ExperimentDraft, experiment_create
from apps.graded_sets.models import GradedScript, GradedSet, HumanScore
from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.inference.local import LocalDispatcher
from apps.reasoning.inference.scripted import ScriptedBackend
from apps.reasoning.ports import Dispatcher
from apps.reasoning.texts.segmentation import digest_of
from apps.runs.journal.run_journal import JournalWriter, RunJournal
from apps.runs.models import Run
from apps.runs.owners.execution import DispatcherFor, event_sinks, run_drive
from tests.problems.factory import make_problem

SCRIPT = """We have $n^2+n=n(n+1)$, a product of two neighbours.

For $n=1,2,3$ it is even, so it is even for all $n$.

Hence $n^2 + n$ is divisible by $4$."""
Answers = Mapping[str, str | Callable[[GenerationRequest], str]]


class Stage:
    """Drives dispatched runs one after another. `asked`: run and key of each call to a model."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answers: Answers) -> None:
        self.answers = answers
        self.sent: deque[int] = deque()
        self.asked: list[tuple[str, str]] = []
        self.most_at_once = 0
        monkeypatch.setattr("apps.runs.services.orchestrate", type("Sent", (), {"delay": staticmethod(self.sent.append)}))

    def drive_sent(self, at_most: int | None = None) -> int:
        """Drive the dispatched runs and return their number."""
        self.most_at_once = max(self.most_at_once, len(self.sent))
        driven = 0
        writer = JournalWriter(sinks=event_sinks())
        try:
            while self.sent and (at_most is None or driven < at_most):
                run_drive(self.sent.popleft(), dispatcher_for=self._model, writer=writer)
                driven += 1
        finally:
            writer.close()
        return driven

    def play(self, experiment: Experiment) -> Experiment:
        """Conduct and drive until nothing is left to do."""
        while conduct_once() + self.drive_sent():
            pass
        experiment.refresh_from_db()
        return experiment

    @property
    def _model(self) -> DispatcherFor:
        @contextlib.asynccontextmanager
        async def scripted(run: Run, _journal: RunJournal) -> AsyncIterator[Dispatcher]:
            def answer(request: GenerationRequest) -> str:
                self.asked.append((str(run.public_id), request.key))
                found = next(text for pattern, text in self.answers.items() if fnmatchcase(request.key, pattern))
                return found(request) if callable(found) else found

            yield LocalDispatcher({"served": ScriptedBackend(answer)})

        return scripted


def make_set(scripts: int = 3, problems: int = 1, title: str = "A set") -> GradedSet:
    """A set of different scripts on problems with references, each with points by a person."""
    made = GradedSet.objects.create(
        title=title, shape="Lemmascope", credit="A team", licence="CC0", digest=f"{abs(hash(title)):064x}"
    )
    asked = [make_problem(f"{title}, problem {number}").current for number in range(1, problems + 1)]
    for number in range(scripts):
        text = f"{SCRIPT}\n\nVersion {number}."
        script = GradedScript.objects.create(
            graded_set=made, position=number + 1, name=f"S{number + 1}", problem=asked[number % problems],
            problem_name=f"P{number % problems + 1}", author="a model", text=text, digest=digest_of(text),
        )  # fmt: skip
        HumanScore.objects.create(script=script, rater="people", points=number % 8, out_of=7)
    return made


def make_experiment(owner: User, graded_set: GradedSet, *workflows: str, at_once: int = 4, alias: str = "served") -> Experiment:
    """An experiment over all scripts of a set with one model."""
    draft = ExperimentDraft("Trial", Chosen(graded_set=graded_set), workflows or ("single_turn",), (alias,), at_once=at_once)
    return experiment_create(owner=owner, draft=draft)


def is_over(experiment: Experiment) -> bool:
    """Whether every cell has ended."""
    return experiment.state == ExperimentState.DONE
