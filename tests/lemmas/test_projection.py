"""The projection gives the same rows however the events come, and costs little."""

from io import StringIO
from itertools import pairwise
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.lemmas.models import HumanVerdict, Lemma, LemmaEdge, LemmaLikeness, LemmaState, ProofVersion, Verdict
from apps.lemmas.projection import project, rebuild
from apps.reasoning.domain import control as cv
from apps.reasoning.domain import events as ev
from apps.runs.models import Run
from tests.lemmas.factory import make_run, make_story_run, stored
from tests.lemmas.story import KeyedEvent, story

pytestmark = pytest.mark.django_db

ANCHOR = ev.TextAnchor(where="step 1", start=0, end=1, quote="x")


def rows(run: Run) -> dict[str, list[dict[str, Any]]]:
    """All projected rows of a run, without what the database adds."""
    found = {}
    for model in (Lemma, LemmaEdge, LemmaLikeness, Verdict, HumanVerdict, ProofVersion):
        values = model._default_manager.filter(run=run).values()
        found[model.__name__] = [{k: v for k, v in row.items() if k not in ("id", "run_id")} for row in values]
    return found


def a_lemma(name: str, **more: Any) -> ev.LemmaProposed:
    fields: dict[str, Any] = {"lemma": name, "number": 1, "rollout": 0, "round": 1, "statement": name, "steps": ("x",)}
    return ev.LemmaProposed(**fields | more)


names = st.sampled_from(["s0.1", "s0.2", "s1.3"])
subjects = names | st.sampled_from(["proof/1", "proof/2"])
some_event = st.one_of(
    st.builds(a_lemma, names, rollout=st.integers(0, 2), supersedes=st.sampled_from(["", "s0.1"])),
    st.builds(ev.LemmaMerged, lemma=names, into=names, reason=st.just("equal")),
    st.builds(ev.LemmaRetired, lemma=names, reason=st.just("r")),
    st.builds(ev.LemmaRestored, lemma=names, reason=st.just("r")),
    st.builds(ev.EdgeAdded, user=subjects, used=names, evidence=st.just(ANCHOR)),
    st.builds(ev.VoteCast, subject=subjects, index=st.integers(0, 3), of=st.just(4), call=st.just("c"),
              first_fault=st.sampled_from([-1, 2])),
    st.builds(ev.VoteCast, subject=subjects, index=st.integers(0, 3), of=st.just(4), call=st.just("c"), unscored=st.just("?")),
    st.builds(ev.VerdictReached, subject=names, passes=st.integers(0, 4), valid=st.just(4), total=st.just(4),
              confidence=st.sampled_from([0.25, 1.0]), status=st.sampled_from(["verified", "doubtful", "rejected"])),
    st.builds(ev.ProofDrafted, proof=st.sampled_from(["proof/1", "proof/2"]), text=st.just("t"), steps=st.just(("t",)),
              rollout=st.just(0)),
    st.builds(ev.ProofSelected, proof=st.sampled_from(["proof/1", "proof/2"]), accepted=st.booleans(), reason=st.just("r")),
    st.builds(cv.ControlRequested, command=st.sampled_from(["c1", "c2"]), by=st.just("Ada"),
              name=st.sampled_from(["accept_lemma", "reject_lemma"]), args=st.builds(lambda n: {"lemma": n}, names)),
    st.builds(cv.ControlApplied, command=st.sampled_from(["c1", "c2"]), name=st.just("accept_lemma"), point=st.just("p")),
)  # fmt: skip


def keyed(events: list[ev.Event]) -> list[KeyedEvent]:
    return [(f"k{i}", event) for i, event in enumerate(events)]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=st.lists(some_event, max_size=25), cuts=st.lists(st.integers(0, 25), max_size=6))
def test_any_split_into_batches_gives_the_rows_of_a_rebuild(events: list[ev.Event], cuts: list[int]) -> None:
    stored_events = stored(keyed(events))
    run, whole = make_run(), make_story_run(keyed(events))
    edges = [0, *sorted(cut for cut in cuts if cut <= len(stored_events)), len(stored_events)]
    for start, end in pairwise(edges):
        project(run, stored_events[start:end])
    rebuild(whole)
    assert rows(run) == rows(whole)


