"""Training material of a finished run: calls with their tokens, solutions and their verdicts.

It is computed from the run's events and step records and not stored.
"""

from dataclasses import dataclass, field
from typing import Any

from apps.datasets.models import TokenRow
from apps.runs.models import Run

KINDS = (
    "candidate.drafted",
    "candidate.scored",
    "candidate.score_dropped",
    "candidate.judged",
    "memory.stored",
    "proof.drafted",
    "proof.selected",
    "verdict.reached",
    "turn.taken",
    "output.unread",
)


@dataclass(frozen=True)
class Call:
    """One recorded call. `shard` and `row` locate its tokens; `shard` is empty where none were recorded."""

    key: str
    role: str
    alias: str
    rollout: int
    round: int
    prompt_shas: tuple[str, ...]
    text_sha: str
    reasoning_sha: str
    finish_reason: str
    shard: str = ""
    row: int = 0
    sha256: str = ""


@dataclass
class Solution:
    """A candidate or a version of the proof. `scores`: shares of full marks, by report; `votes`: (passes, votes)."""

    id: str
    call: str
    text: str
    parents: tuple[str, ...] = ()
    children: list[str] = field(default_factory=list)
    judged: list[tuple[str, bool]] = field(default_factory=list)
    scores: dict[int, float] = field(default_factory=dict)
    votes: tuple[int, int] | None = None
    accepted: bool | None = None

    @property
    def share(self) -> float | None:
        """Share of passes or points from its verifiers, 0 to 1; None without a verdict."""
        if self.votes is not None:
            return self.votes[0] / self.votes[1]
        if self.scores:
            return sum(self.scores.values()) / len(self.scores)
        if self.judged:
            return sum(passed for _, passed in self.judged) / len(self.judged)
        return None


@dataclass(frozen=True)
class TakenTurn:
    """A turn with the environment: its call, whether its action was unreadable, and whether a called tool succeeded."""

    call: str
    invalid: bool
    tool_ok: bool | None = None


def _taken(body: dict[str, Any]) -> TakenTurn:
    """Turn of an event. The event of an unreadable action looks like a failed tool, but no tool was called."""
    invalid = bool(body["problem"])
    return TakenTurn(body["call"], invalid, None if invalid else body.get("succeeded"))


@dataclass
class Recorded:
    """Training material of one run. `talks`: the solvers' turns, by the candidate they write."""

    run: Run
    calls: dict[str, Call]
    solutions: dict[str, Solution] = field(default_factory=dict)
    talks: dict[str, list[TakenTurn]] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)
    selected: str = ""

    @property
    def has_tokens(self) -> bool:
        return any(call.shard for call in self.calls.values())

    def line(self, solution: Solution) -> list[Solution]:
        """Ancestors of a solution and the solution itself, oldest first; a merge of several starts a new line."""
        found = [solution]
        while len(found[0].parents) == 1 and (parent := self.solutions.get(found[0].parents[0])):
            found.insert(0, parent)
        return found

    def take(self, kind: str, body: dict[str, Any]) -> None:
        """Apply one event of `KINDS`."""
        match kind:
            case "candidate.drafted":
                self._drafted(body["candidate"], body["call"], body["text"], tuple(body["parents"]))
            case "proof.drafted" if not any(one.call == body["call"] for one in self.solutions.values()):
                parents = (body["revises"],) if body["revises"] else ()
                self._drafted(body["proof"], body["call"], body["text"], parents)
            case "turn.taken" if body["role"] != "evaluator":
                self.talks.setdefault(body["about"], []).append(_taken(body))
            case "output.unread":
                self.unread.add(body["call"])
            case "proof.selected":
                self.selected = body["proof"]
                if solution := self.solutions.get(body["proof"]):
                    solution.accepted = body["accepted"]
            case _:
                self._opinion(kind, body)

    def _drafted(self, name: str, call: str, text: str, parents: tuple[str, ...]) -> None:
        self.solutions[name] = Solution(name, call, text, parents)
        for parent in parents:
            if parent in self.solutions:
                self.solutions[parent].children.append(name)

    def _opinion(self, kind: str, body: dict[str, Any]) -> None:
        solution = self.solutions.get(body.get("candidate", body.get("subject", "")))
        if solution is None:
            return
        match kind:
            case "candidate.scored" if body.get("score") is not None:
                solution.scores[body["index"]] = body["score"] / body["scale"]
            case "candidate.score_dropped":
                solution.scores.pop(body["index"], None)
            case "candidate.judged" if body["passed"] is not None:
                solution.judged.append((body["call"], body["passed"]))
            case "memory.stored" if body["valid"]:
                solution.votes = (body["ayes"], body["valid"])
            case "verdict.reached" if body["valid"]:
                solution.votes = (body["passes"], body["valid"])


def recorded_of(run: Run) -> Recorded:
    """Training material of `run`, read with a constant number of queries."""
    found = Recorded(run, _calls(run))
    rows = run.events.filter(kind__in=KINDS).order_by("seq").values_list("kind", "body")
    for kind, body in rows.iterator(chunk_size=2000):
        found.take(kind, body)
    return found


def _calls(run: Run) -> dict[str, Call]:
    names = ("key", "role", "alias", "rollout", "round", "prompt_shas", "text_sha", "reasoning_sha", "finish_reason", "attempt")
    rows = list(run.steps.filter(kind="call").exclude(finish_reason="").order_by("pk").values_list(*names, named=True))
    places = _places(run)
    taken_over = {row.key for row in rows if row.attempt == 0}
    parent = run.forked_from
    while parent is not None and taken_over - places.keys():
        places = {key: place for key, place in _places(parent).items() if key in taken_over} | places
        parent = parent.forked_from
    found = {}
    for row in rows:
        known = {name: getattr(row, name) for name in names if name not in ("prompt_shas", "attempt")}
        shard, number, sha256 = places.get(row.key, ("", 0, ""))
        found[row.key] = Call(**known, prompt_shas=tuple(row.prompt_shas), shard=shard, row=number, sha256=sha256)
    return found


def _places(run: Run) -> dict[str, tuple[str, int, str]]:
    """By call: shard of its answer's tokens, row, and hash of the shard."""
    rows = TokenRow.objects.filter(run=run, sample=0).values_list("key", "shard__uri", "row", "shard__sha256")
    return {key: (uri, row, sha256) for key, uri, row, sha256 in rows.iterator(chunk_size=2000)}
