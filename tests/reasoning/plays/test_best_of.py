"""How `best_of` is played in the tests of all scaffolds, and how it chooses."""

import pytest

from apps.reasoning.domain.candidate_events import CandidateScored, PairDecided
from apps.reasoning.domain.errors import ParamsError
from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.programs import best_of
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.given import Given
from apps.reasoning.scaffolds.spec import Budget
from tests.graders.answers import FOLLOWS as SCHEME_FOLLOWS
from tests.graders.grade import REFERENCES, finding, grading
from tests.graders.schemes import CHAINS, decided
from tests.reasoning.candidates import better, named
from tests.reasoning.play import PROBLEM, Played, play
from tests.reasoning.plays import UNREAD, WORDS, AlwaysYes, Course, Golden, Plays, Shown, Table, Verdicts

TWO, THREE = best_of.Params(solutions=2), best_of.Params(solutions=3)
DUEL: Table = {"duel/*/1": better("A"), "duel/*/2": better("B")}
COURSE: Course = (
    best_of.Params(solutions=4),
    {
        "solve/2": "nothing",
        "solve/*": named,
        "grade/c1.1/*": "unread",
        "grade/*": grading(5),
        **DUEL,
    },
)
PLAYS = Plays(
    course=COURSE,
    most=(THREE, {"solve/*": named, "grade/*/again": grading(3), "grade/*": "unread", "duel/*": better("A")}),
    # The most points win without a duel.
    golden=Golden(
        THREE,
        {"solve/*": named, "grade/c1.2/*": grading(6), "grade/*": grading(3)},
        "solve/{1,2,3} grade/c1.{1/grade,2/grade,3/grade}",
        "exhausted",
        None,
        "c1.2 has 6 of 7 points, the most of 3 graded of 3 solutions.",
    ),
    # All are equal, so every pair of the duel is judged in both orders.
    yes=AlwaysYes(THREE, {"solve/*": named, "grade/*": grading(7), "duel/*": better("A")}, "duel/*", 4, accepted=None),
    verdicts=Verdicts(
        prose_only=Shown(
            TWO,
            {"solve/*": named, "grade/c1.1/*": f"{WORDS}\n{grading(0)}", "grade/*": grading(2)},
            "solve/{1,2} grade/c1.{1/grade,2/grade}",
            "exhausted",
            None,
            "c1.2 has 2 of 7 points",
        ),
        # As many points, and a judge that follows the order: the seed decides.
        mixed=Shown(
            TWO,
            {"solve/*": named, "grade/*": grading(4), "duel/*": better("A")},
            "solve/{1,2} grade/c1.{1/grade,2/grade} duel/1/c1.2-c1.1/{1,2}",
            "exhausted",
            None,
            "won the duel among 2 solutions with 4 of 7 points",
        ),
        # A proof that could not be graded loses to one with 0 points.
        unread_between=Shown(
            TWO,
            {"solve/*": named, "grade/c1.1/*": UNREAD, "grade/*": grading(0)},
            "solve/{1,2} grade/c1.1/grade{,/again} grade/c1.2/grade",
            "exhausted",
            None,
            "c1.2 has 0 of 7 points, the most of 1 graded of 2 solutions.",
        ),
    ),
)


async def chosen(table: Table, params: best_of.Params = THREE, **more: object) -> Played:
    return await play({"solve/*": named, **table}, params, scaffold="best_of", **more)  # type: ignore[arg-type]


def scores(run: Played) -> dict[str, float | None]:
    return {event.candidate: event.score for event in run.events.values() if isinstance(event, CandidateScored)}


async def test_a_score_has_the_graders_words_and_its_call() -> None:
    run = await chosen({"grade/c1.1/*": grading(2, finding()), "grade/*": grading(1)})
    event = run.events["grade/c1.1/score"]
    assert isinstance(event, CandidateScored)
    assert (event.score, event.scale, event.call) == (2, 7, "grade/c1.1/grade")
    assert "Step 2, proof-by-example, critical" in event.report
    assert not [one for one in run.events.values() if one.kind.startswith("grading.")], "those belong to runs that are gradings"


async def test_equals_fight_a_duel_in_both_orders() -> None:
    run = await chosen({"grade/c1.2/*": grading(3), "grade/*": grading(5), **DUEL})
    decided = [event for event in run.events.values() if isinstance(event, PairDecided)]
    assert [(set(one.pair), one.by) for one in decided] == [({"c1.1", "c1.3"}, "both orders")]
    assert "won the duel among 2 solutions with 5 of 7 points" in run.outcome.reason


