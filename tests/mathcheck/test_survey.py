"""The survey reads texts in several formats, counts the outcomes of their claims, and lists reasons for unread ones."""

import json
from pathlib import Path

import pytest

from apps.mathcheck import survey as module
from apps.mathcheck.survey import main, rows_of, survey

TEXT = "For all real $x$ we have $(x+1)^2=x^2+2x+1$.\n\nHere $\\angle ABC=\\angle CBA$. And $2+2=5$, so $3+4=7$."


@pytest.mark.parametrize("name", ["proofs.jsonl", "proofs.json", "proofs.csv"])
def test_rows_are_read_with_their_problem_and_empty_ones_left_out(tmp_path: Path, name: str) -> None:
    rows = [{"proof": TEXT, "problem": "Let $x>0$."}, {"proof": " ", "problem": "None."}]
    path = tmp_path / name
    if name.endswith("csv"):
        path.write_text('proof,problem\n"' + TEXT + '",Let $x>0$.\n ,None.\n')
    else:
        path.write_text(json.dumps(rows) if name.endswith("json") else "\n".join(map(json.dumps, rows)))
    assert [(row.name, row.text, row.context) for row in rows_of(f"{path}:proof", "problem")] == [
        (f"{name} 1", TEXT, "Let $x>0$.")
    ]


def test_a_file_without_a_field_is_one_text(tmp_path: Path) -> None:
    path = tmp_path / "proof.md"
    path.write_text(TEXT)
    assert [row.text for row in rows_of(str(path))] == [TEXT]


def test_outcomes_are_counted_and_refutations_and_reasons_shown() -> None:
    found = survey([module.Row("one", TEXT)], 20)
    assert (found.texts, found.outcomes["proved"], found.outcomes["refuted"], found.outcomes["not_understood"]) == (
        1,
        2,
        1,
        1,
    )
    lines = list(found.lines(examples=1))
    assert lines[0] == "texts 1 · claims 4 · tested 0.750"
    assert "refuted in one: 2+2=5" in lines[2]
    assert "     1  … is not known" in lines
    assert r"\angle ABC=\angle CBA" in lines[-1]


def test_the_command_prints_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "proofs.jsonl").write_text("\n".join(json.dumps({"proof": f"We have ${n}+1={n + 1}$."}) for n in range(1, 9)))
    main([f"{tmp_path}/proofs.jsonl:proof", "--most", "4"])
    assert capsys.readouterr().out.startswith("texts 4 · claims 4 · tested 1.000\n")
