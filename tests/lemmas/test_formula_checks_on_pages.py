"""What the computational verifier found, on lemmas, proofs, graph, outline and exports: next to the votes, never among them."""

import html
import json

import networkx as nx
import pytest
from django.test import Client

from apps.lemmas.exports import graph_export
from apps.lemmas.formula_checks import check_of, run_checks
from apps.lemmas.graph_data import graph_data
from apps.lemmas.models import Lemma, ProofVersion
from apps.mathcheck.checking import check_text
from apps.reasoning.domain.check_events import FormulasChecked
from apps.reasoning.domain.tools import MathCertificate, MathFinding
from apps.runs.models import Run, RunStatus
from tests.lemmas.checked import checked, checked_story, finding, off
from tests.lemmas.factory import make_run, make_story_run, make_user, stored, write_events
from tests.lemmas.story import story

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(client: Client) -> Run:
    client.force_login(make_user("ada"))
    return make_story_run(checked_story())


def page(client: Client, run: Run, path: str) -> str:
    response = client.get(f"/runs/{run.public_id}/{path}")
    assert response.status_code == 200
    return html.unescape(response.content.decode())


def test_a_refuted_formula_is_marked_in_place_and_shown_with_its_counterexample(client: Client, run: Run) -> None:
    text = page(client, run, "lemmas/s1.9/")
    assert '<span class="math inline marked marked--refuted">5 \\mid a^2 - 1</span>' in text
    assert "1 formula refuted, in the statement; 1 not understood." in text
    assert "by the formula check" in text
    assert '<span class="math inline">a=2</span>' in text


def test_a_proof_has_it_at_the_step(client: Client, run: Run) -> None:
    text = page(client, run, "proofs/1/")
    step = text[text.index('id="step-3"') :]
    assert "marked--refuted" not in text[: text.index('id="step-3"')]
    assert step.index("marked--refuted") < step.index("by the formula check")
    assert "1 formula refuted, in step 3." in text


def test_what_survived_is_listed_as_not_proved(client: Client, run: Run) -> None:
    text = page(client, run, "lemmas/s0.7/")
    assert "1 formula survived its tests; 3 not understood." in text
    assert "60 tests" in text
    assert "marked--survived" in text
    assert "by the formula check" not in text
    assert "A formula that survives its tests is not proved" in text


@pytest.mark.parametrize("partial", [False, True])
def test_a_proved_formula_has_its_certificate_and_a_mark_if_its_whole_chain_is_proved(client: Client, partial: bool) -> None:
    proof = MathCertificate(method="expansion", steps=("the difference is 0",), assumptions=("a whole",), where="a ≠ 0")
    found = finding("s0.7", "step 1", "a^4 - 1 = (a^2 - 1)(a^2 + 1)")
    found = found.model_copy(update={"outcome": "proved", "certificate": proof, "partial": partial})
    client.force_login(make_user("ada"))
    check = FormulasChecked(subject="s0.7", outcome="survived", findings=(found,), proved=1)
    text = page(client, make_story_run([*story(), ("check/s0.7/told", check)]), "lemmas/s0.7/")
    assert "1 formula proved." in text
    assert "<strong>proved</strong> by expansion" in text
    assert "Assumes: a whole." in text
    assert "Holds where a ≠ 0." in text
    assert "<li>the difference is 0</li>" in text
    assert ("marked--proved" in text) is not partial


@pytest.mark.parametrize(("tests", "underlined"), [(29, False), (30, True)])
def test_fewer_than_thirty_tests_draw_no_underline(client: Client, tests: int, underlined: bool) -> None:
    found = finding("s0.7", "step 1", "a^4 - 1 = (a^2 - 1)(a^2 + 1)")
    check = FormulasChecked(
        subject="s0.7",
        outcome="survived",
        findings=(found.model_copy(update={"tests": tests, "tried": "n from 1 to 59"}),),
        survived=1,
    )
    client.force_login(make_user("ada"))
    text = page(client, make_story_run([*story(), ("check/s0.7/told", check)]), "lemmas/s0.7/")
    assert ("marked--survived" in text) is underlined
    assert f"{tests} tests: n from 1 to 59" in text


def test_stopped_is_distinguished_from_not_understood(client: Client) -> None:
    client.force_login(make_user("ada"))
    some = FormulasChecked(subject="s0.7", outcome="not_understood", not_understood=1, stopped=2, unchecked="the guard")
    whole = FormulasChecked(subject="s0.6", outcome="stopped", unchecked="the last guard on time ended it")
    run = make_story_run([*story(), ("check/s0.7/stopped", some), ("check/s0.6/stopped", whole)])
    assert "1 not understood; 2 stopped by the last guard on time; asked again, they may be tested." in page(
        client, run, "lemmas/s0.7/"
    )
    assert "Check stopped: the last guard on time ended it." in page(client, run, "lemmas/s0.6/")
    assert "stopped by the time limit" in page(client, run, "?tab=agents")
    nodes = {node["id"]: node for node in json.loads(graph_export(run, "json")[1])["nodes"]}
    assert nodes["s0.6"]["check"] == "stopped"
    later = FormulasChecked(subject="s0.6", outcome="not_understood", not_understood=1, call="check/s0.6")
    write_events(run, stored([("check/s0.6/told", later)], start=run.last_seq + 1))
    assert "1 not understood." in page(client, run, "lemmas/s0.6/")


