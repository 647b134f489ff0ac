"""What the story of a run holds, and what has no effect on it."""

from typing import Any

import pytest

from apps.lemmas.models import Lemma, LemmaEdge, LemmaLikeness, ProofVersion, Verdict
from apps.reasoning.domain import candidate_events as ce
from apps.reasoning.domain import control as cv
from apps.reasoning.domain import events as ev
from apps.reasoning.domain.event_base import Kind
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.story.candidates import Candidates
from apps.reasoning.story.course import Course
from apps.reasoning.story.lemmas import Lemmas
from apps.reasoning.story.run_story import RunStory, fold
from apps.reasoning.story.talks import Talks
from tests.story.recorded import lemmas_story, played


def of(*events: ev.Event) -> RunStory:
    return fold(enumerate(events, 1))


def drafted(name: str, *parents: str) -> ce.CandidateDrafted:
    return ce.CandidateDrafted(
        candidate=name, made_as="solution", text=name, steps=(name,), call=f"solve/{name}", round=1, parents=parents
    )


def scored(index: int, score: float | None, name: str = "c1.1") -> ce.CandidateScored:
    found: dict[str, Any] = {"score": score} if score is not None else {"unscored": "no score"}
    return ce.CandidateScored(candidate=name, index=index, of=3, call=f"mark/{index}", scale=7, **found)


@pytest.mark.parametrize("name", sorted(SCAFFOLDS))
@pytest.mark.parametrize("part", [Candidates, Talks, Course])
async def test_a_part_needs_the_events_of_its_kinds_only(name: str, part: type[Candidates | Talks | Course]) -> None:
    events = await played(name, "course")
    alone = part()
    for seq, event in events:
        if event.kind in part.KINDS:
            alone.add(seq, event)
    assert alone in vars(fold(events)).values()


def test_lemmas_that_include_an_event_are_not_changed_by_it_again() -> None:
    once, twice = RunStory(), RunStory()
    for seq, event in lemmas_story():
        once.add(seq, event)
        for _ in range(2):
            twice.add(seq, event)
    assert (once.lemmas.versions, once.lemmas.proofs) == (twice.lemmas.versions, twice.lemmas.proofs)
    assert once.lemmas.versions["s1.4"].status == "merged"
    assert once.lemmas.versions["s0.2"].found_in == [0, 1]


def test_a_verdict_after_a_merge_leaves_the_lemma_merged() -> None:
    lemmas = [ev.LemmaProposed(lemma=name, number=1, rollout=0, round=1, statement=name, steps=("x",)) for name in ("a", "b")]
    merged = [ev.LemmaMerged(lemma="b", into="a", reason="equal")]
    verdicts = [
        ev.VerdictReached(subject=name, passes=3, valid=4, total=4, confidence=0.75, status="verified") for name in ("a", "b")
    ]
    found = of(*lemmas, *merged, *verdicts).lemmas.versions
    assert [(found[name].status, found[name].confidence) for name in ("a", "b")] == [("verified", 0.75), ("merged", 0.75)]


def test_reports_count_until_they_are_dropped_and_stay_with_the_reason() -> None:
    dropped = ce.ScoreDropped(candidate="c1.1", index=1, call="check", reason="It quotes nothing.")
    one = of(drafted("c1.1"), scored(1, 7), scored(2, 0), scored(3, None)).candidates.by_id["c1.1"]
    assert (one.passes, one.valid, one.unread, one.expected, one.confidence) == (1, 2, 1, 3, 0.5)
    one = of(drafted("c1.1"), scored(1, 7), scored(2, 0), scored(3, None), dropped).candidates.by_id["c1.1"]
    assert (one.passes, one.valid, one.total, one.mean) == (0, 1, 2, 0)
    assert one.dropped == {1: "It quotes nothing."}
    assert len(one.reports) == 3


def test_a_report_on_an_unknown_solution_has_no_effect() -> None:
    story = of(scored(1, 7, "c9.9"), drafted("c1.1", "c9.9"))
    assert list(story.candidates.by_id) == ["c1.1"]
    assert story.candidates.by_id["c1.1"].confidence is None


def test_a_persons_newest_verdict_counts_and_people_may_differ() -> None:
    def said(command: str, name: cv.CommandName, by: str, lemma: str = "s0.1") -> list[ev.Event]:
        asked = cv.ControlRequested(command=command, name=name, by=by, args={"lemma": lemma})
        return [asked, cv.ControlApplied(command=command, name=name, point="p")]

    ann = said("a", "accept_lemma", "Ann")
    assert of(ann[0]).lemmas.people_words == {}
    assert of(*ann).lemmas.people_words == {"s0.1": "accepted"}
    assert of(*ann, *said("b", "reject_lemma", "Ben")).lemmas.people_words == {"s0.1": "disputed"}
    assert of(*ann, *said("b", "reject_lemma", "Ann")).lemmas.people_words == {"s0.1": "rejected"}


def test_a_hint_belongs_to_the_story_once_it_is_taken() -> None:
    asked = cv.ControlRequested(command="h", name="hint", by="Ann", args={"text": "Look at parity."})
    assert of(asked).course.hints == []
    assert of(asked, cv.ControlApplied(command="h", name="hint", point="p")).course.hints == [(2, asked)]


@pytest.mark.parametrize(
    ("event", "model", "elsewhere"),
    [
        (ev.LemmaProposed, Lemma, set()),
        (ev.ProofDrafted, ProofVersion, set()),
        (ev.VoteCast, Verdict, {"checks", "summary"}),
        (ev.EdgeAdded, LemmaEdge, set()),
        (ev.LemmasAlike, LemmaLikeness, set()),
    ],
)
def test_a_field_of_an_event_about_lemmas_is_a_column_of_the_same_name(
    event: type[ev.Event], model: Any, elsewhere: set[str]
) -> None:
    columns = {field.name for field in model._meta.concrete_fields}
    assert set(event.model_fields) - elsewhere <= columns
    assert event.kind in Lemmas.KINDS


def test_kinds_that_no_part_reads_only_move_the_story_on() -> None:
    story = of(drafted("c1.1"), ev.RunPaused())
    assert story.seq == 2
    assert Kind.RUN_PAUSED not in Candidates.KINDS
