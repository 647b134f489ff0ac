"""Pages for tests, and a scripted model that reads them."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from django.urls import reverse

from apps.contests.models import ContestProblem, Paper
from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.inference.local import LocalDispatcher
from apps.reasoning.inference.scripted import Faults, ScriptedBackend
from apps.reasoning.ports import Dispatcher
from apps.submissions import transcribing
from apps.submissions.intake import PageImage
from apps.submissions.models import Scan, Submission
from apps.submissions.scans import scans_add

BLIND = """
[tutor]
backend = "openai_http"
title = "The tutor"
model = "m"
base_url = "http://localhost:1/v1"
"""
SEEING = """
[reader]
backend = "openai_http"
title = "The reader"
model = "m"
base_url = "http://localhost:1/v1"
vision = true
"""
JPEG = b"\xff\xd8\xff a page"


def models_file(folder: Path, toml: str = BLIND + SEEING) -> Path:
    """A models.toml with one alias that reads images."""
    path = folder / "models.toml"
    path.write_text(toml, encoding="utf-8")
    return path


def pages_given(paper: Paper, problem: ContestProblem, *jpegs: bytes) -> list[Scan]:
    """Add pages to a draft, by default one."""
    scans_add(paper=paper, problem=problem, pages=[PageImage(jpeg, 40, 60) for jpeg in jpegs or (JPEG,)])
    return list(Submission.objects.get(paper=paper, problem=problem).scans.order_by("position"))


def address(problem: ContestProblem, verb: str) -> str:
    """The URL to which the buttons of a page submit the editor's form."""
    return reverse("submissions:transcription", kwargs={"problem_id": problem.public_id, "verb": verb})


def typed(text: str = "", based_on: int = 0, **more: object) -> dict[str, object]:
    """Form data of the editor."""
    return {"text": text, "text_format": "markdown", "based_on": based_on, **more}


def read(
    answer: Callable[[GenerationRequest], str] | str,
    faults: Faults | None = None,
    *,
    vision: bool = True,
    stopped: list[str] | None = None,
    models: Callable[[], dict[str, Alias]] = transcribing.models_for_pages,
) -> int:
    """Transcribe waiting pages with a scripted model that gives this answer."""

    @asynccontextmanager
    async def scripted(_run: str, aliases: Sequence[Alias]) -> AsyncIterator[Dispatcher]:
        backend = ScriptedBackend(answer if callable(answer) else lambda _: answer, faults=faults, vision=vision)
        yield LocalDispatcher({alias.name: backend for alias in aliases})

    return transcribing.pages_work(scripted, (stopped if stopped is not None else []).append, models)
