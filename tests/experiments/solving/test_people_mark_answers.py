"""People mark a random sample of the answers; their marks are scores and correct the means of the other scorers."""

import re
from decimal import Decimal
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from apps.accounts.models import User
from apps.experiments.models import CellScore, Experiment, PersonMark
from apps.experiments.refusals import ExperimentRefused
from apps.experiments.solving.manifest import ManifestWrong, Scorer
from apps.experiments.solving.pages import page_of
from apps.experiments.solving.people.answers import CANCELLED, answers_of, mark_save
from apps.experiments.solving.people.corrected import corrected_lines
from apps.experiments.solving.people.sampling import Pair, order_of, sample_of
from apps.experiments.solving.services import manifest_stored, solving_extend
from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.statistics.prediction_powered import Corrected, corrected_mean
from apps.reasoning.statistics.scores import Scores
from tests.cast import person
from tests.experiments.driving import Stage
from tests.experiments.solving.playing import begin, make_problem_set, manifest
from tests.reasoning.play import proof
from tests.runs.factory import make_run

pytestmark = pytest.mark.django_db(transaction=True)
TWO = [{"name": "single", "scaffold": "single_call"}, {"name": "vote", "scaffold": "majority_vote", "params": {"solutions": 2}}]
PEOPLE = {"name": "people", "kind": "people"}
ANSWER = {"name": "answer", "kind": "answer"}


@pytest.fixture
def alice() -> User:
    return person("alice")


@pytest.fixture
def answers() -> dict[str, object]:
    texts = iter(range(10_000))

    def right_on_even_ones(request: GenerationRequest) -> str:
        number = int(re.findall(r"sum number (\d+)", " ".join(message.content for message in request.messages))[0])
        return proof("We add.", f"By way {next(texts)}.\nAnswer: {number if number % 2 == 0 else 0}")

    return {"*": right_on_even_ones}


def scorer_of(experiment: Experiment, name: str = "people") -> Scorer:
    return next(one for one in manifest_stored(experiment).scorers if one.name == name)


def mark(user: User, experiment: Experiment, digest: str, points: str, comment: str = "") -> None:
    scorer = scorer_of(experiment)
    mark_save(user=user, experiment=experiment, scorer=scorer, digest=digest, points=Decimal(points), comment=comment)


def asked(experiment: Experiment) -> list[tuple[str, str, int]]:
    rows = CellScore.objects.filter(cell__experiment=experiment, scorer="people")
    return sorted(rows.values_list("cell__method", "cell__item__name", "cell__repeat"))


def digests(experiment: Experiment) -> list[str]:
    return sorted(
        set(CellScore.objects.filter(cell__experiment=experiment).exclude(digest="").values_list("digest", flat=True))
    )


def test_the_sample_is_the_same_problems_and_repeats_for_each_row(alice: User, stage: Stage) -> None:
    make_problem_set(8)
    experiment = stage.play(begin(alice, methods=TWO, repeats=2, scorers=[{**PEOPLE, "sample": 3}]))
    rows = asked(experiment)
    by_method = {name: [row[1:] for row in rows if row[0] == name] for name in ("single", "vote")}
    assert by_method["single"] == by_method["vote"]
    assert len(by_method["single"]) == 3
    assert len({problem for problem, _ in by_method["single"]}) == 3
    assert len(digests(experiment)) == 6


def test_an_extension_adds_to_the_sample_and_changes_nothing_of_it(alice: User, stage: Stage) -> None:
    make_problem_set(9)
    scorers, few = [{**PEOPLE, "sample": 3}], {"set": "sums@1", "names": tuple(f"sum-{number}" for number in range(1, 6))}
    experiment = stage.play(begin(alice, problems=few, scorers=scorers))
    before, texts = asked(experiment), digests(experiment)
    mark(alice, experiment, texts[0], "4")
    larger = manifest(methods=TWO, repeats=3, scorers=scorers)
    solving_extend(experiment=experiment, manifest=larger)
    stage.play(experiment)
    after = asked(experiment)
    assert set(before) < set(after)
    assert set(texts) < set(digests(experiment))
    assert [row[1:] for row in after if row[0] == "single"] == [row[1:] for row in after if row[0] == "vote"]
    assert CellScore.objects.get(digest=texts[0]).points == 4


