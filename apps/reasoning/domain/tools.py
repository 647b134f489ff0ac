"""What tools are asked and what they answer (docs/tools.md). A tool call is queued, journaled and cancelled as a model's.

Every tool answers the JSON of an `Execution`. What is printed there is evidence of a run, never a verdict.
"""

import json
from typing import Any, Literal

from pydantic import Field, ValidationError

from apps.reasoning.domain.values import Unscored, Value

#: The alias that runs Python behind a fence. It stands in no models.toml.
SANDBOX = "sandbox"

ToolJob = Literal["python", "check_math", "search"]
"""`python`: the content is code of a model. `check_math`: the content is a `MathJob` as JSON, and our own verifier runs.
`search`: the content is a `SearchJob` as JSON; documentation is looked up, and no code runs."""

ExecutionError = Literal["", "timeout", "memory", "output", "killed", "exception"]
MathOutcome = Literal["refuted", "survived", "not_understood", "stopped"]


class Execution(Value):
    """How one piece of code ended.

    `error` is empty where the code ended by itself with exit code 0; `exception` where it raised or ended with another code
    (the traceback is in `stderr`); `timeout`, `memory` and `output` name the limit that it met; `killed` is any other signal.
    The text that was written before is there in every case, `truncated` where it was cut. `exit_code` is negative for a
    signal and None where the sandbox ended the code. `duration_s` counts from when the code was handed over.
    """

    stdout: str = ""
    stderr: str = ""
    error: ExecutionError = ""
    exit_code: int | None = 0
    duration_s: float = 0.0
    truncated: bool = False


class ToolAnswer(Value):
    """What came back from a tool: `execution`, or the reason why there is none.

    `is_off` is True where nothing holds on the machine that should run it, or nobody serves it: asking again will not help.
    """

    job: ToolJob
    execution: Execution | None = None
    failure: str = ""
    is_off: bool = False

    @property
    def succeeded(self) -> bool:
        """It ran to its end without an error; what the success rate of tool calls counts."""
        return self.execution is not None and not self.execution.error


class MathText(Value):
    """One text to check. `id` and `group` come back with its findings."""

    id: str
    text: str
    group: str = ""


class MathJob(Value):
    """What `check_math` is asked: texts with LaTeX in them, under common assumptions.

    The work of a check is limited by counts of operations, so its findings follow from the text alone. `time_s` is the last
    guard on each text or group, in seconds of processor time; what it ends is stopped.

    With `context`, a text too, there are no assumptions, and the texts of one group are the parts of one text: what is said in
    the context or in an earlier part holds in later ones. Groups know nothing of each other.
    """

    texts: tuple[MathText, ...]
    assumptions: tuple[str, ...] = ()
    context: str | None = None
    time_s: float = Field(default=120.0, gt=0, le=600)


class MathAnchor(Value):
    """A place in a text of the job: `text[start:end] == quote`, in code points."""

    start: int
    end: int
    quote: str


class MathCounterexample(Value):
    """A point (name to number, as text) where the claim fails, with both sides there. Empty where the claim has no names."""

    values: dict[str, str]
    left: str
    right: str


class MathFinding(Value):
    """The result for one claim (docs/mathcheck.md). There is no word for "proved".

    `tried` names the `tests`: "n from 1 to 59". `stopped` is no result: the last guard on time ended the test.
    """

    text_id: str
    anchor: MathAnchor
    kind: str
    outcome: MathOutcome
    reason: str = ""
    tests: int = 0
    tried: str = ""
    counterexample: MathCounterexample | None = None
    group: str = ""


class MathFindings(Value):
    """What `check_math` prints."""

    findings: tuple[MathFinding, ...]


class SearchJob(Value):
    """A question to the index of documentation; `library` empty asks all of them. At most `top` passages come back."""

    query: str
    library: str = ""
    top: int = Field(default=4, ge=1, le=20)


class SearchHit(Value):
    """A passage: the name that can be imported, how it is called, what is said of it. A higher `score` is nearer."""

    library: str
    name: str
    signature: str = ""
    text: str
    score: float


def read_execution(text: str) -> Execution | None:
    """The execution behind the text of a tool's answer; None where it is none. Pure."""
    try:
        return Execution.model_validate_json(text)
    except ValidationError:
        return None


def read_findings(answer: ToolAnswer) -> tuple[MathFinding, ...] | Unscored:
    """The findings of a `check_math` call, in the order of the texts and their places; Unscored with the reason otherwise."""
    if answer.execution is None:
        return Unscored(reason=answer.failure or "the check gave no answer")
    if answer.execution.error:
        return Unscored(reason=_ENDED[answer.execution.error])
    try:
        return MathFindings.model_validate_json(answer.execution.stdout).findings
    except ValidationError as error:
        return Unscored(reason=f"the check's answer cannot be read ({type(error).__name__})")


def read_hits(answer: ToolAnswer) -> tuple[SearchHit, ...] | Unscored:
    """The passages that a `search` call found, nearest first; Unscored with the reason where there is no answer."""
    if answer.execution is None:
        return Unscored(reason=answer.failure or "the search gave no answer")
    try:
        found: dict[str, Any] = json.loads(answer.execution.stdout)
        return tuple(SearchHit.model_validate(hit) for hit in found["hits"])
    except (ValueError, KeyError, TypeError) as error:
        return Unscored(reason=f"the answer of the search cannot be read ({type(error).__name__})")


_ENDED: dict[ExecutionError, str] = {
    "timeout": "the check took too long and was stopped",
    "memory": "the check needed more memory than it may have",
    "output": "the check wrote more than it may",
    "killed": "the check was ended by a signal",
    "exception": "the check failed",
}
