"""`manage.py check_math FILE`: a table for people, JSON for programs, a clear error for a file that cannot be read."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

TEXT = "Let $a,b$ be real. Then $(a+b)^2=a^2+b^2$.\n\nAlso $2^5=32$ and $[x]=3+1$.\n"


def test_the_table_shows_the_findings(tmp_path: Path) -> None:
    (tmp_path / "proof.md").write_text(TEXT)
    out = StringIO()
    call_command("check_math", str(tmp_path / "proof.md"), stdout=out)
    assert "at a = 1, b = 1: 4 against 2" in out.getvalue()
    assert "1 proved · 1 refuted · 0 survived their tests (which proves nothing) · 1 not understood" in out.getvalue()


def test_json_holds_every_finding(tmp_path: Path) -> None:
    (tmp_path / "proof.md").write_text(TEXT)
    out = StringIO()
    call_command("check_math", str(tmp_path / "proof.md"), "--json", stdout=out)
    assert [finding["outcome"] for finding in json.loads(out.getvalue())] == ["refuted", "proved", "not_understood"]


def test_a_missing_file_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("check_math", str(tmp_path / "none.md"))


@pytest.mark.coq
def test_coq_is_asked_and_its_files_are_kept(tmp_path: Path) -> None:
    proof, files = tmp_path / "proof.md", tmp_path / "files"
    proof.write_text("Let $n$ be an odd integer. Then $8 \\mid n^2-1$.", encoding="utf-8")
    written = StringIO()
    call_command("check_math", str(proof), "--kernel-files", str(files), stdout=written)
    assert "checked" in written.getvalue()
    (kept,) = files.iterdir()
    assert "(8 | n ^ 2 - 1)%Z." in kept.read_text(encoding="utf-8")
