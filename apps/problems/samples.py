"""Read the files of the sample library. Format: docs/sample_library.md."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from apps.problems.drafts import ProblemDraft, SolutionDraft

ORIGIN = "samples"
FOLDER = Path(__file__).with_name("sample_library")
#: The folder of easy problems with authored attempts.
FIRST_STEPS = "first_steps"
_SOLUTION = "Solution: "
_HINTS = re.compile(r"1\. (.+)\n2\. (.+)\n3\. (.+)")
_ATTEMPT = re.compile(r"Attempt: (right|gap|wrong) \(([0-7])\)(?:.*, step (\d+), sentence (\d+)$)?")


class SampleBroken(ValueError):
    """A file of the sample library is invalid; the message names the file and the error."""


def sample_read(path: Path) -> ProblemDraft:
    """Read a problem from a file. Raises `SampleBroken`."""
    try:
        _, header, body = path.read_text(encoding="utf-8").split("+++\n", 2)
        facts = tomllib.loads(header)
        _, *parts = re.split(r"^## (.+)\n", body, flags=re.MULTILINE)
        sections = {heading.strip(): text.strip() for heading, text in zip(parts[::2], parts[1::2], strict=True)}
        return ProblemDraft(
            title=facts["title"],
            topic=facts["topic"],
            statement=sections["Statement"],
            slug=facts["slug"],
            source=facts.get("source", ""),
            year=facts.get("year"),
            level=facts.get("level", ""),
            answer=facts.get("answer", ""),
            scheme_text=sections.get("Marking scheme", ""),
            solutions=tuple(
                SolutionDraft(text, heading.removeprefix(_SOLUTION))
                for heading, text in sections.items()
                if heading.startswith(_SOLUTION)
            ),
            hints=_hints(sections["Hints"]) if "Hints" in sections else (),
            origin=ORIGIN,
            external_id=facts["slug"],
        )
    except (ValueError, KeyError) as error:
        raise SampleBroken(f"{path.name} is not a valid file of the sample library: {error}") from error


def _hints(section: str) -> tuple[str, ...]:
    found = _HINTS.fullmatch(section)
    if found is None:
        raise ValueError("the hints are not three numbered lines")
    return found.groups()


def sample_library() -> list[ProblemDraft]:
    """Read all problems by file name, easy ones last. Raises `SampleBroken`."""
    return [sample_read(path) for path in (*sorted(FOLDER.glob("*.md")), *sorted((FOLDER / FIRST_STEPS).glob("*.md")))]


@dataclass(frozen=True)
class SampleAttempt:
    """An authored attempt: `kind` is right, gap or wrong; `points` are out of 7.

    `broken_step`, `broken_sentence`: the first broken one, as `texts.segmentation` numbers them; None for a right attempt.
    """

    kind: str
    points: int
    text: str
    broken_step: int | None = None
    broken_sentence: int | None = None

    @property
    def shown(self) -> dict[str, str | int]:
        """What a trial of a model has of it."""
        return {"kind": self.kind, "points": self.points, "text": self.text}


def first_steps() -> dict[str, tuple[SampleAttempt, ...]]:
    """Authored attempts by slug of the easy problem, in the order in which they test models."""
    files = sorted((FOLDER / FIRST_STEPS).glob("*.md"))
    return {path.stem: _attempts(path.read_text(encoding="utf-8")) for path in files}


def _attempts(text: str) -> tuple[SampleAttempt, ...]:
    _, *parts = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)
    headings = ((_ATTEMPT.match(heading), body) for heading, body in zip(parts[::2], parts[1::2], strict=True))
    return tuple(
        SampleAttempt(found[1], int(found[2]), body.strip(), *(int(place) if place else None for place in found.groups()[2:]))
        for found, body in headings
        if found
    )
