"""Runs of scaffolds that check and correct, as a conversation: solutions, checks and streaks.

A fold over the run's events. It puts the solutions and opinions of solutions.py in order.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from apps.explorations.opinions import Opinion
from apps.explorations.solutions import Solution, Solutions
from apps.explorations.words import page_of, role_word
from apps.reasoning.domain.kinds import Kind
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.runs.models import Run

KINDS = (
    Kind.CANDIDATE_DRAFTED,
    Kind.CANDIDATE_JUDGED,
    Kind.OUTPUT_UNREAD,
    Kind.CONTROL_REQUESTED,
    Kind.CONTROL_APPLIED,
    Kind.PROOF_SELECTED,
)
_FAIL_UNREAD = "the decision is fail, but"
Speaker = Literal["writer", "verifier", "person", "end"]


@dataclass(frozen=True)
class Streak:
    """Consecutive checks with the same result. `of` is the number that ends the conversation, 0 if unknown."""

    word: str
    count: int
    of: int

    @property
    def words(self) -> str:
        noun = self.word if self.count == 1 else {"pass": "passes", "failure": "failures"}[self.word]
        return f"{self.count} {noun} in a row" + (f" of {self.of}" if self.of else "")

    @property
    def places(self) -> list[bool]:
        """One place per check of the final streak, filled or not; empty if there are too many to draw."""
        return [place < self.count for place in range(self.of)] if self.of <= 12 else []


@dataclass(frozen=True)
class Turn:
    """One turn. A writer's turn has a `solution`, or `unread` if unreadable; a verifier's has an `opinion` and a `streak`.

    `interrupted` is the streak that ended because this check could not be read. `overruled`: the verifier's "pass" did not
    count. `before` is the text that the writer corrected. `moment` is the turn's name in a replay.
    """

    number: int
    speaker: Speaker
    who: str
    moment: str
    call: str = ""
    about: str = ""
    solution: Solution | None = None
    before: str = ""
    opinion: Opinion | None = None
    streak: Streak | None = None
    interrupted: Streak | None = None
    overruled: bool = False
    unread: str = ""
    words: str = ""
    good: bool = False

    @property
    def mark(self) -> str:
        """Sign of a check: pass, fault or unread."""
        return {"good": "pass", "bad": "fault"}.get(self.opinion.state, "unread") if self.opinion else ""


@dataclass
class Exchange:
    """The whole conversation. `accept` and `give_up` are the lengths of the streaks that end it, 0 if unknown.

    `by_older_rules`: an unread check did not end its streak, or a fail without a marked issue was unread (ADR 0019).
    """

    accept: int
    give_up: int
    turns: list[Turn] = field(default_factory=list)
    by_older_rules: bool = False

    @property
    def checks(self) -> list[Turn]:
        """The turns with an opinion, in order."""
        return [turn for turn in self.turns if turn.opinion]

    @property
    def tally(self) -> str:
        """`12 checks: 6 passed, 4 failed, 2 could not be read`; static/js/run/replay_fold.js has the same for a replay."""
        marks = [turn.mark for turn in self.checks]
        parts = [f"{marks.count('pass')} passed", f"{marks.count('fault')} failed"]
        parts += [f"{marks.count('unread')} could not be read"] if "unread" in marks else []
        return f"{len(marks)} check{'s' * (len(marks) != 1)}: {', '.join(parts)}"


class _Fold:
    """A fold over events of `KINDS`."""

    def __init__(self, run: Run, found: Solutions) -> None:
        params = run.spec.get("params") or {}
        self.exchange = Exchange(int(params.get("accept") or 0), int(params.get("give_up") or 0))
        self.solutions = {one.id: one for round_ in found.rounds for one in round_.solutions}
        self.opinions = {opinion.call: opinion for one in self.solutions.values() for opinion in one.opinions}
        self.roles = dict(run.steps.filter(kind="call").values_list("key", "role"))
        scaffold = SCAFFOLDS.get(run.scaffold)
        self.titles = {role.name: role.title for role in scaffold.roles} if scaffold else {}
        self.hints: dict[str, tuple[str, str]] = {}
        self.last: Streak | None = None

    def take(self, kind: str, body: dict[str, Any]) -> None:
        """Add one event."""
        match kind:
            case Kind.CANDIDATE_DRAFTED:
                self._drafted(body)
            case Kind.CANDIDATE_JUDGED:
                self._judged(body)
            case Kind.OUTPUT_UNREAD if not body["role"].startswith("verifier") and not (body.get("again") or body.get("part")):
                self._add("writer", body["call"], f"unread {body['call']}", unread=body["reason"])
            case Kind.CONTROL_REQUESTED if body["name"] == "hint":
                self.hints[body["command"]] = (body["by"], str(body["args"].get("text", "")))
            case Kind.CONTROL_APPLIED if body["command"] in self.hints:
                by, words = self.hints[body["command"]]
                self._add("person", "", f"hint {body['command']}", who=by or "A person", words=words)
            case Kind.PROOF_SELECTED:
                self._add("end", "", "end", who="The end", words=body["reason"], good=body["accepted"])

    def _drafted(self, body: dict[str, Any]) -> None:
        solution = self.solutions.get(body["candidate"])
        if solution is None:
            return
        parent = self.solutions.get(solution.parents[-1]) if solution.parents else None
        before = parent.text if parent else ""
        self._add("writer", body["call"], solution.id, about=solution.id, solution=solution, before=before)

    def _judged(self, body: dict[str, Any]) -> None:
        opinion = self.opinions.get(body["call"])
        if opinion is None:
            return
        streak = interrupted = None
        if body["passed"] is not None:
            limits = self.exchange
            passed = ("pass", body["passes"], limits.accept)
            streak = self.last = Streak(*passed) if body["passed"] else Streak("failure", body["failures"], limits.give_up)
        elif body["passes"] or body["failures"] or body["unscored"].startswith(_FAIL_UNREAD):
            self.exchange.by_older_rules = True
        else:
            interrupted, self.last = self.last, None
        more = {"opinion": opinion, "streak": streak, "interrupted": interrupted, "overruled": body.get("overruled", False)}
        self._add("verifier", body["call"], body["call"], about=body["candidate"], **more)

    def _add(self, speaker: Speaker, call: str, moment: str, *, who: str = "", **more: Any) -> None:
        role = self.roles.get(call, "")
        who = who or self.titles.get(role) or role_word(role or speaker)
        self.exchange.turns.append(Turn(len(self.exchange.turns) + 1, speaker, who, moment, call, **more))


def exchange(run: Run, found: Solutions) -> Exchange | None:
    """The conversation behind the solutions `found` of `run`; None for other kinds of scaffold."""
    if not page_of(run.scaffold).is_conversation:
        return None
    fold = _Fold(run, found)
    rows = run.events.filter(kind__in=KINDS).order_by("seq").values_list("kind", "body")
    for kind, body in rows.iterator(chunk_size=500):
        fold.take(kind, body)
    return fold.exchange
