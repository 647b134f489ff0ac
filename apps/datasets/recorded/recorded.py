"""Training material of a finished run: calls with their tokens, solutions and their verdicts.

It is computed from the run's story and its recorded calls, and not stored.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from apps.datasets.models import TokenRow
from apps.datasets.rewards import Given
from apps.reasoning.domain.event_base import Kind
from apps.reasoning.story.candidates import Candidate, Candidates
from apps.reasoning.story.run_story import RunStory
from apps.reasoning.story.talks import Turn
from apps.runs.models import Run
from apps.runs.selectors import run_story

KINDS = (Candidates.KINDS - {Kind.POOL_KEPT, Kind.POOL_GROUPED, Kind.PAIR_JUDGED, Kind.PAIR_DECIDED, Kind.STATE_WRITTEN}) | {
    Kind.PROOF_DRAFTED,
    Kind.PROOF_SELECTED,
    Kind.VERDICT_REACHED,
    Kind.TURN_TAKEN,
    Kind.OUTPUT_UNREAD,
}


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
    """A candidate or a version of the proof. `scores`: shares of full marks, by report; `votes`: (passes, votes).

    `reports`: calls of all reports on it, also of unreadable ones.
    """

    id: str
    call: str
    text: str
    parents: tuple[str, ...] = ()
    children: list[str] = field(default_factory=list)
    judged: list[tuple[str, bool]] = field(default_factory=list)
    reports: tuple[str, ...] = ()
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


def _taken(turn: Turn) -> TakenTurn:
    """An unreadable action looks like a failed tool, but no tool was called."""
    invalid = bool(turn.problem)
    return TakenTurn(turn.call, invalid, None if invalid else turn.succeeded)


@dataclass
class Recorded:
    """Training material of one run. `talks`: the solvers' turns, by the candidate they write; `given`: rewards by a grader."""

    run: Run
    calls: dict[str, Call]
    solutions: dict[str, Solution] = field(default_factory=dict)
    talks: dict[str, list[TakenTurn]] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)
    selected: str = ""
    given: Mapping[str, Given] = field(default_factory=dict)

    @property
    def has_tokens(self) -> bool:
        return any(call.shard for call in self.calls.values())

    def line(self, solution: Solution) -> list[Solution]:
        """Ancestors of a solution and the solution itself, oldest first; a merge of several starts a new line."""
        found = [solution]
        while len(found[0].parents) == 1 and (parent := self.solutions.get(found[0].parents[0])):
            found.insert(0, parent)
        return found


def recorded_of(run: Run) -> Recorded:
    """Training material of `run`, read with a constant number of queries."""
    story = run_story(run, KINDS)
    talks: dict[str, list[TakenTurn]] = {}
    for talk in story.talks.by_id.values():
        if not talk.is_evaluation:
            talks.setdefault(talk.about, []).extend(_taken(turn) for turn in talk.turns)
    selected = story.course.selected
    return Recorded(
        run,
        _calls(run),
        solutions=_solutions(story),
        talks=talks,
        unread={one.call for _, one in story.calls.unread},
        selected=selected[1].proof if selected else "",
    )


def _solutions(story: RunStory) -> dict[str, Solution]:
    """The candidates, and the versions of the proof that are not the text of one."""
    found = {one.id: _candidate(one) for one in story.candidates.by_id.values()}
    calls = {one.call for one in found.values()}
    for name, proof in story.lemmas.proofs.items():
        if proof.drafted.call in calls:
            continue
        calls.add(proof.drafted.call)
        parents = (proof.drafted.revises,) if proof.drafted.revises else ()
        votes = (proof.passes, proof.valid) if proof.valid else None
        found[name] = Solution(name, proof.drafted.call, proof.drafted.text, parents, votes=votes, accepted=proof.accepted)
        for parent in parents:
            if parent in found:
                found[parent].children.append(name)
    return found


def _candidate(one: Candidate) -> Solution:
    return Solution(
        one.id,
        one.call,
        one.text,
        one.parents,
        children=list(one.children),
        judged=[(report.call, bool(report.passed)) for report in one.judgements],
        reports=tuple(report.call for _, report in one.reports),
        scores={index: score / one.scale for index, score in one.scores.items()},
        votes=(one.memory.ayes, one.memory.valid) if one.memory and one.memory.valid else None,
    )


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