def test_recording_events_again_changes_nothing() -> None:
    run = make_story_run()
    before = rows(run)
    project(run, stored(story()))
    project(run, stored(story())[20:90])
    assert rows(run) == before


def test_a_rebuild_gives_the_same_rows() -> None:
    run = make_story_run()
    before = rows(run)
    call_command("rebuild_lemmas", str(run.public_id), stdout=StringIO())
    assert rows(run) == before


def test_rebuilding_an_unknown_run_is_refused_in_words() -> None:
    with pytest.raises(CommandError, match="There is no run"):
        call_command("rebuild_lemmas", "00000000-0000-0000-0000-000000000000")


def test_projecting_costs_at_most_five_queries_for_four_events_even_one_by_one() -> None:
    run, stored_events = make_run(), stored(story())
    with CaptureQueriesContext(
        connection,
    ) as queries:
        for event in stored_events:
            project(run, [event])
    columns = [query for query in queries if "lemmas_held" in query["sql"]]
    assert len(queries) - len(columns) <= 1.25 * len(stored_events)
    changing = ("lemma.proposed", "lemma.merged", "lemma.retired", "verdict.reached", "proof.selected", "control.applied")
    assert 0 < len(columns) <= sum(event[3].kind in changing for event in stored_events), "only where a state changes"


def test_a_batch_without_lemma_events_costs_no_query() -> None:
    run = make_run()
    stored_events = [event for event in stored(story()) if event[3].kind.startswith(("call.", "round.", "run."))]
    with CaptureQueriesContext(connection) as queries:
        project(run, stored_events)
    assert len(queries) == 0


def test_a_correction_supersedes_and_keeps_the_number() -> None:
    run = make_story_run()
    fixed, old = Lemma.objects.get(run=run, lemma="s0.10-fixed"), Lemma.objects.get(run=run, lemma="s0.10")
    assert (fixed.label, fixed.version, fixed.supersedes) == ("10′", 2, "s0.10")
    assert (old.status, old.judged) == (LemmaState.RETIRED, LemmaState.REJECTED)


def test_a_merged_lemma_counts_for_the_one_it_merged_into() -> None:
    run = make_story_run()
    assert Lemma.objects.get(run=run, lemma="s0.2").found_in == [0, 1]
    assert Lemma.objects.get(run=run, lemma="s1.4").status == LemmaState.MERGED


def test_a_restored_lemma_has_its_verdict_back() -> None:
    run = make_story_run()
    project(run, stored([("again", ev.LemmaRestored(lemma="s0.10", reason="x"))], start=900))
    assert Lemma.objects.get(run=run, lemma="s0.10").status == LemmaState.REJECTED


def test_unread_votes_leave_the_lemma_unscored_and_not_at_zero() -> None:
    lemma = Lemma.objects.get(run=make_story_run(), lemma="s1.12")
    assert (lemma.confidence, lemma.valid, lemma.total) == (None, 0, 4)
    assert lemma.unscored == "none of 4 votes could be read"


def test_votes_count_before_the_verdict_is_in() -> None:
    run = make_run()
    vote = ev.VoteCast(subject="s0.1", index=0, of=4, call="c", first_fault=-1)
    project(run, stored([("a", a_lemma("s0.1")), ("b", vote)]))
    lemma = Lemma.objects.get(run=run)
    assert (lemma.passes, lemma.total, lemma.expected, lemma.confidence) == (1, 1, 4, None)


def test_a_persons_verdict_counts_once_it_is_applied() -> None:
    run = make_story_run()
    verdict = HumanVerdict.objects.get(run=run, lemma="s1.9")
    assert (verdict.accepted, verdict.by) == (False, "Ada")
    assert verdict.applied_seq
    asked = cv.ControlRequested(command="c9", name="accept_lemma", by="Ada", args={"lemma": "s0.1"})
    project(run, stored([("c9", asked)], start=900))
    assert HumanVerdict.objects.get(command="c9").applied_seq is None


def test_only_the_newest_selected_proof_is_selected() -> None:
    run = make_story_run()
    project(run, stored([("x", ev.ProofSelected(proof="proof/1", accepted=False, reason="r"))], start=900))
    assert list(ProofVersion.objects.filter(run=run, selected=True).values_list("proof", flat=True)) == ["proof/1"]
