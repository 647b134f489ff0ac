"""Two to four runs of one problem on one page: who sees it, what it shows, and what it refuses."""

from collections.abc import Sequence
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import ContestState
from apps.lemmas.models import Lemma, LemmaState, Verdict
from apps.lemmas.pairs.models import LemmaPair
from apps.runs.models import Run, RunStatus, Step
from tests.contests.factory import make_contest
from tests.explorations.factory import make_exploration, make_problem
from tests.lemmas.factory import make_run

pytestmark = pytest.mark.django_db
URL = "/runs/compare/"


def opened(client: Client, user: User, runs: Sequence[Any], status: int = 200, **query: str) -> str:
    """The page of some runs (or ids) as a user sees it."""
    client.force_login(user)
    answer = client.get(URL, {"run": [str(getattr(run, "public_id", run)) for run in runs], **query})
    assert answer.status_code == status
    return answer.content.decode()


def ids(*runs: Run) -> dict[str, list[str]]:
    """What the address or a form says of these runs."""
    return {"run": [str(run.public_id) for run in runs]}


def flat(page: str) -> str:
    return " ".join(page.split())


def lemma(run: Run, name: str, statement: str, judged: str = "verified", **fields: Any) -> Lemma:
    """One more lemma of a run."""
    number = run.lemmas.count() + 1
    return Lemma.objects.create(
        run=run, lemma=name, number=number, rollout=0, round=1, statement=statement, judged=judged, status=judged,
        first_seq=1000 + number, last_seq=1000 + number, **fields,
    )  # fmt: skip


def test_it_shows_outcome_settings_and_counts_of_each_run(client: Client, alice: User) -> None:
    runs = [make_exploration(alice), make_exploration(alice, RunStatus.FAILED, status_reason="No space left.")]
    page = flat(opened(client, alice, runs))
    assert "2 runs on “240 divides" in page
    table = page.partition('aria-label="Outcomes of the runs"')[2].partition("</table>")[0]
    for words in ("accepted", "failed", "No space left.", "4 of 4 votes · 100 %", "smollm2", "Intern-S1-MO", "alice"):
        assert words in table.lower() or words in table, words
    assert table.count(">13 <span") == 2  # Lemmas, the corrected one twice.
    assert "9 verified" in table
    assert page.count('class="compare-letter">A<') > 1
    assert page.count('class="compare-letter">B<') > 1


def test_cost_is_by_role_and_unknown_amounts_are_a_dash(client: Client, alice: User) -> None:
    known, unknown = make_exploration(alice), make_exploration(alice)
    Step.objects.filter(run=unknown).update(prompt_tokens=0, completion_tokens=0, duration_s=0)
    page = flat(opened(client, alice, [known, unknown]))
    table = page.partition('aria-label="Table of costs"')[2].partition("</table>")[0]
    assert "Verify lemmas" in table
    cells = table.partition("Reason</th>")[2].partition("</tr>")[0].split("</td>")
    assert '<span class="num">8,988</span>' in cells[0]
    assert "7 calls · 24 s" in cells[0]
    assert '<span class="num">–</span>' in cells[1]
    assert "7 calls · – · money –" in cells[1]


def test_money_is_shown_where_each_model_has_a_price(client: Client, alice: User) -> None:
    priced, free = make_exploration(alice), make_exploration(alice)
    priced.spec = priced.spec | {"prices": {"small": {"input": 1, "output": 2}}}
    priced.save()
    page = flat(opened(client, alice, [priced, free]))
    foot = page.partition("<tfoot>")[2].partition("</tr>")[0].split("</td>")
    calls = priced.steps.count()
    assert f"{calls * (50 + 2 * 1234) / 1e6:.3g}" in foot[0]
    assert "money –" in foot[1]


def test_curves_have_a_line_for_each_run_and_name_those_without_tokens(client: Client, alice: User) -> None:
    runs = [make_exploration(alice), make_exploration(alice)]
    for event in runs[1].events.filter(kind="call.ended"):
        event.body["usage"] = {}
        event.save()
    client.force_login(alice)
    context = client.get(URL, ids(*runs)).context
    (line,) = context["figures"]["lemmas"]["data"]
    assert (line["name"], line["y"][-1]) == ("A", 13)
    assert line["x"][-1] == 1200 * runs[0].events.filter(kind="call.ended").count()
    assert context["figures"]["votes"]["data"][0]["y"][-1] == runs[0].verdicts.count()
    assert context["without_tokens"] == ["B"]


