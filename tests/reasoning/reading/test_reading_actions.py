"""Reading the actions of models that act in turns."""

import pytest

from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.turns.actions import (
    Action,
    Query,
    Report,
    read_action,
    read_handed_in,
    read_query,
    read_report,
    read_report_in_words,
)
from tests.reasoning.play import final


def test_tags_inside_an_action_are_its_content() -> None:
    found = read_action(final("Now.\n<python_code>\nprint('<answer>1</answer>')\n</python_code>"), "answer")
    assert found == Action(kind="python_code", content="print('<answer>1</answer>')", before="Now.")


def test_an_action_in_the_thinking_is_none() -> None:
    found = read_action(final("<think><python_code>1</python_code></think><answer>It holds.</answer>"), "answer")
    assert isinstance(found, Action)
    assert found.kind == "answer"


def test_the_ending_of_another_conversation_is_no_action() -> None:
    assert isinstance(read_action(final("<report>1</report>"), "answer"), Unscored)


def test_a_text_that_was_cut_off_takes_no_action() -> None:
    assert isinstance(read_action(final("<answer>It holds.</answer>", finish_reason="length"), "answer"), Unscored)


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ('{"library": "SymPy", "query": "solve  it"}', Query(library="sympy", query="solve it")),
        ('{"repo_name": "numpy", "query": "roots"}', Query(library="numpy", query="roots")),
        ('{"library": "theorems", "query": "pigeonhole"}', Query(library="theorems", query="pigeonhole")),
        ('{"library": "os", "query": "remove"}', Query(library="", query="remove")),
        ("how do I factor?", Query(library="", query="how do I factor?")),
    ],
)
def test_a_question_names_a_library_that_is_known(content: str, query: Query) -> None:
    assert read_query(content) == query


@pytest.mark.parametrize("content", ['{"query": ""}', "{", "", '{"library": "sympy"}'])
def test_a_question_without_words_is_none(content: str) -> None:
    assert isinstance(read_query(content), Unscored)


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ('{"query": "\\ud835 roots"}', "\ufffd roots"),
        ('{"query": "solve\\u0000x"}', "solve\ufffdx"),
        ('{"query": {"\\ud835": "\\u0000"}}', "{'\ufffd': '\ufffd'}"),
    ],
)
def test_a_question_keeps_no_character_that_no_database_keeps(content: str, query: str) -> None:
    found = read_query(content)
    assert isinstance(found, Query)
    assert found.query == query
    assert query.encode()


@pytest.mark.parametrize(
    ("content", "why"),
    [('{"a": ' * 500 + "1" + "}" * 500, "too deeply"), ('{"a": ' * 100_000, "too deeply"), ('{"a": ' + "1" * 5000, "digits")],
    ids=["deep", "deep and open", "a long number"],
)
def test_a_question_that_no_reader_can_decode_says_why(content: str, why: str) -> None:
    found = read_query(content)
    assert isinstance(found, Unscored)
    assert why in found.reason


@pytest.mark.parametrize(
    ("content", "correct"),
    [
        ("Fine.\n1", True),
        ("Wrong.\n0", False),
        ("Fine.\n$\\boxed{1}$.", True),
        ("It holds.\n**1**\n", True),
        ("Case \\boxed{1} fails.\n\\boxed{0}", False),
    ],
)
def test_a_report_ends_with_its_judgement(content: str, correct: bool) -> None:
    found = read_report(content)
    assert isinstance(found, Report)
    assert found.correct is correct


@pytest.mark.parametrize(
    "content",
    [
        "\\boxed{1} it says, but no.",
        "10",
        "The sum is 2.1",
        "",
        "x1",
        "-",
        "-1",
        "0 or 1",
        "Mark: 0/1",
        "verdict: 0 or 1",
        "The induction has no base case: the claim is already false for n = 1.",
        "Take\nx = -1",
        "Here $a=0$,\n$b=1$",
        "I give it 0 out of 1",
        "indeed f(0) = 0",
        "The answer is $\\boxed{1}$.",
    ],
)
def test_a_digit_that_is_no_judgement_is_not_taken_for_one(content: str) -> None:
    assert isinstance(read_report(content), Unscored)


def test_a_block_that_is_only_spoken_of_is_none() -> None:
    text = "I will use <python_code> to test it.\n<python_code>\nprint(1)\n</python_code>"
    found = read_action(final(text), "answer")
    assert isinstance(found, Action)
    assert found.content == "print(1)"
    assert found.before.startswith("I will use")


def test_a_tag_in_a_string_of_the_code_does_not_end_it() -> None:
    code = 'print("</python_code>")\nprint(2)'
    found = read_action(final(f"<python_code>\n{code}\n</python_code>"), "answer")
    assert isinstance(found, Action)
    assert found.content == code


def test_a_block_of_python_in_markdown_is_code_where_there_is_no_tag() -> None:
    found = read_action(final("### Turn 1\nLet us verify it.\n```python\nprint(1)\n```\nThis prints 1."), "report")
    assert found == Action(kind="python_code", content="print(1)", before="### Turn 1\nLet us verify it.")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("```python\nprint(1)\n```\nand\n```python\nprint(2)\n```", "there are 2 actions"),
        ("It prints\n```\n1\n```", "there is no action"),
        ("```latex\nx = 1\n```", "there is no action"),
    ],
)
def test_several_blocks_or_none_of_python_are_no_action(text: str, said: str) -> None:
    found = read_action(final(text), "answer")
    assert isinstance(found, Unscored)
    assert said in found.reason


def test_a_solution_whose_tag_was_opened_counts_as_far_as_it_goes_at_any_turn() -> None:
    text = "<answer>\n<step>Let $A$ and $B$ be two different points of the plane.</step>\n<step>Then"
    found = read_handed_in(final(text, finish_reason="length"), "", is_last=False)
    assert not isinstance(found, Unscored)
    assert (found.way, len(found.steps)) == ("cut", 2)


@pytest.mark.parametrize(
    ("text", "correct"),
    [
        ("I recomputed both squares, and they agree for all $x$.\n\n**Verdict:** correct", True),
        ("The second step divides by zero, which no reader can mend.\n### Judgement\nincorrect", False),
        ("I then proved that if $PA = PB$, then $P$ lies on the line, and vice versa. The solution is correct.", True),
        ("I tried $n=1$, and there the claim does not hold. Therefore, the proof is not correct.", False),
    ],
)
def test_a_judgement_in_words_is_one(text: str, correct: bool) -> None:
    for found in (read_report(text), read_report_in_words(final(text), "")):
        assert isinstance(found, Report)
        assert found.correct is correct


@pytest.mark.parametrize(
    "text",
    [
        "I shall now look whether the steps follow. It remains to check that the solution is correct.",
        "If each of the steps follows from those before it, the solution is correct.",
        "I went through all of the steps.\nVerdict: correct\nJudgement: incorrect\nSo much for that.",
        "<python_code>\nprint(1)\n</python_code>\nI went through it. The solution is correct.",
        "Step 2 is wrong, since the case $n=1$ is a counterexample. The solution is correct.",
        "Verdict: correct",
    ],
)
def test_words_that_are_no_judgement_or_two_are_none(text: str) -> None:
    assert isinstance(read_report_in_words(final(text), ""), Unscored)
