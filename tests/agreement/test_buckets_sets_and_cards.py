"""People give reasons for disagreements; imported sets are compared; cards show cost and consistency of graders."""

import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.agreement.buckets import bucket_counts, bucket_of, buckets_of, disagrees, name_key
from apps.agreement.cards import cards_for
from apps.agreement.models import Bucket, DisagreementBucket
from apps.agreement.sources.sets import SetSource
from apps.agreement.sources.sources import Chosen
from apps.contests.models import AuthorKind
from apps.experiments.models import Experiment, ExperimentCell
from apps.graded_sets.models import GradedScript, GradedSet, HumanScore
from apps.problems.models import Problem
from apps.reasoning.agreement.consistency import Consistency
from apps.reasoning.agreement.pairs import Pair
from apps.reasoning.domain.grading_events import GradingReached
from apps.reasoning.domain.values import Unscored
from apps.runs.models import Run, RunEvent, RunStatus, Step
from tests.marks.factory import marker
from tests.problems.factory import make_problem

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


def graded_set(scripts: int = 4) -> GradedSet:
    """A set with points 7, 0, 7, 0 … by people and 7, 1, none, 7 … by a grader."""
    made = GradedSet.objects.create(title="A set", shape="ours", credit="Us.", licence="CC0", digest=uuid.uuid4().hex)
    experiment = Experiment.objects.create(title="E", graded_set=made, workflows=["single_turn"], aliases=["small"])
    for number in range(scripts):
        script = GradedScript.objects.create(
            graded_set=made, position=number, name=f"s{number}", problem_name=f"P{number % 2}", author="a model",
            author_kind=AuthorKind.MODEL, digest="0",
        )  # fmt: skip
        HumanScore.objects.create(script=script, rater="expert", points=7 * (number % 2 == 0), out_of=7)
        points = [Decimal(7), Decimal(1), None, Decimal(7)][number % 4]
        ExperimentCell.objects.create(
            experiment=experiment, position=number, script=script, problem="p", workflow="single_turn", alias="small",
            points=points, scale=None if points is None else 7, state="unscored" if points is None else "scored",
            unscored="it is no JSON" if points is None else "",
        )  # fmt: skip
    return made


def test_points_of_an_imported_set_are_paired_with_gradings_of_experiments() -> None:
    gathered = SetSource(graded_set()).gather(Chosen(human="expert"))
    pairs = gathered.graders["single_turn@small"]
    assert [(pair.paper, pair.human, pair.predicted, pair.author) for pair in pairs] == [
        ("s0", 7, 7, "model"), ("s1", 0, 1, "model"), ("s2", 7, Unscored(reason="it is no JSON"), "model"),
        ("s3", 0, 7, "model"),
    ]  # fmt: skip


def test_several_runs_count_with_their_mean_and_other_scales_are_not_pooled() -> None:
    made = graded_set()
    first = ExperimentCell.objects.get(script__name="s0")
    ExperimentCell.objects.create(
        experiment=first.experiment, position=9, script=first.script, problem="p", workflow="single_turn", alias="small",
        points=3, scale=6, state="scored",
    )  # fmt: skip
    HumanScore.objects.filter(script__name="s1").update(out_of=10)
    gathered = SetSource(made).gather(Chosen(human="expert"))
    pairs = {pair.paper: pair for pair in gathered.graders["single_turn@small"]}
    assert pairs["s0"].predicted == pytest.approx((7 + 3.5) / 2)
    assert gathered.runs["single_turn@small"]["s0"] == (7.0, 3.5)
    assert pairs["s1"].contaminated == "points on a different scale; scales are not pooled"


def test_coaches_and_researchers_see_a_set_and_students_do_not(
    alice: User, bob: User, charlie: User, client_for: ClientFor
) -> None:
    address = reverse("agreement:detail", args=["set", graded_set().public_id])
    for user in (alice, bob):
        text = client_for(user).get(address).content.decode()
        assert "Papers by models" in text
        assert "1 unscored: it is no JSON" in text
    assert client_for(charlie).get(address).status_code == 404


def test_a_person_gives_a_reason_for_a_disagreement_and_removes_it(alice: User, bob: User, client_for: ClientFor) -> None:
    made = graded_set()
    client = client_for(alice)
    address = reverse("agreement:bucket", args=["set", made.public_id])
    data = {"human": "expert", "of": "single_turn@small", "author": "model", "difference": "differ", "name": "s3"}
    answer = client.post(address, data | {"why": "generous", "note": "It saw no gap."})
    listed = client.get(answer.headers["Location"]).content.decode()
    assert "<h1>2 pairs</h1>" in listed
    assert '<option value="generous" selected>' in listed
    text = client.get(reverse("agreement:detail", args=["set", made.public_id])).content.decode()
    assert "bucket=generous" in text
    assert "bucket=open" in text
    others = client_for(bob).get(answer.headers["Location"]).content.decode()
    assert "Over-generous – It saw no gap." in others
    client.post(address, data | {"why": ""})
    assert not DisagreementBucket.objects.exists()