async def test_if_nothing_could_be_graded_a_duel_among_all_decides_and_the_reason_is_recorded() -> None:
    run = await chosen({"grade/*": "unread", **DUEL})
    assert set(scores(run).values()) == {None}
    assert run.outcome.proof
    assert "none of which could be graded (there is no <grading>" in run.outcome.reason
    assert "gave the points" not in run.outcome.reason


async def test_points_accept_nothing() -> None:
    run = await chosen({"grade/c1.1/*": grading(7), "grade/*": grading(1)})
    assert run.outcome.accepted is None
    assert "Points compare proofs and accept none." in run.outcome.reason


async def test_references_are_taken_apart_once_and_the_outcome_says_what_the_grader_saw() -> None:
    table = {f"grade/c1.1/{key}": answer for key, answer in SCHEME_FOLLOWS.items()} | {
        "grade/c1.[23]/match": SCHEME_FOLLOWS["match"],
        "grade/c1.[23]/grade/*": SCHEME_FOLLOWS["grade/ref5_*"],
        **DUEL,
    }
    params = best_of.Params(solutions=3, grader="ref5_plain", references=REFERENCES)
    run = await chosen(table, params)
    asked = [key.split("/")[2] for key in run.dispatcher.keys if key.startswith("grade/")]
    assert (asked.count("cluster"), asked.count("analyse"), asked.count("rubric"), asked.count("match")) == (1, 1, 1, 3)
    assert "Rubric gave the points; it was shown the problem and a reference solution." in run.outcome.reason
    assert SCAFFOLDS["best_of"].estimate(params).calls_expected >= 3 * 3


@pytest.mark.parametrize("calls", range(1, 9))
async def test_a_budget_that_ends_the_gradings_leaves_the_best_graded(calls: int) -> None:
    run = await chosen({"grade/c1.1/*": grading(1), "grade/*": grading(4), **DUEL}, budget=Budget(calls=calls))
    known = {name: score for name, score in scores(run).items() if score is not None}
    assert run.outcome.proof
    if calls < 8:
        assert run.outcome.ended_by == "budget"
    if 5 <= calls < 8:
        assert max(known, key=lambda name: known[name]) == "c1.2"
        assert "c1.2" in run.outcome.reason


@pytest.mark.parametrize("grader", sorted(GRADERS))
def test_a_grader_is_offered_where_the_problem_has_what_it_needs(grader: str) -> None:
    needs = GRADERS[grader].needs
    assert (grader in best_of.offered(Given())) == (not needs)
    assert (grader in best_of.offered(Given(references=("A reference.",)))) == ("scheme" not in needs)
    params = best_of.Params(grader=grader)
    refused = best_of.cannot_run(PROBLEM, params)
    assert bool(refused) == bool(needs)
    assert not refused or "choose another grader: Single turn needs nothing." in refused


def test_an_unknown_grader_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ParamsError, match="unknown grader missing; choose one of single_turn"):
        SCAFFOLDS["best_of"].read_params({"grader": "missing"})


async def test_a_scheme_that_was_frozen_with_the_run_gives_the_points() -> None:
    frozen = best_of.Params(solutions=2, grader="scheme", scheme=CHAINS).model_dump(mode="json")
    params = SCAFFOLDS["best_of"].read_params(frozen)
    assert isinstance(params, best_of.Params)
    met = {"c1.1": "A1", "c1.2": "B1"}
    table = {f"grade/{name}/*": "<grading>" + "".join(decided(code)) + "</grading>" for name, code in met.items()}
    run = await chosen(table, params)
    assert scores(run) == {"c1.1": 2, "c1.2": 7}
    assert "Marking scheme gave the points; it was shown the problem and the marking scheme." in run.outcome.reason


async def test_the_judges_of_a_jury_score_a_proof_together() -> None:
    table = {"grade/c1.1/*": grading(3), "grade/c1.2/judge_a/*": grading(4), "grade/c1.2/*": grading(5)}
    run = await chosen(table, best_of.Params(solutions=2, grader="jury"))
    assert scores(run) == {"c1.1": 3, "c1.2": 4}
    event = run.events["grade/c1.2/score"]
    assert isinstance(event, CandidateScored)
    assert event.call == "grade/c1.2/judge_c/1"
    assert "Judge A: 4 points" in event.report