@pytest.mark.parametrize("seed", range(20))
def test_new_problems_enter_the_sample_with_the_chance_of_the_earlier_ones(seed: int) -> None:
    old = {Pair(f"p{number}", repeat) for number in range(20) for repeat in range(2)}
    new = {Pair(f"p{number}", repeat) for number in range(40) for repeat in range(4)}
    first = sample_of(manifest(seed=seed), 10, old, set())
    grown = sample_of(manifest(seed=seed), 10, new, first)
    last = max(order_of(seed, pair) for pair in first)
    assert len(first) == 10
    assert first <= grown
    assert grown - first == {pair for pair in new - old if order_of(seed, pair) <= last}
    assert sample_of(manifest(seed=seed), 0, new, first) == new
    assert sample_of(manifest(seed=seed), 100, new, first) > grown


def test_other_seeds_draw_other_samples() -> None:
    pairs = {Pair(f"p{number}", 0) for number in range(40)}
    drawn = [frozenset(sample_of(manifest(seed=seed), 10, pairs, set())) for seed in range(50)]
    assert len(set(drawn)) == 50
    times = [sum(pair in sample for sample in drawn) for pair in pairs]
    assert 2 <= min(times) <= max(times) <= 24  # 12.5 ± 3.1 of 50 each


def test_a_mark_is_saved_changed_and_averaged_with_that_of_another(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(2)
    experiment = stage.play(begin(alice, scorers=[PEOPLE]))
    client.force_login(alice)
    overview = f"/experiments/{experiment.public_id}/marks/"
    first = re.findall(rf'href="({overview}[0-9a-f]+/)"', client.get(overview).content.decode())[0]
    digest = first.split("/")[-2]
    saved = client.post(first, {"points": "5.5", "comment": "A gap."})
    assert saved["Location"] not in (first, overview)
    assert saved["Location"].startswith(overview)
    html = client.get(first).content.decode()
    assert 'value="5.5"' in html
    assert "A gap." in html
    assert "1 of 2 marked" in html
    client.post(first, {"points": "3"})
    mark(person("dana"), experiment, digest, "6")
    assert sorted(PersonMark.objects.values_list("by__username", "points")) == [("alice", Decimal(3)), ("dana", Decimal(6))]
    score = CellScore.objects.get(digest=digest)
    assert (score.state, score.points, score.scale) == ("scored", Decimal("4.5"), Decimal(7))
    done = client.post(saved["Location"], {"points": "0"})
    assert done["Location"] == f"{overview}?scorer=people"
    assert "2 of 2 marked by you" in client.get(overview).content.decode()


def test_skip_leads_to_the_other_open_answers_in_turn(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(3)
    experiment = stage.play(begin(alice, scorers=[PEOPLE]))
    client.force_login(alice)
    order = [one.digest for one in answers_of(alice, experiment, scorer_of(experiment))]
    seen, url = [], f"/experiments/{experiment.public_id}/marks/{order[0]}/"
    for _ in range(4):
        seen.append(url.split("/")[-2])
        url = re.findall(r'class="button" href="([^"]+)">Skip', client.get(url).content.decode())[0]
    assert seen == [*order, order[0]]
    assert not PersonMark.objects.exists()


@pytest.mark.parametrize("points", ["7.5", "-1", "", "many", "NaN", "1.234"])
def test_a_mark_out_of_range_is_refused_and_the_comment_kept(alice: User, stage: Stage, client: Client, points: str) -> None:
    make_problem_set(1)
    experiment = stage.play(begin(alice, scorers=[PEOPLE]))
    client.force_login(alice)
    answer = client.post(
        f"/experiments/{experiment.public_id}/marks/{digests(experiment)[0]}/", {"points": points, "comment": "Hm."}
    )
    assert answer.status_code == 422
    assert "field__error" in answer.content.decode()
    assert "Hm." in answer.content.decode()
    assert not PersonMark.objects.exists()
    assert CellScore.objects.get().state == "asked"


def test_the_service_refuses_what_the_form_would(alice: User, stage: Stage) -> None:
    make_problem_set(1)
    experiment = stage.play(begin(alice, scorers=[{**PEOPLE, "points": 20}]))
    mark(alice, experiment, digests(experiment)[0], "20")
    with pytest.raises(ExperimentRefused, match="Give 0 to 20 points"):
        mark(alice, experiment, digests(experiment)[0], "20.5")
    assert PersonMark.objects.get().points == 20


def test_a_cancelled_experiment_takes_no_more_marks_and_keeps_those_given(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(1)
    experiment = stage.play(begin(alice, scorers=[PEOPLE]))
    mark(alice, experiment, digests(experiment)[0], "2")
    Experiment.objects.update(state="cancelled")
    client.force_login(alice)
    answer = client.post(f"/experiments/{experiment.public_id}/marks/{digests(experiment)[0]}/", {"points": "5"})
    assert answer.status_code == 422
    assert CANCELLED in answer.content.decode()
    assert PersonMark.objects.get().points == 2


def test_equal_answers_are_marked_once_and_count_for_all(alice: User, stage: Stage, answers: dict[str, object]) -> None:
    answers["*"] = proof("We add.", "So it is.\nAnswer: 1")
    make_problem_set(2)
    twin = [*TWO, {"name": "twin", "scaffold": "single_call"}]
    experiment = stage.play(begin(alice, methods=twin, repeats=2, scorers=[PEOPLE]))
    assert len(asked(experiment)) == 12
    assert len(digests(experiment)) == 2
    assert len(answers_of(alice, experiment, scorer_of(experiment))) == 2
    mark(alice, experiment, digests(experiment)[0], "7")
    assert CellScore.objects.filter(state="scored", points=7).count() == 6
    assert PersonMark.objects.count() == 1
    solving_extend(experiment=experiment, manifest=manifest(methods=twin, repeats=3, scorers=[PEOPLE]))
    stage.play(experiment)
    assert CellScore.objects.filter(state="scored", points=7).count() == 9
    assert CellScore.objects.filter(state="asked").count() == 9


def test_nothing_handed_in_is_unscored_and_not_offered(alice: User, stage: Stage, answers: dict[str, object]) -> None:
    answers["*"] = "I do not know."
    make_problem_set(1)
    experiment = stage.play(begin(alice, scorers=[PEOPLE]))
    assert CellScore.objects.get().unscored == "nothing was handed in"
    assert answers_of(alice, experiment, scorer_of(experiment)) == []


def test_people_added_later_are_asked_about_finished_cells_without_a_call(alice: User, stage: Stage) -> None:
    make_problem_set(2)
    experiment = stage.play(begin(alice, scorers=[ANSWER]))
    calls = len(stage.asked)
    solving_extend(experiment=experiment, manifest=manifest(scorers=[ANSWER, PEOPLE]))
    stage.play(experiment)
    assert experiment.state == "done"
    assert len(digests(experiment)) == 2
    assert len(stage.asked) == calls


def test_corrected_means_are_those_of_the_statistics_and_too_few_marks_say_why(
    alice: User, stage: Stage, client: Client
) -> None:
    make_problem_set(12)
    experiment = stage.play(begin(alice, repeats=2, scorers=[ANSWER, {**PEOPLE, "sample": 12}]))
    rows = dict(CellScore.objects.exclude(digest="").values_list("digest", "cell__item__name"))
    for number, (digest, problem) in enumerate(sorted(rows.items(), key=lambda row: row[1])):
        if number == 9:
            few = corrected_lines(experiment, manifest_stored(experiment), "people")[0]
        mark(alice, experiment, digest, "7" if problem in ("sum-2", "sum-3", "sum-4", "sum-10") else "1.5")
    assert (few.corrected, few.marked) == ("", 9)
    assert few.why == "9 problems have a mark; 10 are needed"

    names = [f"sum-{number}" for number in range(1, 13)]
    graded = [[float(number % 2 == 0)] * 2 for number in range(1, 13)]
    given = [[1.0 if name in ("sum-2", "sum-3", "sum-4", "sum-10") else 1.5 / 7, np.nan] for name in names]
    expected = corrected_mean(Scores.of(names, graded), Scores.of(names, given))
    assert isinstance(expected, Corrected)
    (line,) = corrected_lines(experiment, manifest_stored(experiment), "people")
    assert (line.scorer, line.marked, line.why) == ("answer", 12, "")
    assert line.corrected == f"{100 * expected.value:.1f} %"
    assert line.corrected_interval == f"{100 * expected.interval.low:.1f} to {100 * expected.interval.high:.1f}"
    assert line.raw == "50.0 %"
    assert line.people == f"{100 * (4 + 8 * 1.5 / 7) / 12:.1f} %"
    assert line.apart == f"{50 - 100 * (4 + 8 * 1.5 / 7) / 12:+.1f}"
    client.force_login(alice)
    html = client.get(f"/experiments/{experiment.public_id}/marks/").content.decode()
    assert line.corrected in html
    assert "People marked 12 answers" in client.get(f"/experiments/{experiment.public_id}/").content.decode()
    out = StringIO()
    call_command("experiment", "table", "Trial", "--corrected", stdout=out)
    assert f"single · answer: raw 50.0 % ({line.raw_interval}), corrected {line.corrected}" in out.getvalue()


def test_marks_are_a_column_of_their_own_and_leave_the_raw_table(alice: User, stage: Stage) -> None:
    make_problem_set(2)
    experiment = stage.play(begin(alice, scorers=[ANSWER, PEOPLE]))
    raw = page_of(experiment, {"scorer": "answer"}, set())["lines"]
    for digest in digests(experiment):
        mark(alice, experiment, digest, "3.5")
    assert page_of(experiment, {"scorer": "answer"}, set())["lines"][0].mean == raw[0].mean == "50.0 %"
    assert page_of(experiment, {"scorer": "people"}, set())["lines"][0].row.mean == pytest.approx(0.5)


def test_the_command_says_which_scorers_are_by_people(alice: User, stage: Stage) -> None:
    make_problem_set(1)
    stage.play(begin(alice, scorers=[ANSWER]))
    with pytest.raises(CommandError, match="Its scorers by people: none"):
        call_command("experiment", "table", "Trial", "--corrected", stdout=StringIO())


def test_points_and_a_sample_belong_to_people_alone() -> None:
    assert manifest(scorers=[{**PEOPLE, "points": 10, "sample": 5}]).scorers[0].sample == 5
    for wrong in ({"points": 10}, {"sample": 5}):
        with pytest.raises(ManifestWrong, match="the kind people, and no other"):
            manifest(scorers=[{**ANSWER, **wrong}])
    with pytest.raises(ManifestWrong, match="points"):
        manifest(scorers=[{**PEOPLE, "points": 0}])


def test_pages_of_many_answers_make_few_queries(alice: User, client: Client, django_assert_max_num_queries: object) -> None:
    make_problem_set(20)
    experiment = begin(alice, methods=TWO, repeats=5, scorers=[ANSWER, PEOPLE])
    experiment.solving_cells.update(run=make_run(), state="finished", answer="P1")
    for score in CellScore.objects.all():
        CellScore.objects.filter(pk=score.pk).update(digest=f"{score.pk:064x}")
    client.force_login(alice)
    overview = f"/experiments/{experiment.public_id}/marks/"
    for url in (overview, f"{overview}{digests(experiment)[7]}/"):
        with django_assert_max_num_queries(16):  # type: ignore[operator]
            assert client.get(url).status_code == 200