def test_runs_without_lemmas_and_votes_have_no_empty_charts(client: Client, alice: User) -> None:
    runs = [make_exploration(alice), make_exploration(alice)]
    Lemma.objects.all().delete()
    client.force_login(alice)
    assert list(client.get(URL, ids(*runs)).context["figures"]) == ["votes"]
    Verdict.objects.all().delete()
    assert "Lemmas and votes over tokens" not in opened(client, alice, runs)


def test_lemmas_are_in_three_lists(client: Client, alice: User) -> None:
    one, other = make_run(), make_run()
    lemma(one, "s0.1", "Every square is $0$ or $1$ modulo $4$.")
    lemma(other, "s0.7", "Every square is $0$ or $1$ modulo $4$")
    lemma(one, "s0.2", "For odd $m$ we have $8 \\mid m^2 - 1$.")
    lemma(other, "s0.8", "For odd $n$ we have $8 \\mid n^2 - 1$.", "rejected")
    lemma(other, "s0.9", "There are infinitely many primes.")
    client.force_login(alice)
    common = client.get(URL, ids(one, other)).context["common"]
    names = [[[[entry.lemma.lemma for entry in cell] for cell in row.cells] for row in rows]
             for rows in (common.disagree, common.same, common.single)]  # fmt: skip
    assert names == [[[["s0.2"], ["s0.8"]]], [[["s0.1"], ["s0.7"]]], [[[], ["s0.9"]]]]
    assert [row.how for row in (*common.disagree, *common.same)] == ["up to names of variables", "word for word"]
    page = opened(client, alice, [one, other])
    assert "s0.8" in page  # Disagreements are shown first.
    assert "s0.9" not in page
    assert "s0.9" in opened(client, alice, [one, other], lemmas="single")


def test_a_lemma_without_a_verdict_disagrees_with_none_and_people_count_more_than_votes(client: Client, alice: User) -> None:
    one, other, third = make_run(), make_run(), make_run()
    lemma(one, "s0.1", "Every prime is odd.")
    lemma(other, "s0.1", "Every prime is odd.", LemmaState.PROPOSED, unscored="no vote could be read")
    client.force_login(alice)
    common = client.get(URL, ids(one, other)).context["common"]
    assert (len(common.same), len(common.disagree)) == (1, 0)
    lemma(third, "s0.1", "Every prime is odd.")
    third.human_verdicts.create(command="c", lemma="s0.1", accepted=False, by="Ada", requested_seq=1, applied_seq=2)
    common = client.get(URL, ids(one, third)).context["common"]
    assert common.disagree[0].cells[1][0].state == "rejected by people"


def test_merged_and_corrected_versions_are_left_out(client: Client, alice: User) -> None:
    one, other = make_exploration(alice), make_exploration(alice)
    client.force_login(alice)
    common = client.get(URL, ids(one, other)).context["common"]
    names = {entry.lemma.lemma for row in (*common.same, *common.disagree) for cell in row.cells for entry in cell}
    assert {"s0.10", "s1.4"} & names == set()
    assert "s0.10-fixed" in names
    assert common.single == []


def test_runs_without_lemmas_say_so(client: Client, alice: User) -> None:
    assert "These runs have no lemmas" in opened(client, alice, [make_run(), make_run()])


@pytest.mark.parametrize(
    ("number", "words"), [(0, "No run is chosen."), (1, "One run alone"), (5, "You chose 5 runs, and at most 4")]
)
def test_too_few_or_too_many_runs_are_answered_with_what_to_do(client: Client, alice: User, number: int, words: str) -> None:
    page = opened(client, alice, [make_run() for _ in range(number)], 400 if number else 200)
    assert words in page
    assert "Choose two to four runs of one problem in the list of runs, then press Compare." in page


def test_a_run_named_twice_counts_once(client: Client, alice: User) -> None:
    run = make_run()
    assert "One run alone" in opened(client, alice, [run, run], 400)


def test_runs_on_different_problems_are_refused(client: Client, alice: User) -> None:
    one, other = make_run(), make_run()
    other.problem_version = make_problem().versions.get()
    other.save()
    assert "The runs are on different problems" in opened(client, alice, [one, other], 400)


