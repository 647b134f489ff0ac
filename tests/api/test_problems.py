"""Problems over the API."""

from apps.accounts.models import User
from apps.problems.models import Problem, ProblemVersion, Topic
from tests.api.conftest import Ask


def test_the_list_is_filtered_by_words_and_topic(ask: Ask, problem: Problem, alice: User) -> None:
    Problem.objects.create(slug="board", title="A board", topic=Topic.COMBINATORICS)
    assert [row["slug"] for row in ask(alice, "problems").json()["items"]] == ["board", "two-squares"]
    assert [row["slug"] for row in ask(alice, "problems", q="primes fermat").json()["items"]] == ["two-squares"]
    assert [row["slug"] for row in ask(alice, "problems", topic="c").json()["items"]] == ["board"]
    assert ask(alice, "problems", q="nothing has this").json()["total"] == 0


def test_the_list_is_paged(ask: Ask, alice: User) -> None:
    rows = [Problem(slug=f"p{n:03}", title=f"Problem {n:03}", topic="A") for n in range(120)]
    Problem.objects.bulk_create(rows)
    ProblemVersion.objects.bulk_create(ProblemVersion(problem=row, number=1, statement="Prove it.") for row in rows)
    last = ask(alice, "problems", page=3).json()
    assert (last["page"], last["pages"], last["total"], len(last["items"])) == (3, 3, 120, 20)
    assert ask(alice, "problems", page=4).json()["items"] == []
    assert ask(alice, "problems", page=0).status_code == 422


def test_a_problem_has_its_newest_text(ask: Ask, problem: Problem, bob: User) -> None:
    found = ask(bob, "problems/two-squares").json()
    assert (found["version"], found["statement"]) == (2, "Which primes are $x^2+y^2$?")
    assert found["reference_solutions"] == [{"approach": "descent", "text": "By descent."}]
    assert (found["answer"], found["scheme_text"]) == ("2 and $4k+1$", "7 points")


def test_a_student_gets_the_statement_and_no_solution(ask: Ask, problem: Problem, charlie: User) -> None:
    answer = ask(charlie, "problems/two-squares")
    assert answer.json()["statement"] == "Which primes are $x^2+y^2$?"
    assert answer.json()["reference_solutions"] is None
    for secret in ("By descent.", "4k+1", "7 points"):
        assert secret not in answer.content.decode()


def test_a_student_on_the_staff_reads_solutions(ask: Ask, problem: Problem, charlie: User) -> None:
    User.objects.filter(pk=charlie.pk).update(is_staff=True)
    assert ask(charlie, "problems/two-squares").json()["answer"] == "2 and $4k+1$"


def test_the_search_covers_only_the_newest_statement(ask: Ask, problem: Problem, alice: User) -> None:
    assert ask(alice, "problems", q="older text").json()["total"] == 0
    assert ask(alice, "problems", q="which primes").json()["total"] == 1


def test_the_subtopic_is_returned(ask: Ask, problem: Problem, alice: User) -> None:
    Problem.objects.filter(pk=problem.pk).update(subtopic="sums of squares")
    assert ask(alice, "problems").json()["items"][0]["subtopic"] == "sums of squares"
    assert ask(alice, "problems/two-squares").json()["subtopic"] == "sums of squares"


def test_an_unknown_problem_is_not_found(ask: Ask, alice: User) -> None:
    assert ask(alice, "problems/nowhere").status_code == 404
