"""A problem's page shows flags, similarity to benchmarks and measured difficulty, found by runs with cost estimates."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.preparation.contamination import benchmark_load, matches_of
from apps.preparation.quality import attempted_by, verdict_of
from apps.problems import holding
from apps.problems.importing.shapes import PROOFBENCH_ORIGIN
from apps.problems.models import Problem
from apps.reasoning.marking.schemes.text_form import text_read
from apps.runs.models import Run
from apps.schemes.services import scheme_activate, scheme_create
from tests.graders.grade import grading
from tests.graders.programs import PROOF, quality
from tests.grading.problem_runs import played
from tests.grading.test_grade_command import MODELS
from tests.problems.factory import make_problem

pytestmark = pytest.mark.django_db(transaction=True)
ClientFor = Callable[[User | None], Client]
STATEMENT = (
    "Let $a, b, c$ be positive integers with $a^2+b^2=c^2$ and $\\gcd(a,b)=1$. Prove that exactly one of $a$ and $b$ is "
    "divisible by $3$, and that $abc$ is divisible by $60$."
)
CLOTHED = (
    "Suppose that \\( a, b, c \\) be positive integers with \\( a^{2} + b^{2} = c^{2} \\) and \\( \\gcd(a, b) = 1 \\). PROVE "
    "that exactly one of \\(a\\) and \\(b\\) is divisible by \\(3\\), and that \\(abc\\) is divisible by \\(60\\)."
)


@pytest.fixture(autouse=True)
def models(settings: LazySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.MODELS_FILE = tmp_path / "models.toml"
    settings.MODELS_FILE.write_text(MODELS)
    monkeypatch.setattr("apps.runs.services.orchestrate", type("Sent", (), {"delay": staticmethod(lambda _: None)}))


def address(problem: Problem) -> str:
    return reverse("preparation:quality", args=[problem.slug])


def page(client: Client, problem: Problem) -> str:
    return client.get(address(problem)).content.decode()


def asked(program: str, **values: Any) -> dict[str, Any]:
    return {"program": program, **{f"{program}-{name}": value for name, value in values.items()}}


def test_flags_come_from_the_majority_with_their_reasons(alice: User, client_for: ClientFor) -> None:
    problem = make_problem()
    assert "None determined yet" in page(client_for(alice), problem)
    assert verdict_of(problem).keeps is None
    played(alice, problem, "quality", {"sample/1": quality("gaps"), "sample/2": quality(), "*": quality("gaps")}, samples=3)
    text = page(client_for(alice), problem)
    assert "would be excluded" in text
    assert "2 of 3" in text
    assert verdict_of(problem).reasons == ["gaps"]
    played(alice, problem, "quality", {"*": quality("computational")}, samples=3)
    verdict = verdict_of(problem)
    assert (verdict.keeps, verdict.quality.raised) == (True, ["computational"])


def test_unreadable_answers_leave_the_flags_unknown(alice: User, client_for: ClientFor) -> None:
    problem = make_problem()
    played(alice, problem, "quality", {"*": "I like <b>turtles</b>."}, samples=2)
    text = page(client_for(alice), problem)
    assert "Too few readable answers." in text
    assert "I like &lt;b&gt;turtles&lt;/b&gt;." in text
    assert verdict_of(problem).keeps is None


def test_flags_are_marked_as_outdated_after_a_change_of_the_reference(alice: User, client_for: ClientFor) -> None:
    problem = make_problem()
    played(alice, problem, "quality", {"*": quality()}, samples=1)
    assert "has changed since" not in page(client_for(alice), problem)
    problem.reference_solutions.filter(position=0).update(text="Another one.")
    assert "has changed since" in page(client_for(alice), problem)


def test_a_reworded_benchmark_problem_is_found_and_shown(alice: User, client_for: ClientFor) -> None:
    problem = make_problem(statement=STATEMENT)
    assert "No benchmark set to compare with." in page(client_for(alice), problem)
    other = "Find all primes $p$ with $p+2$ prime."
    assert benchmark_load(collection="Bench", texts=[("B1", CLOTHED), ("B2", other), ("B3", " ")]) == 2
    match = matches_of(problem, alice)[0]
    assert (match.collection, match.name, match.is_same) == ("Bench", "B1", True)
    text = page(client_for(alice), problem)
    assert ">same problem<" in text
    assert "Suppose that" in text
    assert "would be excluded" in text
    benchmark_load(collection="Bench", texts=[("B2", other)])
    assert not matches_of(problem, alice)
    assert "No similar problem." in page(client_for(alice), problem)


def test_library_problems_from_a_benchmark_are_compared_but_not_with_themselves(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = make_problem("Of a benchmark", statement=CLOTHED, origin=PROOFBENCH_ORIGIN, external_id="PB-1")
    problem = make_problem(statement=STATEMENT)
    assert [one.problem for one in matches_of(problem, alice)] == [bench]
    assert not matches_of(bench, alice)
    rules = [*holding._RULES[holding.Text.STATEMENT], lambda _: Problem.objects.filter(pk=bench.pk)]
    monkeypatch.setitem(holding._RULES, holding.Text.STATEMENT, rules)
    assert not matches_of(problem, alice)


@pytest.mark.parametrize(
    ("origin", "title"),
    [(PROOFBENCH_ORIGIN, "IMO-ProofBench"), ("gradingbench", "GradingBench"), ("open-proof-corpus", "Open Proof Corpus")],
)
def test_a_problem_imported_from_a_benchmark_is_excluded(alice: User, client_for: ClientFor, origin: str, title: str) -> None:
    problem = make_problem(origin=origin, external_id="PB-1")
    verdict = verdict_of(problem, alice)
    assert (verdict.keeps, verdict.reasons) == (False, [f"from {title} itself"])
    text = page(client_for(alice), problem)
    assert f"This problem was imported from {title}." in text
    assert "No other similar problem." in text
    for other in ("", "lemmascope"):
        ours = make_problem(f"Ours, {other}", statement=f"Show that {other} is no pentagon.", origin=other)
        assert verdict_of(ours, alice).keeps is None


def test_difficulty_is_measured_with_the_active_scheme(alice: User, client_for: ClientFor) -> None:
    problem = make_problem()
    client = client_for(alice)
    form = asked("difficulty", alias="served", grader_alias="served", attempts="4", workflow="scheme")
    assert "There is no marking scheme to grade attempts with" in client.post(address(problem), form).content.decode()
    scheme = scheme_create(problem=problem, title="S", content=text_read("checkpoint A1, 7 points: All."), by=alice)
    scheme_activate(scheme=scheme, by=alice, based_on=scheme.row_version)
    text = client.post(address(problem), form | {"estimate": "1"}).content.decode()
    assert "About 8 calls" in text
    assert not Run.objects.exists()
    assert client.post(address(problem), form).status_code == 302
    assert Run.objects.get().scaffold == "difficulty"
    full, none = (f'<grading><item code="A1" met="{met}">Seen.</item></grading>' for met in ("yes", "no"))
    table = {"*/solve": PROOF, "attempt/1/*": full, "*": none}
    run = played(alice, problem, "difficulty", table, attempts=4, references=())
    assert run.calls == 8
    text = page(client, problem)
    assert '<strong class="num">1.75</strong> of 7 points' in text
    assert "4 attempts by served" in text
    assert client.get(reverse("graders:detail", args=[run.public_id])).headers["Location"] == address(problem)
    assert client.get(reverse("explorations:run_detail", args=[run.public_id])).status_code == 200


def test_attempts_by_a_scaffold_with_grading_by_references_can_be_chosen_on_the_page(
    alice: User, client_for: ClientFor
) -> None:
    problem, client = make_problem(), client_for(alice)
    form = asked(
        "difficulty", alias="served", grader_alias="served", attempts="2", workflow="ref5_plain", by="self_check:quick"
    )
    text = client.post(address(problem), form | {"estimate": "1"}).content.decode()
    assert "Attempts: Likely" in text
    assert client.post(address(problem), form).status_code == 302
    spec = Run.objects.get().spec
    assert {"attempt_solver", "attempt_verifier", "clusterer", "matcher", "analyst", "designer", "grader"} <= set(spec["roles"])
    assert (spec["params"]["scaffold"], spec["params"]["attempt"]["accept"]) == ("self_check", 2)
    assert len(spec["params"]["references"]) == 2
    assert attempted_by(spec) == "served (Self-Check)"
    assert client.post(address(problem), form | {"difficulty-by": "oracle:quick", "by": "oracle:quick"}).status_code == 422


def test_attempts_graded_in_a_single_turn_need_no_scheme_and_unscored_ones_are_reported(
    alice: User, client_for: ClientFor
) -> None:
    problem = make_problem()
    table = {"attempt/1/solve": "<no-proof>Stuck.</no-proof>", "*/solve": PROOF, "attempt/2/*": "turtles", "*": grading(5)}
    played(alice, problem, "difficulty", table, attempts=4, workflow="single_turn", references=())
    text = page(client_for(alice), problem)
    assert '<strong class="num">3.33</strong>' in text
    assert "1 without a proof count as 0 points; 1 unscored are excluded" in text


def test_the_problem_page_links_to_it_and_shows_the_result(alice: User, client_for: ClientFor) -> None:
    problem, client = make_problem(), client_for(alice)
    assert address(problem) in client.get(reverse("problems:detail", args=[problem.slug])).content.decode()
    summary = reverse("preparation:quality_summary", args=[problem.slug])
    assert "not determined" in client.get(summary).content.decode()
    played(alice, problem, "quality", {"*": quality("disputed")}, samples=1)
    assert "disputed" in client.get(summary).content.decode()


@pytest.mark.parametrize(
    "form",
    [
        asked("quality", alias="oracle", samples="3"),
        asked("quality", alias="served", samples="0"),
        asked("difficulty", alias="served", grader_alias="served", attempts="1", workflow="single_turn"),
        asked("difficulty", alias="served", grader_alias="served", attempts="5", workflow="jury"),
        asked("difficulty", alias="served", grader_alias="", attempts="5", workflow="single_turn"),
    ],
)
def test_an_invalid_form_starts_nothing(alice: User, client_for: ClientFor, form: dict[str, Any]) -> None:
    assert client_for(alice).post(address(make_problem()), form).status_code == 422
    assert not Run.objects.exists()


def test_students_cannot_open_quality_and_difficulty(charlie: User, client_for: ClientFor) -> None:
    problem = make_problem()
    client = client_for(charlie)
    assert client.get(address(problem)).status_code == 404
    assert client.post(address(problem), asked("quality", alias="served", samples="1")).status_code == 404
    assert "Quality" not in client.get(reverse("problems:detail", args=[problem.slug])).content.decode()
