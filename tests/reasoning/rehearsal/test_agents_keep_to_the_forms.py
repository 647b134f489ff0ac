"""Simulated agents answer in the forms of all scaffolds, tables are reproducible, and wrong skills are named."""

import pytest

from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.rehearsal.matrix import Line, Matrix, RehearsedProblem
from apps.reasoning.rehearsal.playing import rehearse
from apps.reasoning.rehearsal.skills import Skills, SkillsWrong, skills_of, skills_read

PROBLEMS = tuple(RehearsedProblem(name=f"p{number}", statement="Find the sum.") for number in range(6))
SHORT = {"answer_tokens": 300, "thinking_tokens": 500, "spread": 0.2}


def matrix(*lines: Line, repeats: int = 1, seed: int = 0) -> Matrix:
    return Matrix(lines=lines, problems=PROBLEMS, repeats=repeats, seed=seed)


@pytest.mark.parametrize("name", SCAFFOLDS)
def test_every_answer_is_read_at_once_and_every_cell_hands_in(name: str) -> None:
    lines = [Line(name=preset, scaffold=name, preset=preset) for preset in SCAFFOLDS[name].presets if _is_small(name, preset)]
    cells = rehearse(matrix(*lines), skills_of({"skills": [SHORT | {"unreadable": 0}]}), processes=0)
    assert [cell.trouble for cell in cells if cell.trouble] == []
    assert sum(cell.unread for cell in cells) == 0
    assert {cell.right for cell in cells} <= {True, False}
    assert all(cell.calls and cell.prompt_tokens and cell.completion_tokens for cell in cells)


def _is_small(name: str, preset: str) -> bool:
    scaffold = SCAFFOLDS[name]
    return bool(scaffold.estimate(scaffold.presets[preset].params).calls_expected < 300)


@pytest.mark.parametrize("name", SCAFFOLDS)
def test_answers_that_cannot_be_read_are_counted_and_end_no_rehearsal(name: str) -> None:
    line = Line(name=name, scaffold=name, preset=SCAFFOLDS[name].first_preset)
    cells = rehearse(matrix(line, repeats=2), skills_of({"skills": [SHORT | {"unreadable": 0.6}]}), processes=0)
    assert [cell.trouble for cell in cells if cell.trouble] == []
    assert sum(cell.unread for cell in cells) > 0


@pytest.mark.parametrize("name", ["self_check", "intern_s1_mo", "solver_verifier_corrector"])
def test_methods_that_ask_for_json_read_the_answers_too(name: str) -> None:
    line = Line(name=name, scaffold=name, preset="quick", params={"structured_output": True})
    cells = rehearse(matrix(line), skills_of({"skills": [SHORT | {"unreadable": 0}]}), processes=0)
    assert sum(cell.unread for cell in cells) == 0


def test_the_same_seed_gives_the_same_table_in_one_process_or_two_and_another_seed_another() -> None:
    lines = [Line(name=name, scaffold=name, preset="quick") for name in ("self_check", "rsa")]
    here = rehearse(matrix(*lines, repeats=2), Skills(), processes=0)
    assert rehearse(matrix(*lines, repeats=2), Skills(), processes=2) == here
    assert rehearse(matrix(*lines, repeats=2, seed=1), Skills(), processes=0) != here


def test_equal_lines_of_other_names_draw_apart_so_that_differences_are_not_too_certain() -> None:
    one, two = (Line(name=name, scaffold="single_call") for name in ("one", "two"))
    cells = rehearse(matrix(one, two, repeats=8), Skills(), processes=0)
    assert [cell.right for cell in cells if cell.line == 0] != [cell.right for cell in cells if cell.line == 1]


def test_a_method_that_cannot_run_says_why_and_the_others_run() -> None:
    lines = [Line(name="vote", scaffold="majority_vote"), Line(name="one", scaffold="single_call")]
    proofs = Matrix(lines=lines, problems=[RehearsedProblem(name="p", statement="Prove it.", has_answer=False)])
    vote, one = rehearse(proofs, skills_of({"skills": [SHORT | {"unreadable": 0}]}), processes=0)
    assert "asks for no final answer" in vote.trouble
    assert one.right is not None
    unknown = Matrix(lines=[Line(name="x", scaffold="none")], problems=PROBLEMS)
    assert "Unknown scaffold none" in rehearse(unknown, Skills(), processes=0)[0].trouble


def test_later_skills_count_over_earlier_ones_and_tables_by_problem_over_ability() -> None:
    skills = skills_read(
        """
        [[skills]]
        ability = 1
        [[skills]]
        models = ["qwen*"]
        roles = ["solver"]
        solves = { p1 = 0.9 }
        [[skills]]
        roles = ["*verifier*"]
        judgement = "perfect"
        [difficulties]
        p2 = 1
        """
    )
    assert skills.of("other", "solver").solving("p2", skills.difficulty("p2")) == 0.5
    assert skills.of("qwen-coder", "solver").solving("p1", 5) == pytest.approx(0.9)
    assert skills.of("qwen-coder", "process_verifier").spots == 1
    assert skills.of("qwen-coder", "solver").spots == 0.7
    assert skills.difficulty("p3") == Skills().difficulty("p3") != skills.difficulty("p4")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[skills]]\nspots = 2", "spots: write a number of at most 1."),
        ("[[skills]]\nspot = 0.5", "spot: there is no such field."),
        ('[[skills]]\njudgement = "good"', "judgement: write '', 'perfect' or"),
        ("[skills]\nspots = 0.5", "skills: Write [[skills]] in double brackets."),
        ("[skill]\nspots = 0.5", "skill: unknown table."),
        ("[[skills]]\nability = nan", "ability: write a finite number."),
        ("[difficulties]\np1 = inf", "difficulties.p1: write a finite number."),
        ("spots", "The file is not valid TOML"),
        ("[difficulties]\np1 = 'hard'", "difficulties.p1: write a number"),
    ],
)
def test_wrong_skills_name_the_field(text: str, message: str) -> None:
    with pytest.raises(SkillsWrong) as caught:
        skills_read(text)
    assert message in str(caught.value)