def test_a_hidden_run_and_one_that_does_not_exist_have_one_answer(
    client: Client, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, hidden = make_exploration(bob), make_exploration(alice, title="Held back")
    absent = [opened(client, bob, [one, wrong], 404) for wrong in ("11111111-1111-1111-1111-111111111111", "nothing")]
    opened(client, bob, [one, hidden])
    monkeypatch.setattr("apps.runs.access._HIDING", [lambda user: Run.objects.filter(pk=hidden.pk)])
    page = opened(client, bob, [one, hidden], 404)
    assert "One of the runs does not exist, or you may not see it." in page
    assert all("One of the runs does not exist, or you may not see it." in other for other in absent)
    assert "Held back" not in page
    assert client.get(f"{URL}difference.json", ids(one, hidden)).status_code == 404


def test_a_problem_that_is_held_back_hides_its_runs_here_too(client: Client, alice: User, bob: User, dana: User) -> None:
    runs = [make_exploration(alice), make_exploration(alice)]
    opened(client, bob, runs)
    make_contest(dana, runs[0].problem_version.problem, state=ContestState.OPEN)
    opened(client, bob, runs, 404)


def test_students_see_no_comparison(client: Client, alice: User, charlie: User) -> None:
    runs = [make_exploration(alice), make_exploration(alice)]
    opened(client, charlie, runs, 404)
    client.force_login(charlie)
    assert client.post(f"{URL}pairs/", ids(*runs)).status_code == 404


def decide(client: Client, runs: Sequence[Run], lemmas: Sequence[str], **form: Any) -> str:
    """Post a decision on lemmas, written as "A/s0.1", and return the messages of the next page."""
    letters = dict(zip("ABCD", runs, strict=False))
    chosen = [f"{letters[one[0]].public_id}{one[1:]}" for one in lemmas]
    answer = client.post(f"{URL}pairs/", {**ids(*runs), "lemma": chosen, **form}, follow=True)
    return flat(answer.content.decode())


def test_people_join_two_lemmas_and_withdraw_it_on_the_page(client: Client, alice: User) -> None:
    one, other = make_run(), make_run()
    lemma(one, "s0.1", "Every square is $0$ or $1$ modulo $4$.")
    lemma(other, "s0.7", "Squares leave remainder zero or one.")
    client.force_login(alice)
    page = decide(client, [one, other], ["A/s0.1", "B/s0.7"], say="same")
    assert "Recorded: the chosen lemmas say the same (1 pair)." in page
    assert "joined by people" in page
    assert "A s0.1 says the same as B s0.7" in page
    pair = LemmaPair.objects.get()
    assert "Decision withdrawn." in decide(client, [one, other], [], withdraw=str(pair.pk))
    assert "does not exist any more" in decide(client, [one, other], [], withdraw=str(pair.pk))


def test_people_part_two_lemmas_that_are_word_for_word_the_same(client: Client, alice: User) -> None:
    one, other = make_run(), make_run()
    lemma(one, "s0.1", "Every prime is odd.")
    lemma(other, "s0.1", "Every prime is odd.")
    client.force_login(alice)
    assert "Recorded: the chosen lemmas differ" in decide(client, [one, other], ["A/s0.1", "B/s0.1"], say="differ")
    assert len(client.get(URL, ids(one, other)).context["common"].single) == 2


def test_who_may_not_steer_reads_and_decides_nothing(client: Client, alice: User, bob: User) -> None:
    one, other = make_exploration(alice), make_exploration(bob)
    page = opened(client, bob, [one, other], lemmas="same")
    assert "Say the same" not in page
    assert 'type="checkbox"' not in page.partition("<main")[2]
    said = decide(client, [one, other], ["A/s0.1", "B/s0.2"], say="same")
    assert "only of runs that you may steer" in said
    assert not LemmaPair.objects.exists()


@pytest.mark.parametrize(
    ("lemmas", "say", "words"),
    [(["A/s0.1", "B/s0.1"], "", "Choose lemmas, then press"), (["A/s0.1"], "same", "at least two lemmas"),
     (["A/s0.1", "A/s9.9"], "same", "has no lemma s9.9")],
)  # fmt: skip
def test_a_wrong_decision_is_answered_with_what_to_do(
    client: Client, alice: User, lemmas: list[str], say: str, words: str
) -> None:
    runs = [make_exploration(alice), make_exploration(alice)]
    client.force_login(alice)
    assert words in decide(client, runs, lemmas, say=say)
    answer = client.post(f"{URL}pairs/", {**ids(*runs), "lemma": "x/s0.1", "say": "same"}, follow=True)
    assert "of a run that is not compared here" in answer.content.decode()


def test_a_fork_links_to_the_comparison_with_its_parent(client: Client, alice: User) -> None:
    parent = make_exploration(alice)
    fork = make_exploration(alice, forked_from=parent)
    client.force_login(alice)
    address = f"{URL}?run={parent.public_id}&amp;run={fork.public_id}"
    assert address in client.get(reverse("explorations:run_detail", args=[fork.public_id])).content.decode()
    assert URL not in client.get(reverse("explorations:run_detail", args=[parent.public_id])).content.decode()
