"""Majority vote (cons@k): count the final answers of independent solutions; a solution with the most frequent answer wins.

Source: self-consistency (Wang et al., arXiv 2203.11171); the number of solutions is that of MarsRL §4.1.
"""

from collections.abc import Mapping

from pydantic import Field

from apps.reasoning.domain.candidate_events import GroupsFormed
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.values import Value
from apps.reasoning.ports import Context
from apps.reasoning.scaffolds.candidates.concluding import NOTHING_READABLE, Selection, concluded
from apps.reasoning.scaffolds.candidates.costs import estimated
from apps.reasoning.scaffolds.candidates.desk import Candidate, Desk
from apps.reasoning.scaffolds.candidates.final_answers import AnswerClass, Vote, counted
from apps.reasoning.scaffolds.candidates.solving import solved
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.running.concurrently import concurrently
from apps.reasoning.scaffolds.scaffold import Preset, Role, Scaffold
from apps.reasoning.story.run_story import RunStory

NO_ANSWER = (
    "This problem asks for no final answer, so there is nothing to vote on. Use Best of n (a grader compares proofs) or "
    "Nomos, or enter the problem's answer in the library."
)
#: Longest answer, in characters, that a sentence quotes.
SHORT = 80


class Params(Value):
    """Paper letter: k solutions."""

    solutions: int = Field(default=32, ge=1, le=256, title="Solutions", description="Independent solutions that vote (k).")


def cannot_run(problem: ProblemText, params: Params) -> str:
    """Return why there is nothing to vote on; "" for a problem with an answer."""
    return "" if problem.answer.strip() else NO_ANSWER


async def solve(problem: ProblemText, ctx: Context, params: Params) -> Outcome:
    """Solve k times and count the answers."""
    if refused := cannot_run(problem, params):
        return Outcome(accepted=None, reason=refused, ended_by="nothing-readable")
    desk = Desk(problem, ctx)
    return await concluded(desk, _search(desk, params), lambda: _selection(desk))


async def _search(desk: Desk, params: Params) -> Selection:
    if not await desk.steer("solve"):
        await concurrently(
            solved(desk, f"solve/{slot}", slot=slot, of=params.solutions) for slot in range(1, params.solutions + 1)
        )
    return _selection(desk)


def hands_in(story: RunStory, params: Params) -> str:
    """The first solution of the largest class of equal answers so far; once the vote is recorded, of its winner."""
    found = story.candidates
    if found.groups:
        return found.groups.groups[found.groups.chosen][0]
    vote = counted(found.by_id.values())
    return vote.classes[vote.winner].members[0].id if vote.classes else ""


def _selection(desk: Desk) -> Selection:
    """The result of the vote; emits it as one event."""
    if not desk.candidates:
        return Selection(candidate=None, reason=NOTHING_READABLE)
    vote = counted(desk.candidates.values())
    if not vote.classes:
        return Selection(candidate=None, reason=f"There is no vote: {_unread(vote)}.")
    groups = tuple(tuple(one.id for one in each.members) for each in vote.classes)
    answers = tuple(each.answer for each in vote.classes)
    reason = _sentences(vote)
    event = GroupsFormed(call="", groups=groups, chosen=vote.winner, reason=reason, answers=answers)
    desk.ctx.emit("pool/grouped", event)
    return Selection(candidate=vote.classes[vote.winner].members[0], reason=f"{reason} No solution was judged.")


def _sentences(vote: Vote[Candidate]) -> str:
    """The winner with its votes, how a tie was broken, and which solutions do not count."""
    names = [_named(each) for each in vote.classes]
    won = vote.classes[vote.winner]
    votes = sum(len(each.members) for each in vote.classes)
    said = [f"{len(won.members)} of {votes} votes are for {names[vote.winner]}; {won.members[0].id} is the first of them."]
    if others := [names[place] for place in vote.tied if place != vote.winner]:
        said.append(f"As many are for {', '.join(others)}: the answer that was given first wins.")
    if vote.undecided:
        pairs = "; ".join(f"{names[one]} and {names[two]}" for one, two in vote.undecided[:3])
        said.append(f"Whether these are the same could not be decided, so they count apart: {pairs}.")
    if vote.unread:
        said.append(f"{_unread(vote)}.")
    return " ".join(said)


def _unread(vote: Vote[Candidate]) -> str:
    names = ", ".join(one.id for one in vote.unread[:8]) + (", …" if len(vote.unread) > 8 else "")
    count = len(vote.unread)
    return f"{count} solution{'s state' if count != 1 else ' states'} no final answer and did not vote ({names})"


def _named(each: AnswerClass[Candidate]) -> str:
    """The answer, or its first solution if it is too long for a sentence; a formula is never cut."""
    return each.answer if len(each.answer) <= SHORT else f"the answer of {each.members[0].id}"


def estimate(params: Params, max_new_tokens: Mapping[str, int] | None = None) -> Estimate:
    """One call per solution; counting needs no model."""
    calls = {"solver": params.solutions}
    return estimated(
        fewest=calls,
        likely=calls,
        most=calls,
        typical={"solver": (1_000, 30_000)},
        limits=max_new_tokens,
        assumptions="One call per solution, as long as that of a large reasoning model. Counting answers needs no model.",
    )


SCAFFOLD = Scaffold(
    name="majority_vote",
    title="Majority vote (cons@k)",
    description=(
        "Counts the final answers of independent solutions. The result is a solution with the most frequent answer; "
        "no proof is judged. Only for problems that ask for an answer."
    ),
    source="Self-consistency, arXiv 2203.11171; MarsRL §4.1",
    params=Params,
    presets={
        "quick": Preset("Quick", "Four solutions.", Params(solutions=4)),
        "sixteen": Preset("Sixteen", "Sixteen solutions, as many as Intern-S1-MO samples per problem.", Params(solutions=16)),
        "paper": Preset("Paper", "32 solutions at temperature 0.6, as in MarsRL.", Params(), temperatures={"solver": 0.6}),
    },
    roles=(Role("solver", "Solver", "Writes the solutions.", 65_536, 0.8),),
    solve=solve,
    estimate=estimate,
    hands_in=hands_in,
    cannot_run=cannot_run,
)
