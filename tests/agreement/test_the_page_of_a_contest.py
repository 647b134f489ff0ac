"""The agreement page of a contest: access, counted pairs, and excluded pairs with the reason."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.agreement.sources.contests import ContestSource
from apps.agreement.sources.sources import Chosen
from apps.contests.models import AuthorKind, ContestProblem, Identity
from apps.experiments.models import Experiment, ExperimentCell
from apps.marks.models import CaseState, Mark, MarkingCase, MarkingTask, Reveal, RevealKind, Slot, Suggestion
from apps.reasoning.agreement.pairs import Pair
from apps.reasoning.domain.values import Unscored
from tests.agreement.factory import GRADER, MARKS, marked, settled_contest, suggested
from tests.marks.factory import marker
from tests.problems.factory import make_problem
from tests.schemes.factory import make_scheme

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


@pytest.fixture
def problem(bob: User) -> ContestProblem:
    return settled_contest(bob, marker("marga"))


def page(client: Client, problem: ContestProblem, query: str = "") -> str:
    address = reverse("agreement:detail", args=["contest", problem.contest.public_id])
    return client.get(f"{address}?{query}").content.decode()


def pairs_of(user: User, problem: ContestProblem, human: str = "first", scheme: str = "") -> dict[str, Pair]:
    """The pairs of the grader by the public id of the case."""
    gathered = ContestSource(user, problem.contest).gather(Chosen(human=human, scheme=scheme))
    return {pair.paper: pair for pair in gathered.graders.get(GRADER, ())}


def case(problem: ContestProblem, number: int = 0) -> MarkingCase:
    return problem.cases.order_by("pk")[number]


def test_an_organiser_sees_figures_with_intervals_and_links_behind_every_number(
    bob: User, problem: ContestProblem, client_for: ClientFor
) -> None:
    text = page(client_for(bob), problem)
    assert "Papers by students" in text
    assert re.search(r"QWK.*?<a href=[^>]+>0\.9\d\d</a><span class=\"agreement-interval\">0\.\d+ … ", text, re.DOTALL)
    assert "Gwet’s" in text
    assert "row=0&amp;column=1" in text
    client = client_for(bob)
    for address in {one.replace("&amp;", "&") for one in re.findall(r'href="(/grading/agreement/[^"]+)"', text)}:
        assert client.get(address).status_code == 200, address


def test_other_coaches_researchers_and_students_get_404(
    bob: User, alice: User, charlie: User, problem: ContestProblem, client_for: ClientFor
) -> None:
    for name in ("detail", "data", "json", "pairs"):
        address = reverse(f"agreement:{name}", args=["contest", problem.contest.public_id])
        assert client_for(bob).get(address).status_code == 200
        for stranger in (alice, charlie, marker("marga")):
            assert client_for(stranger).get(address).status_code == 404


def test_an_unsettled_script_is_not_compared(bob: User, problem: ContestProblem) -> None:
    MarkingCase.objects.filter(pk=case(problem).pk).update(state=CaseState.DISPUTED)
    assert len(pairs_of(bob, problem)) == 39
    assert str(case(problem).public_id) not in pairs_of(bob, problem)


def test_a_problem_is_hidden_from_an_organiser_who_marks_it_until_sealing(
    bob: User, problem: ContestProblem, client_for: ClientFor
) -> None:
    MarkingTask.objects.create(
        case=case(problem), slot=Slot.AGAIN, assignee=bob, lease_until=timezone.now() + timedelta(hours=1)
    )
    assert pairs_of(bob, problem) == {}
    text = page(client_for(bob), problem)
    assert "Problem 1 is hidden until your own marks on it are sealed" in text
    assert "QWK</th>" not in text


def test_a_calibration_script_is_compared_after_the_readers_own_mark(bob: User, problem: ContestProblem) -> None:
    MarkingCase.objects.filter(pk=case(problem).pk).update(is_calibration=True)
    assert len(pairs_of(bob, problem)) == 39
    marked(case(problem), bob, 3, None, Slot.CALIBRATION)
    assert len(pairs_of(bob, problem)) == 40


@pytest.mark.parametrize(("name", "shown"), [("detail", 0), ("pairs", 25), ("json", 40)])
def test_listed_results_are_recorded_in_the_ledger_once(
    name: str, shown: int, bob: User, problem: ContestProblem, client_for: ClientFor
) -> None:
    address = reverse(f"agreement:{name}", args=["contest", problem.contest.public_id])
    for _ in range(2):
        assert client_for(bob).get(f"{address}?author=student&difference=same").status_code == 200
    kept = Reveal.objects.filter(person=bob, trigger="agreement")
    assert kept.filter(kind=RevealKind.ITEMS, suggestion=None).values("case").distinct().count() == shown
    assert kept.filter(kind=RevealKind.COLLEAGUE, mark__marker=marker("marga")).count() == shown
    assert kept.count() == 2 * shown


def test_sealed_points_count_and_revisions_after_a_reveal_do_not(bob: User, problem: ContestProblem) -> None:
    Mark.objects.filter(task__case=case(problem)).update(points=7, state="revised")
    assert pairs_of(bob, problem)[str(case(problem).public_id)].human == MARKS[0]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (RevealKind.LOCATIONS, "sealed after a suggestion was seen"),
        (RevealKind.COLLEAGUE, "sealed after a colleague's mark was seen"),
        (RevealKind.PRECEDENTS, "sealed after precedents were seen"),
    ],
)
def test_a_mark_sealed_after_a_reveal_is_contaminated_and_in_no_statistic(
    kind: RevealKind, words: str, bob: User, problem: ContestProblem, client_for: ClientFor
) -> None:
    mark = Mark.objects.get(task__case=case(problem))
    Reveal.objects.create(case=mark.task.case, person=mark.marker, kind=kind, trigger="a test")
    Mark.objects.filter(pk=mark.pk).update(sealed_at=timezone.now())
    assert pairs_of(bob, problem)[str(case(problem).public_id)].contaminated == words
    text = page(client_for(bob), problem)
    assert f"1 excluded: {words}" in text.replace("&#x27;", "'")
    assert "kind=contaminated" in text


def test_reveals_after_sealing_or_to_another_person_contaminate_no_mark(bob: User, problem: ContestProblem) -> None:
    mark = Mark.objects.get(task__case=case(problem))
    Reveal.objects.create(case=mark.task.case, person=mark.marker, kind=RevealKind.FINDINGS, trigger="after sealing")
    seen_by_bob = case(problem, 1)
    Reveal.objects.create(case=seen_by_bob, person=bob, kind=RevealKind.COLLEAGUE, trigger="ledger")
    Mark.objects.filter(task__case=seen_by_bob).update(sealed_at=timezone.now())
    assert not any(pair.contaminated for pair in pairs_of(bob, problem).values())


def test_a_mark_made_with_suggestions_visible_is_contaminated(bob: User, problem: ContestProblem) -> None:
    Mark.objects.filter(task__case=case(problem)).update(is_assisted=True)
    assert pairs_of(bob, problem)[str(case(problem).public_id)].contaminated == "made with suggestions visible"


def test_versions_of_a_scheme_are_never_mixed(bob: User, problem: ContestProblem) -> None:
    other = make_scheme(bob, problem.problem).versions.get()
    first = Mark.objects.filter(scheme_version__isnull=False)[0].scheme_version
    assert first is not None
    newer = type(other).objects.create(
        scheme=first.scheme, number=first.number + 1, status="retired", body=first.body, content_hash="n", meaning_hash="newer",
        parent=first,
    )  # fmt: skip
    changed = case(problem)
    Mark.objects.filter(task__case=changed).update(scheme_version=newer)
    pairs = pairs_of(bob, problem)
    assert pairs[str(changed.public_id)].predicted == Unscored(reason="graded under another version of the scheme only")
    kept = [pair for pair in pairs.values() if not pair.contaminated]
    assert [pair.paper for pair in kept] == [str(changed.public_id)]
    older = pairs_of(bob, problem, scheme=str(first.public_id))
    assert older[str(changed.public_id)].contaminated == f"marked under version {newer.number} of the scheme"
    assert sum(not pair.contaminated for pair in older.values()) == 39


def test_scheme_versions_are_offered_for_the_chosen_problem_only(
    bob: User, problem: ContestProblem, client_for: ClientFor
) -> None:
    first = Mark.objects.filter(scheme_version__isnull=False)[0].scheme_version
    assert first is not None
    newer = type(first).objects.create(
        scheme=first.scheme, number=first.number + 1, status="retired", body=first.body, content_hash="n", meaning_hash="newer",
        parent=first,
    )  # fmt: skip
    Mark.objects.filter(task__case=case(problem)).update(scheme_version=newer)
    another = make_problem("Another")
    second = ContestProblem.objects.create(
        contest=problem.contest, problem=another, version=another.current, position=2, label="2"
    )
    moved = case(problem, 1)
    MarkingCase.objects.filter(pk=moved.pk).update(problem=second)
    Mark.objects.filter(task__case=moved).update(scheme_version=make_scheme(bob, another).versions.get())
    text = page(client_for(bob), problem)
    assert 'name="scheme"' not in text
    assert 'name="scheme"' not in page(client_for(bob), problem, "problem=2")
    text = page(client_for(bob), problem, f"problem={problem.label}&scheme={first.public_id}")
    assert re.findall(r'<option value="([^"]+)"( selected)?>Version', text) == [
        (str(newer.public_id), ""), (str(first.public_id), " selected"),
    ]  # fmt: skip
    assert f"1 excluded: marked under version {newer.number} of the scheme" in text
    address = reverse("agreement:places", args=[problem.contest.public_id])
    assert 'name="scheme"' in client_for(bob).get(f"{address}?problem={problem.label}").content.decode()


def test_versions_with_the_same_meaning_are_compared(bob: User, problem: ContestProblem) -> None:
    first = Mark.objects.filter(scheme_version__isnull=False)[0].scheme_version
    assert first is not None
    worded = type(first).objects.create(
        scheme=first.scheme, number=first.number + 1, status="retired", body=first.body, content_hash="w",
        meaning_hash=first.meaning_hash, is_wording_only=True, parent=first,
    )  # fmt: skip
    Mark.objects.filter(task__case=case(problem)).update(scheme_version=worded)
    pairs = pairs_of(bob, problem).values()
    assert not any(pair.contaminated or isinstance(pair.predicted, Unscored) for pair in pairs)


def test_students_and_models_have_separate_tables(bob: User, problem: ContestProblem, client_for: ClientFor) -> None:
    papers = problem.contest.papers.order_by("pk").values("pk")[:5]
    Identity.objects.filter(paper__in=papers).update(kind=AuthorKind.MODEL)
    text = page(client_for(bob), problem)
    assert "Papers by students" in text
    assert "Papers by models" in text
    assert "scripted, papers by models" not in text
    assert "Counts only: statistics need 30 pairs or more" in text


def test_the_author_kind_of_a_paper_is_hidden_while_one_of_its_scripts_is_open(bob: User, problem: ContestProblem) -> None:
    Identity.objects.filter(paper=case(problem).version.submission.paper).update(kind=AuthorKind.MODEL)
    source = ContestSource(bob, problem.contest)
    assert {pair.author for pair in source.gather(Chosen(human="first")).graders[GRADER]} == {"model", "student"}
    MarkingCase.objects.filter(pk=case(problem, 1).pk).update(state=CaseState.OPEN)
    MarkingCase.objects.filter(pk=case(problem).pk).update(state=CaseState.OPEN)
    kinds = ContestSource(bob, problem.contest)._kinds()
    assert kinds[case(problem).version.submission.paper_id] == ""
    assert kinds[case(problem, 2).version.submission.paper_id] == "student"


def test_two_people_are_the_baseline(bob: User, problem: ContestProblem, client_for: ClientFor) -> None:
    second = marker("otto")
    version = Mark.objects.all()[0].scheme_version
    for number, row in enumerate(problem.cases.order_by("pk")):
        marked(row, second, MARKS[number % 8] if number % 5 else 3, version, Slot.SECOND)
    text = page(client_for(bob), problem)
    assert "two people" in text
    assert "the agreement of two people, as a baseline" in text
    assert "Marks of otto" in text
    assert len(pairs_of(bob, problem, human="marker-otto")) == 40


def test_a_grader_that_failed_is_unscored_with_the_reason(bob: User, problem: ContestProblem) -> None:
    row = Suggestion.objects.get(version=case(problem).version)
    Suggestion.objects.filter(pk=row.pk).update(state="failed", reason="The model is away.", body={})
    assert pairs_of(bob, problem)[str(case(problem).public_id)].predicted == Unscored(reason="The model is away.")


def test_a_grader_without_points_is_shown_for_steps_and_items_only(
    bob: User, problem: ContestProblem, client_for: ClientFor
) -> None:
    suggested(case(problem), None, None, "computational")
    assert "Formula check" not in page(client_for(bob), problem)
    places = reverse("agreement:places", args=[problem.contest.public_id])
    assert "Formula check" in client_for(bob).get(places).content.decode()
    source = ContestSource(bob, problem.contest, of_points=False)
    (pair,) = source.gather(Chosen(human="first")).graders["computational"]
    assert pair.predicted == Unscored(reason="no points given")


def test_a_column_without_pairs_has_zero_problems(bob: User, problem: ContestProblem, client_for: ClientFor) -> None:
    Suggestion.objects.update(state="failed", reason="The model is away.", body={})
    row = re.search(r"<th[^>]*>problems</th>.*?</tr>", page(client_for(bob), problem), re.DOTALL)
    assert row is not None
    assert re.sub(r"<[^>]+>|\s", "", row[0]) == "problems0"


def test_points_of_a_grader_are_rescaled_to_the_marks(bob: User, problem: ContestProblem) -> None:
    Suggestion.objects.filter(version=case(problem).version).update(
        body={"scale": "14", "distribution": [{"points": "14", "share": 0.5}, {"points": "7", "share": 0.5}]}
    )
    assert pairs_of(bob, problem)[str(case(problem).public_id)].predicted == pytest.approx(5.25)


def test_experiments_on_settled_scripts_are_compared_unless_their_scheme_is_unknown(bob: User, problem: ContestProblem) -> None:
    experiment = Experiment.objects.create(title="E", contest=problem.contest, workflows=["single_turn"], aliases=["small"])
    first, second, third = problem.cases.order_by("pk")[:3]
    MarkingCase.objects.filter(pk=third.pk).update(state=CaseState.OPEN)
    for position, (version, workflow, points) in enumerate(
        [
            (first.version, "single_turn", 3), (first.version, "single_turn", 5), (second.version, "single_turn", None),
            (third.version, "single_turn", 7), (first.version, "scheme", 7),
        ]
    ):  # fmt: skip
        ExperimentCell.objects.create(
            experiment=experiment, position=position, version=version, problem="p", workflow=workflow, alias="small",
            points=points, scale=None if points is None else 7, state="unscored" if points is None else "scored",
            unscored="it is no JSON" if points is None else "",
        )  # fmt: skip
    source = ContestSource(bob, problem.contest)
    assert [one.name for one in source.choices().graders] == [GRADER, "cell:single_turn@small"]
    pairs = source.gather(Chosen(human="first")).graders["cell:single_turn@small"]
    assert [(pair.paper, pair.predicted) for pair in pairs] == [
        (str(first.public_id), 4), (str(second.public_id), Unscored(reason="it is no JSON")),
    ]  # fmt: skip