@pytest.mark.parametrize(
    ("name", "bucket", "words"),
    [("s0", "generous", "the same points"), ("s2", "generous", "one of them gives none"), ("s3", "x", "one of the listed reasons"), ("s9", "missed", "no longer exists")],  # noqa: E501
)  # fmt: skip
def test_a_pair_without_a_disagreement_cannot_have_a_reason(
    name: str, bucket: str, words: str, alice: User, client_for: ClientFor
) -> None:
    made = graded_set()
    data = {"of": "single_turn@small", "author": "model", "name": name, "why": bucket}
    answer = client_for(alice).post(reverse("agreement:bucket", args=["set", made.public_id]), data, follow=True)
    assert words in answer.content.decode()
    assert not DisagreementBucket.objects.exists()


def test_different_reasons_of_several_people_are_counted_as_such(alice: User, bob: User) -> None:
    pair = Pair(paper="a", human=0, predicted=7)
    for user, bucket in ((alice, Bucket.GENEROUS), (bob, Bucket.MISSED)):
        DisagreementBucket.objects.create(source="x", grader="g", paper="a", bucket=bucket, by=user)
    counts = bucket_counts("x", "g", [pair, pair.model_copy(update={"paper": "b"}), Pair(paper="c", human=7, predicted=7)])
    assert (counts.disagreeing, counts.several, counts.open, sum(counts.named.values())) == (2, 1, 1, 0)
    assert bucket_of(buckets_of("x", "g")["a"]) == "several"


def test_long_names_stay_distinct() -> None:
    assert name_key("short") == "short"
    assert name_key("x" * 300) != name_key("x" * 301)
    assert len(name_key("x" * 300)) <= 200


def test_a_contaminated_pair_cannot_have_a_reason() -> None:
    assert not disagrees(Pair(paper="a", human=0, predicted=7, contaminated="seen"))


def run_of(
    user: User,
    stated: Problem,
    script: str,
    points: float | None,
    prompts: str = "p",
    workflow: str = "single_turn",
    *,
    scale: int = 7,
    sampling: dict[str, Any] | None = None,
    seed: int = 0,
    **params: Any,
) -> Run:
    spec = {
        "problem": {"statement": "S"}, "roles": {"grader": {"alias": "small", "sampling": sampling or {}}},
        "prompt_hashes": {"grader": prompts}, "params": {"script": script, **params}, "seed": seed,
    }  # fmt: skip
    run = Run.objects.create(
        title="A grading", problem_version=stated.current, owner=user, scaffold=workflow, spec=spec,
        status=RunStatus.FINISHED, calls=2, prompt_tokens=100, completion_tokens=20, active_seconds=3.0,
        finished_at=timezone.now(),
    )  # fmt: skip
    body: dict[str, Any] = {
        "name": "final",
        "points": points,
        "unscored": "" if points is not None else "no JSON",
        "grading": {"scale": str(scale)},
    }
    for number in (1, 2):
        Step.objects.create(
            run=run, key=f"grade/{number}", role="grader", prompt_tokens=50, completion_tokens=10, recorded_at=timezone.now()
        )
    RunEvent.objects.create(run=run, seq=1, key="final", kind=GradingReached.kind, at=timezone.now(), body=body)
    return run


def test_a_card_shows_cost_unscored_share_and_consistency_of_one_workflow_models_and_prompts(
    alice: User, client_for: ClientFor
) -> None:
    stated = make_problem()
    for seed, (script, points) in enumerate((("a", 7.0), ("a", 5.0), ("b", 3.0), ("c", None))):
        run_of(alice, stated, script, points, seed=seed)
    run_of(alice, stated, "a", 7.0, prompts="other prompts")
    card, other = cards_for(alice)
    assert (len(card.gradings), card.scripts, card.unscored, card.calls, card.tokens) == (4, 3, 1, 2, 120)
    assert card.consistency == Consistency(papers=1, left_out=2, same=0, spread=1.0, range=2.0)
    assert card.prompts != other.prompts
    assert isinstance(other.consistency, Unscored)
    client = client_for(alice)
    text = client.get(reverse("agreement:cards")).content.decode()
    assert "This is consistency, not accuracy" in text
    assert "no script was scored twice" in text
    listed = client.get(f"{reverse('agreement:cards')}?card={card.key}&unscored=1").content.decode()
    assert "1 grading<" in listed
    assert "no JSON" in listed


@pytest.mark.parametrize(
    "asked",
    [
        {"strict": False},
        {"neutral": True},
        {"marks": True},
        {"sampling": {"temperature": 1.0}},
        {"sampling": {"max_new_tokens": 100}},
    ],
)
def test_other_settings_make_another_grader_and_card(asked: dict[str, Any], alice: User, client_for: ClientFor) -> None:
    stated = make_problem()
    run_of(alice, stated, "a", 7.0, workflow="scheme")
    run_of(alice, stated, "a", 3.0, workflow="scheme", **asked)
    cards = cards_for(alice)
    assert [len(card.gradings) for card in cards] == [1, 1]
    assert all(isinstance(card.consistency, Unscored) for card in cards)
    assert len({card.key for card in cards}) == len({card.settings for card in cards}) == 2
    text = client_for(alice).get(reverse("agreement:cards")).content.decode()
    assert all(card.settings in text for card in cards)


