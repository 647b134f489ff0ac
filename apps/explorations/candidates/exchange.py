"""Runs of scaffolds that check and correct, as a conversation: solutions, checks and streaks.

It puts the solutions and opinions of solutions.py in the order of the run's story.
"""

from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, Literal

from apps.explorations.candidates.opinions import Opinion
from apps.explorations.candidates.solutions import Solution, Solutions
from apps.explorations.words import page_of, role_word
from apps.reasoning.domain.candidate_events import CandidateJudged
from apps.reasoning.domain.control import ControlRequested
from apps.reasoning.domain.event_base import Kind
from apps.reasoning.domain.events import OutputUnread, ProofSelected
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.story.candidates import Candidate, Candidates
from apps.reasoning.story.course import Course
from apps.reasoning.story.parts import Numbered
from apps.reasoning.story.run_story import RunStory
from apps.runs.models import Run
from apps.runs.selectors import run_story

KINDS = Candidates.KINDS | Course.ENDINGS | {Kind.OUTPUT_UNREAD}
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
        """`12 checks: 6 passed, 4 failed, 2 could not be read`; static/js/run/story.js has the same for a replay."""
        marks = [turn.mark for turn in self.checks]
        parts = [f"{marks.count('pass')} passed", f"{marks.count('fault')} failed"]
        parts += [f"{marks.count('unread')} could not be read"] if "unread" in marks else []
        return f"{len(marks)} check{'s' * (len(marks) != 1)}: {', '.join(parts)}"


class _Turns:
    """Makes the turns of a conversation from the run's story."""

    def __init__(self, run: Run, found: Solutions) -> None:
        params = run.spec.get("params") or {}
        self.exchange = Exchange(int(params.get("accept") or 0), int(params.get("give_up") or 0))
        self.solutions = {one.id: one for round_ in found.rounds for one in round_.solutions}
        self.opinions = {opinion.call: opinion for one in self.solutions.values() for opinion in one.opinions}
        self.roles = dict(run.steps.filter(kind="call").values_list("key", "role"))
        scaffold = SCAFFOLDS.get(run.scaffold)
        self.titles = {role.name: role.title for role in scaffold.roles} if scaffold else {}
        self.last: Streak | None = None

    def in_order(self, story: RunStory) -> Exchange:
        """The turns in the order of their events."""
        written = story.candidates.by_id.values()
        moments: list[Numbered[Any]] = [(one.first_seq, one) for one in written]
        moments += [report for one in written for report in one.reports if isinstance(report[1], CandidateJudged)]
        moments += [(seq, one) for seq, one in story.calls.lost if not one.role.startswith("verifier")]
        moments += [*story.course.hints, *([story.course.selected] if story.course.selected else ())]
        for _, one in sorted(moments, key=itemgetter(0)):
            match one:
                case Candidate():
                    self._drafted(one)
                case CandidateJudged():
                    self._judged(one)
                case OutputUnread():
                    self._add("writer", one.call, f"unread {one.call}", unread=one.reason)
                case ControlRequested():
                    words = str(one.args.get("text", ""))
                    self._add("person", "", f"hint {one.command}", who=one.by or "A person", words=words)
                case ProofSelected():
                    self._add("end", "", "end", who="The end", words=one.reason, good=one.accepted)
        return self.exchange

    def _drafted(self, candidate: Candidate) -> None:
        solution = self.solutions.get(candidate.id)
        if solution is None:
            return
        parent = self.solutions.get(solution.parents[-1]) if solution.parents else None
        before = parent.text if parent else ""
        self._add("writer", solution.call, solution.id, about=solution.id, solution=solution, before=before)

    def _judged(self, report: CandidateJudged) -> None:
        opinion = self.opinions.get(report.call)
        if opinion is None:
            return
        streak = interrupted = None
        if report.passed is not None:
            limits = self.exchange
            passed = ("pass", report.passes, limits.accept)
            streak = self.last = Streak(*passed) if report.passed else Streak("failure", report.failures, limits.give_up)
        elif report.passes or report.failures or report.unscored.startswith(_FAIL_UNREAD):
            self.exchange.by_older_rules = True
        else:
            interrupted, self.last = self.last, None
        more: dict[str, Any] = {"opinion": opinion, "streak": streak, "interrupted": interrupted, "overruled": report.overruled}
        self._add("verifier", report.call, report.call, about=report.candidate, **more)

    def _add(self, speaker: Speaker, call: str, moment: str, *, who: str = "", **more: Any) -> None:
        role = self.roles.get(call, "")
        who = who or self.titles.get(role) or role_word(role or speaker)
        self.exchange.turns.append(Turn(len(self.exchange.turns) + 1, speaker, who, moment, call, **more))


def exchange(run: Run, found: Solutions) -> Exchange | None:
    """The conversation behind the solutions `found` of `run`; None for other kinds of scaffold."""
    if not page_of(run.scaffold).is_conversation:
        return None
    return _Turns(run, found).in_order(run_story(run, KINDS))
