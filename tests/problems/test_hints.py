"""Hints on three rungs: who reads and edits them, what loading the samples does to them, and that they reveal nothing."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.problems.drafts import ProblemDraft, SolutionDraft, draft_of
from apps.problems.hints import hint_leaks
from apps.problems.models import Problem, ProblemHint
from apps.problems.samples import FOLDER, SampleBroken, sample_library, sample_read
from apps.problems.selectors import hint_texts
from apps.problems.services import problem_revise, problem_state, problem_text_add, sample_library_load
from tests.problems.factory import form_data, make_problem

ClientFor = Callable[[User | None], Client]
HINTS = ("Say the goal again.", "Try small numbers $n$.", "Think of remainders.")
NESBITT = FOLDER / "nesbitt-inequality.md"


def with_hints(problem: Problem, by: User | None, *hints: str) -> Problem:
    return problem_revise(problem=problem, draft=replace(draft_of(problem), hints=hints), by=by)


@pytest.mark.django_db
def test_a_coach_writes_and_reads_hints_and_a_student_reads_none(client_for: ClientFor, bob: User, charlie: User) -> None:
    client = client_for(bob)
    client.post("/problems/new/", form_data(hint_1=HINTS[0], hint_2=HINTS[1] + "\r\n", hint_3=HINTS[2]))
    problem = Problem.objects.get()
    assert hint_texts(problem) == dict(enumerate(HINTS))
    page = client.get(f"/problems/{problem.slug}/").content.decode()
    assert "Say the goal again." in page
    assert "Think of remainders." in client.get(f"/problems/{problem.slug}/edit/").content.decode()
    page = client_for(charlie).get(f"/problems/{problem.slug}/").content.decode()
    assert "Prove" in page
    assert not [words for words in ("Say the goal", "small numbers", "Think of", "Hint") if words in page]


@pytest.mark.django_db
def test_changed_and_removed_hints_make_no_version(client_for: ClientFor, bob: User) -> None:
    problem = make_problem(hints=HINTS)
    ids = list(problem.hints.values_list("pk", flat=True))
    data = form_data(statement=problem.current.statement, hint_1="Another goal.", based_on=problem_state(problem))
    data |= {"answer": problem.current.answer, "scheme_text": problem.current.scheme_text}
    assert client_for(bob).post(f"/problems/{problem.slug}/edit/", data).status_code == 302
    assert hint_texts(problem) == {0: "Another goal."}
    assert draft_of(problem).hints == ("Another goal.",)
    assert problem.versions.count() == 1
    assert list(problem.hints.values_list("pk", flat=True)) == ids


def test_a_later_hint_without_the_one_before_is_refused(client_for: ClientFor, bob: User) -> None:
    response = client_for(bob).post("/problems/new/", form_data(hint_2="Kept in the form."))
    assert response.status_code == 422
    page = response.content.decode()
    assert "Hints open in their order" in page
    assert "Kept in the form." in page
    assert not Problem.objects.exists()


def test_the_preview_warns_of_a_hint_that_copies_a_step(client_for: ClientFor, bob: User) -> None:
    step = "Squares leave only the remainders zero and one when they are divided by four."
    data = form_data(**{"solutions-0-text": f"First. {step}", "hint_1": "Which remainders do squares leave?"})
    page = client_for(bob).post("/problems/preview/", data).content.decode()
    assert "Which remainders do squares leave?" in page
    assert "reveals" not in page
    page = client_for(bob).post("/problems/preview/", data | {"hint_2": step}).content.decode()
    assert "Hint 2 reveals" in page


@pytest.mark.django_db
def test_a_new_text_without_hints_keeps_those_of_the_problem(bob: User) -> None:
    problem = make_problem(hints=HINTS)
    problem_text_add(problem=problem, draft=replace(draft_of(problem), hints=(), statement="Clearer."), by=bob)
    assert draft_of(problem).hints == HINTS
    problem_text_add(problem=problem, draft=replace(draft_of(problem), hints=("New.",)), by=bob)
    assert draft_of(problem).hints == ("New.",)


@pytest.mark.django_db
def test_loading_adds_missing_hints_and_never_changes_those_of_a_coach(bob: User) -> None:
    sample_library_load()
    ProblemHint.objects.all().delete()
    names = ("nesbitt-inequality", "ptolemy-theorem", "simson-line", "two-means")
    edited, own, reworded, untouched = (Problem.objects.get(slug=name) for name in names)
    problem_revise(problem=edited, draft=replace(draft_of(edited), title="Ours", solutions=()), by=bob)
    with_hints(own, bob, "Ours only.")
    problem_revise(problem=reworded, draft=replace(draft_of(reworded), statement="Another problem."), by=bob)
    before = problem_state(edited)
    assert sample_library_load() == Problem.objects.count() - 2
    edited.refresh_from_db()
    assert (edited.title, draft_of(edited).hints) == ("Ours", sample_read(NESBITT).hints)
    assert problem_state(edited) != before
    assert not edited.reference_solutions.exists()
    assert hint_texts(own) == {0: "Ours only."}
    assert hint_texts(reworded) == {}
    assert list(hint_texts(untouched)) == [0, 1, 2]
    with_hints(own, bob)
    assert sample_library_load() == 0
    assert hint_texts(own) == {}


@pytest.mark.parametrize("section", ["1. One.\n2. Two.", "1. One.\n3. Two.\n2. Three.", "One.\nTwo.\nThree.", ""])
def test_a_sample_without_three_numbered_hints_is_refused(tmp_path: Path, section: str) -> None:
    text = NESBITT.read_text(encoding="utf-8")
    start, end = text.index("1. "), text.index("\n\n## Solution")
    path = tmp_path / "broken.md"
    path.write_text(text[:start] + section + text[end:], encoding="utf-8")
    with pytest.raises(SampleBroken, match="three numbered lines"):
        sample_read(path)


def test_no_hint_of_the_library_reveals_the_answer_or_a_step() -> None:
    library = sample_library()
    assert [(draft.slug, *leak) for draft in library for leak in hint_leaks(draft)] == []
    assert len({text for draft in library for text in draft.hints}) == 3 * len(library) == 99
    assert max(len(text) for draft in library for text in draft.hints) <= 300


@pytest.mark.parametrize(
    ("hint", "kind"),
    [
        ("The point lies on the line through the two feet of these altitudes, is it not so?", "words"),
        ("Look at $x^2+xy+y^2$.", "formula"),
        ("Item: he finds the hidden invariant of the four corner pieces first.", "words"),
        ("Is it $n=4711$?", "answer"),
        ("What did Zsigmondy prove?", "name"),
    ],
)
def test_a_hint_that_copies_a_step_an_item_or_the_answer_is_found(hint: str, kind: str) -> None:
    solution = "So the point lies on the line through the two feet of these altitudes. With $x^2 + xy + y^2$ we use Zsigmondy."
    scheme = "**Chain A: one**\n\n- A1 (7) Finds the hidden invariant of the four corner pieces."
    draft = ProblemDraft("T", "N", "Prove it.", answer="$n=4711$", scheme_text=scheme, solutions=(SolutionDraft(solution),))
    assert [(level, leak.kind) for level, leak in hint_leaks(replace(draft, hints=("Fine.", hint)))] == [(1, kind)]
    assert hint_leaks(replace(draft, hints=("Fine.", "Which places can the point take?"))) == []
    assert hint_leaks(replace(draft, hints=(hint,), statement=f"Prove it. {hint}")) == []
