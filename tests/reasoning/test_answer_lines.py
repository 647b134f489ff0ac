"""Who writes a solution of a problem that has an answer is asked for an answer line; all other prompts stay as they are."""

import pytest

from apps.reasoning.scaffolds.answer_line import answer_line
from tests.reasoning.play import PROBLEM, Played, play
from tests.reasoning.test_golden_traces import GOLDEN

WITHOUT = PROBLEM.model_copy(update={"answer": ""})
LINE = "\n\n" + answer_line(PROBLEM)
#: Beginnings of the names of roles that write whole solutions.
WRITERS = ("solver", "improver", "corrector", "aggregator", "refiner", "writer", "reviser")


def prompts(played: Played) -> dict[str, tuple[str, str]]:
    """Role and system text of every call."""
    return {request.key: (request.role, request.messages[0].content) for request in played.dispatcher.requests}


@pytest.mark.parametrize("name", GOLDEN)
async def test_writers_are_asked_for_an_answer_line_only_where_there_is_an_answer(name: str) -> None:
    golden = GOLDEN[name]
    with_answer = prompts(await play(golden.table, golden.params, scaffold=name, problem=PROBLEM))
    without = prompts(await play(golden.table, golden.params, scaffold=name, problem=WITHOUT))
    assert with_answer.keys() == without.keys()
    asked = {role for role, text in with_answer.values() if text.endswith(LINE)}
    assert all(role.startswith(WRITERS) for role in asked)
    assert asked
    for key, (role, text) in without.items():
        assert "Answer:" not in text
        assert with_answer[key][1] == text + (LINE if role in asked else "")


def test_an_answer_of_white_space_is_none() -> None:
    assert answer_line(PROBLEM.model_copy(update={"answer": " \n"})) == ""