def test_not_understood_and_not_checked_say_so(client: Client, run: Run) -> None:
    assert "2 not understood." in page(client, run, "lemmas/s0.6/")
    assert "Not checked: the run ended before its turn." in page(client, run, "lemmas/s0.3/")
    assert "Not checked: there is no formula in it." in page(client, run, "lemmas/s0.1/")


def test_confidence_votes_and_status_are_what_they_are_without_the_check(run: Run) -> None:
    plain = make_story_run()
    names = ("status", "confidence", "low", "high", "passes", "valid", "total", "expected", "judged")
    for model in (Lemma, ProofVersion):
        key = "lemma" if model is Lemma else "proof"
        fields = [name for name in names if hasattr(model, name)]
        rows = [list(model._default_manager.filter(run=one).order_by(key).values(key, *fields)) for one in (run, plain)]
        assert rows[0] == rows[1]


def test_the_graph_says_what_the_check_came_to_and_notices_news(run: Run) -> None:
    nodes = {node["id"]: node for node in graph_data(run)["nodes"]}
    assert {name: node["check"] for name, node in nodes.items() if node["check"]} == {
        "s1.9": "refuted", "s0.7": "survived", "s0.6": "not_understood", "s0.3": "unchecked", "proof/1": "refuted",
    }  # fmt: skip
    before = run.last_seq
    news = checked("s0.2", finding("s0.2", "statement", "a"))
    write_events(run, stored([news], start=before + 1))
    assert [node["id"] for node in graph_data(run, before)["nodes"]] == ["s0.2"]


def test_the_outline_says_it_in_words(client: Client, run: Run) -> None:
    assert "retired, rejected by people, a formula refuted" in page(client, run, "graph/outline/")


def test_exports_name_the_outcome(run: Run) -> None:
    nodes = {node["id"]: node for node in json.loads(graph_export(run, "json")[1])["nodes"]}
    assert (nodes["s1.9"]["check"], nodes["proof/1"]["check"]) == ("refuted", "refuted")
    assert nodes["s0.1"]["check"] == ""
    graph = nx.parse_graphml(graph_export(run, "graphml")[1])
    assert graph.nodes["s0.7"]["check"] == "survived"


@pytest.mark.parametrize(
    ("status", "events", "words"),
    [
        (RunStatus.FINISHED, [], "Not checked: this run was recorded without the formula check."),
        (RunStatus.RUNNING, [], "Not checked: the check is under way, or there is no formula in it."),
        (RunStatus.FINISHED, [off()], "Not checked: No worker serves sandbox."),
    ],
    ids=["an older run", "live", "off"],
)
def test_a_lemma_without_a_check_says_why(status: RunStatus, events: list, words: str) -> None:  # type: ignore[type-arg]
    run = make_run(status)
    write_events(run, stored([*story()[:8], *events]))
    check = check_of(run, "s0.1")
    assert (check.outcome, check.words, check.formulas) == ("", words, ())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("We have $2+2=5$.", "the sides are $4$ and $5$."),
        ("For all positive integers $n$ we have $3 \\mid n^2+1$.", "at $n=1$ the numbers are $3$ and $2$."),
        ("Thus $91$ is prime.", "$91$ against prime."),
        ("There are $26$ primes below $100$.", "it is $25$, not $26$."),
        (
            "The function $f(x)=x^3$ is decreasing on $(0,1)$.",
            "at $x_1=1/100$, $x_2=1/20$ the values are $1/1000000$ and $1/8000$.",
        ),
    ],
)
def test_a_counterexample_is_written_in_words(text: str, words: str) -> None:
    """With what the verifier itself finds, so that its kinds and these words stay together."""
    found = [one.as_json() for one in check_text(text, text_id="step 1") if one.outcome == "refuted"]
    check = FormulasChecked(
        subject="s0.1", outcome="refuted", findings=tuple(map(MathFinding.model_validate, found)), refuted=1
    )
    run = make_story_run([("check/s0.1/told", check)])
    assert [one.detail for one in check_of(run, "s0.1").formulas] == [words]


def test_the_run_counts_texts_by_outcome(client: Client, run: Run) -> None:
    counted = run_checks(run)
    assert (counted.refuted, counted.survived, counted.not_understood, counted.unchecked, counted.off) == (2, 1, 1, 1, "")
    text = page(client, run, "?tab=agents")
    assert "Formula check: 5 texts, 2 with a refuted formula" in text


def test_the_page_of_a_run_says_why_checks_are_off(client: Client) -> None:
    client.force_login(make_user("ada"))
    text = page(client, make_story_run([*story(), off()]), "?tab=agents")
    assert "The formula check was unavailable for part of the run: No worker serves sandbox." in text


def test_a_quote_over_lines_of_an_align_is_one_line(run: Run) -> None:
    plain = finding("s0.7", "step 1", "a^4 - 1 = (a^2 - 1)(a^2 + 1)")
    odd = plain.model_copy(update={"anchor": plain.anchor.model_copy(update={"quote": "2 \\\\\n&= 3-2"})})
    words = plain.model_copy(update={"anchor": plain.anchor.model_copy(update={"quote": "$91$ is prime"})})
    broken = plain.model_copy(update={"anchor": plain.anchor.model_copy(update={"quote": "\\frac{1"})})
    write_events(run, stored([checked("s0.2", odd, words, broken)], start=run.last_seq + 1))
    assert [one.tex for one in check_of(run, "s0.2").formulas] == ["$2 = 3-2$", "$91$ is prime", "`\\frac{1`"]
