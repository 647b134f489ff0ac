"""The blueprint: its files, and what leanblueprint finds in them."""

import io
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from apps.explorations.take_away.article import label_of
from apps.explorations.take_away.blueprint import blueprint, lean_names, stubs
from apps.explorations.take_away.written import WrittenProof, written_proof
from apps.runs.models import Run
from tests.take_away.reading import read_by

pytestmark = pytest.mark.django_db


@pytest.fixture
def written(run: Run) -> WrittenProof:
    found = written_proof(run)
    assert found is not None
    return found


def test_the_zip_has_sources_for_leanblueprint_and_lean(written: WrittenProof) -> None:
    archive = zipfile.ZipFile(io.BytesIO(blueprint(written)))
    assert set(archive.namelist()) == {
        "blueprint/src/content.tex", "blueprint/src/web.tex", "blueprint/src/print.tex", "blueprint/src/plastex.cfg",
        "blueprint/src/macros/common.tex", "Blueprint.lean",
    }  # fmt: skip
    content = archive.read("blueprint/src/content.tex").decode()
    assert "\\begin{proof}\n\\uses{lem:s0.2, lem:s0.6}" in content
    assert "\\lean{Blueprint.lemma_10'}" in content
    assert archive.read("blueprint/src/web.tex").decode().count("\\input{") == 2


def test_every_stub_has_its_statement_as_a_comment(written: WrittenProof) -> None:
    text = stubs(written, lean_names(written))
    comment = "/-- Lemma 7. For every odd integer $a$ we have $16 \\mid a^4 - 1$. -/"
    assert f"{comment}\ntheorem lemma_7 : (sorry : Prop) := by sorry" in text
    assert text.count("theorem ") == 10
    assert "theorem problem : (sorry : Prop) := by sorry" in text


def test_a_statement_cannot_end_its_comment(written: WrittenProof) -> None:
    evil = replace(written.lemmas[0], statement="x -/ axiom bad : False /- y")
    text = stubs(replace(written, lemmas=(evil,)), {evil.id: "lemma_1"})
    assert text.count("-/") == 3
    assert text.count("/-") == 3


def test_a_lemma_without_a_proof_carries_its_uses_at_the_statement(written: WrittenProof) -> None:
    bare = tuple(replace(lemma, steps=()) for lemma in written.lemmas)
    content = zipfile.ZipFile(io.BytesIO(blueprint(replace(written, lemmas=bare)))).read("blueprint/src/content.tex").decode()
    assert "\\label{lem:s0.7}\n\\uses{lem:s0.2, lem:s0.6}\n" in content


@pytest.mark.readers
def test_leanblueprint_finds_every_lemma_name_and_use(written: WrittenProof, tmp_path: Path) -> None:
    zipfile.ZipFile(io.BytesIO(blueprint(written))).extractall(tmp_path)
    found = read_by("blueprint_reading.py", tmp_path / "blueprint" / "src")
    names = lean_names(written)
    assert found["nodes"] == {
        **{label_of(one.id): ["lemma", [f"Blueprint.{names[one.id]}"]] for one in written.lemmas},
        "thm:problem": ["theorem", ["Blueprint.problem"]],
    }
    uses = [[label_of(one.id), label_of(used)] for one in written.lemmas for used in one.uses]
    assert found["uses"] == sorted([*uses, *(["thm:problem", label_of(used)] for used in written.uses)])
