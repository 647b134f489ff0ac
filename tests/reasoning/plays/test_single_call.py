"""How `single_call` is played in the tests of all scaffolds, and what it says of itself."""

from apps.reasoning.domain.generation import Usage
from apps.reasoning.scaffolds import single_call
from tests.reasoning.candidates import named
from tests.reasoning.play import final, play
from tests.reasoning.plays import Course, Golden, Plays

COURSE: Course = (single_call.Params(), {"solve/again": named, "solve": "nothing"})
PLAYS = Plays(
    course=COURSE,
    most=(single_call.Params(), {"solve": named}),
    # One call, and the run ends with it.
    golden=Golden(single_call.Params(), {"solve": named}, "solve", "exhausted", None, "The solution of the only call."),
)


async def test_the_run_ends_with_the_only_solution_and_says_that_it_was_not_judged() -> None:
    run = await play({"solve": named}, single_call.Params(), scaffold="single_call")
    assert (run.outcome.accepted, run.outcome.proof) == (None, "proof/1")
    assert run.outcome.reason.endswith("It was not judged.")
    assert [event.kind for event in run.events.values() if event.kind.startswith("candidate.")] == ["candidate.drafted"]


async def test_a_call_that_gives_no_solution_ends_without_one() -> None:
    nothing = final("<no-proof>I lack an idea.</no-proof>", usage=Usage(prompt=1, completion=1))
    run = await play({"solve": nothing}, single_call.Params(), scaffold="single_call")
    assert (run.outcome.ended_by, run.outcome.proof) == ("nothing-readable", "")