@pytest.mark.parametrize(
    "asked",
    [
        {"references": ["Another way."]}, {"guidelines": "Be kind."}, {"scheme": {"scale": "7"}},
        {"prepared": {"rubric/approved/1": {"items": []}}},
    ],
)  # fmt: skip
def test_a_grading_with_other_material_is_not_a_repeat(asked: dict[str, Any], alice: User) -> None:
    stated = make_problem()
    run_of(alice, stated, "a", 7.0)
    run_of(alice, stated, "a", 3.0, **asked)
    (card,) = cards_for(alice)
    assert len(card.gradings) == 2
    assert isinstance(card.consistency, Unscored)


def test_seeds_steps_prepared_pieces_and_defaults_do_not_change_the_question(alice: User) -> None:
    stated = make_problem()
    run_of(alice, stated, "a", 7.0)
    run_of(
        alice, stated, "a", 3.0, seed=5, spans=[{"start": 0, "end": 1}], prepared={"clusters/x": {}}, neutral=False,
        structured=False,
    )  # fmt: skip
    (card,) = cards_for(alice)
    assert card.consistency == Consistency(papers=1, left_out=0, same=0, spread=2.0, range=4.0)


def test_a_replay_with_the_same_seed_is_reported_and_is_not_a_repeat(alice: User, client_for: ClientFor) -> None:
    stated = make_problem()
    for points in (None, 7.0, 7.0):
        run_of(alice, stated, "a", points, seed=3)
    (card,) = cards_for(alice)
    assert (isinstance(card.consistency, Unscored), card.replays) == (True, 2)
    text = client_for(alice).get(reverse("agreement:cards")).content.decode()
    assert "no script was scored twice with different seeds" in text
    assert "Excluded: 2 gradings with a repeated seed on the same script." in text
    run_of(alice, stated, "a", 3.0, seed=4)
    (card,) = cards_for(alice)
    assert card.consistency == Consistency(papers=1, left_out=0, same=0, spread=2.0, range=4.0)


def test_replays_of_cells_count_once_and_rescaled_points_are_reported(alice: User) -> None:
    made = graded_set()
    first = ExperimentCell.objects.get(script__name="s0")
    for number, (seed, points) in enumerate(((1, 6), (1, 6), (2, 3))):
        run = run_of(alice, make_problem(), "s0", float(points), seed=seed)
        ExperimentCell.objects.create(
            experiment=first.experiment, position=20 + number, script=first.script, problem="p", workflow="single_turn",
            alias="small", points=points, scale=6, state="scored", run=run,
        )  # fmt: skip
    gathered = SetSource(made).gather(Chosen(human="expert"))
    assert gathered.runs["single_turn@small"]["s0"] == (7.0, 7.0, 3.5)
    scaled, replayed = gathered.notes
    assert "points out of 6 are rescaled to the people's 7 points." in scaled
    assert "excluded 1 run that repeats another run on the same script with the same seed." in replayed


def test_each_maximum_of_a_set_is_compared_separately() -> None:
    made = graded_set()
    HumanScore.objects.filter(script__name="s1").update(out_of=10, points=10)
    source = SetSource(made)
    assert [one.name for one in source.choices().humans] == ["expert · out of 7", "expert · out of 10"]
    gathered = source.gather(Chosen(human="expert · out of 10"))
    counting = [pair for pair in gathered.graders["single_turn@small"] if not pair.contaminated]
    assert [(pair.paper, pair.human) for pair in counting] == [("s1", 10)]
    assert counting[0].predicted == pytest.approx(10 / 7), "out of 7 it was 1"
    assert gathered.scale.highest == 10


def test_consistency_is_rescaled_to_seven_points(alice: User) -> None:
    stated = make_problem()
    for seed, (script, points, scale) in enumerate((("a", 10.0, 14), ("a", 14.0, 14), ("b", 4.0, 7), ("b", 4.0, 7))):
        run_of(alice, stated, script, points, scale=scale, seed=seed)
    (card,) = cards_for(alice)
    assert card.consistency == Consistency(papers=2, left_out=0, same=0.5, spread=0.5, range=1.0)


def test_cards_include_only_gradings_that_the_reader_may_see(alice: User, charlie: User, client_for: ClientFor) -> None:
    run_of(alice, make_problem(), "a", 7.0)
    assert cards_for(charlie) == []
    assert client_for(charlie).get(reverse("agreement:cards")).status_code == 404
    assert client_for(marker("otto")).get(f"{reverse('agreement:cards')}?card=nothing").status_code == 404
