"""Jobs and answers of tools (docs/tools.md). A tool call is queued, journaled and cancelled like a model call.

Every tool answers with the JSON of an `Execution`. Its output is evidence of a run, never a verdict.
"""

import json
from collections.abc import Mapping
from typing import Any, Literal, cast

from pydantic import Field, ValidationError

from apps.reasoning.domain.values import Unscored, Value

#: The built-in alias that runs Python in a sandbox; it does not appear in models.toml.
SANDBOX = "sandbox"

ToolJob = Literal["python", "check_math", "search"]
"""`python`: the content is code written by a model. `check_math`: the content is a `MathJob` as JSON for our own verifier.
`search`: the content is a `SearchJob` as JSON for a search in documentation; no code runs."""

ExecutionError = Literal["", "timeout", "memory", "output", "killed", "exception"]
MathOutcome = Literal["proved", "refuted", "survived", "not_understood", "stopped"]
LemmaScope = Literal["none", "topic", "problem"]
"""Lemmas of earlier runs that a run may search: none, of other problems of the same topic, or also of its own problem."""


class Execution(Value):
    """How one piece of code ended.

    `error` is empty for exit code 0; `exception` for another exit code (the traceback is in `stderr`); `timeout`, `memory` and
    `output` name an exceeded limit; `killed` is any other signal. Output written before the end is always kept; `truncated`
    if it was cut. `exit_code` is negative for a signal and None if the sandbox ended the code. `duration_s` counts from
    submission of the code.
    """

    stdout: str = ""
    stderr: str = ""
    error: ExecutionError = ""
    exit_code: int | None = 0
    duration_s: float = 0.0
    truncated: bool = False


class ToolAnswer(Value):
    """The answer of a tool: `execution`, or the reason why there is none.

    `is_off`: the machine has no working sandbox, or no worker serves the tool; asking again will not help.
    """

    job: ToolJob
    execution: Execution | None = None
    failure: str = ""
    is_off: bool = False

    @property
    def succeeded(self) -> bool:
        """Whether it ended without an error; the success rate of tool calls counts this."""
        return self.execution is not None and not self.execution.error


class MathText(Value):
    """A text to check. Its findings carry the same `id` and `group`."""

    id: str
    text: str
    group: str = ""


class MathJob(Value):
    """A `check_math` job: LaTeX texts under common assumptions.

    Limits count operations, so that findings depend only on the text. `time_s` is a final time limit per text or group, in
    seconds of processor time; a check that exceeds it has the outcome stopped.
    With a `context` text, `assumptions` is empty and the texts of a group are parts of one text: definitions in the context
    and in earlier parts apply to later ones. Groups are independent.
    """

    texts: tuple[MathText, ...]
    assumptions: tuple[str, ...] = ()
    context: str | None = None
    time_s: float = Field(default=120.0, gt=0, le=600)


class MathAnchor(Value):
    """A place in a text of the job, in code points: `text[start:end] == quote`."""

    start: int
    end: int
    quote: str


class MathCounterexample(Value):
    """A point (name to number, as text) where the claim fails, with both sides. Empty for a claim without variables."""

    values: dict[str, str]
    left: str
    right: str


class MathCertificate(Value):
    """The proof of a claim: its method, its lines, the assumptions that it uses, and where it holds ("" for everywhere)."""

    method: str
    steps: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    where: str = ""


class MathFinding(Value):
    """The result for one claim (docs/mathcheck.md). `proved` has a `certificate`, `refuted` a `counterexample`.

    `partial`: another relation of its chain has no result. `tried` describes the `tests`: "n from 1 to 59". `stopped` is no
    result: the final time limit ended the test.
    """

    text_id: str
    anchor: MathAnchor
    kind: str
    outcome: MathOutcome
    reason: str = ""
    tests: int = 0
    tried: str = ""
    counterexample: MathCounterexample | None = None
    certificate: MathCertificate | None = None
    partial: bool = False
    group: str = ""


class MathFindings(Value):
    """The output of `check_math`."""

    findings: tuple[MathFinding, ...]


class SearchJob(Value):
    """A query to the documentation index; an empty `library` searches all. It returns at most `top` passages.

    `scope` limits a search of the library `lemmas`. As a part of the job it is in the hash of the recorded answer: a fork
    with another scope searches again.
    """

    query: str
    library: str = ""
    top: int = Field(default=4, ge=1, le=20)
    scope: LemmaScope = Field(default="none", exclude_if=lambda scope: scope == "none")


class LemmaOrigin(Value):
    """Where a found lemma was accepted: the run's public id, the lemma's id in it, its name for people, and its verdict."""

    run: str
    lemma: str
    name: str
    verdict: str


class SearchHit(Value):
    """A passage: importable name, signature and description. A higher `score` is a better match.

    `origin` is set for a lemma of an earlier run, whose statement is the `text`.
    """

    library: str
    name: str
    signature: str = ""
    text: str
    score: float
    origin: LemmaOrigin | None = Field(default=None, exclude_if=lambda origin: origin is None)


def scope_of(params: Mapping[str, Any]) -> LemmaScope:
    """The lemmas that a run with these parameters of its scaffold may search."""
    return cast(LemmaScope, params.get("earlier_lemmas") or "none")


def read_execution(text: str) -> Execution | None:
    """Read the execution in a tool's answer; None if the text is not one. Pure."""
    try:
        return Execution.model_validate_json(text)
    except ValidationError:
        return None


def read_findings(answer: ToolAnswer) -> tuple[MathFinding, ...] | Unscored:
    """Read the findings of a `check_math` call, ordered by text and place; `Unscored` with the reason otherwise."""
    if answer.execution is None:
        return Unscored(reason=answer.failure or "the check gave no answer")
    if answer.execution.error:
        return Unscored(reason=_ENDED[answer.execution.error])
    try:
        return MathFindings.model_validate_json(answer.execution.stdout).findings
    except ValidationError as error:
        return Unscored(reason=f"the check's answer cannot be read ({type(error).__name__})")


def read_hits(answer: ToolAnswer) -> tuple[SearchHit, ...] | Unscored:
    """Read the passages of a `search` call, best first; `Unscored` with the reason if there is no answer."""
    if answer.execution is None:
        return Unscored(reason=answer.failure or "the search gave no answer")
    try:
        found: dict[str, Any] = json.loads(answer.execution.stdout)
        return tuple(SearchHit.model_validate(hit) for hit in found["hits"])
    except (ValueError, KeyError, TypeError) as error:
        return Unscored(reason=f"the answer of the search cannot be read ({type(error).__name__})")


_ENDED: dict[ExecutionError, str] = {
    "timeout": "the check took too long and was stopped",
    "memory": "the check exceeded its memory limit",
    "output": "the check exceeded its output limit",
    "killed": "the check was ended by a signal",
    "exception": "the check failed",
}
