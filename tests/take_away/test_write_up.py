"""The write-up of the selected proof: what it has, in which order, and who gets it."""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.explorations.take_away.article import article, document
from apps.explorations.take_away.written import written_proof
from apps.runs.models import Run
from apps.ui.typeset import press
from tests.lemmas.factory import make_run, make_story_run
from tests.lemmas.story import story

pytestmark = pytest.mark.django_db


def address(run: Run, form: str) -> str:
    return reverse("explorations:take_away", args=[run.public_id, form])


def test_lemmas_come_after_those_they_use_and_others_are_left_out(run: Run) -> None:
    written = written_proof(run)
    assert written is not None
    names = [lemma.id for lemma in written.lemmas]
    assert set(names) == {"s0.1", "s0.2", "s0.3", "s1.5", "s0.6", "s0.7", "s0.8", "s0.10-fixed", "s1.11"}
    for place, lemma in enumerate(written.lemmas):
        assert set(lemma.uses) <= set(names[:place])
    assert written.uses == ("s0.10-fixed", "s1.11")
    assert {lemma.id: lemma.name for lemma in written.lemmas}["s0.10-fixed"] == "10′"


def test_a_merged_lemma_is_represented_by_the_one_it_was_merged_into() -> None:
    events = [
        (key, event.model_copy(update={"used": "s1.4"}) if key.endswith("/edge/s0.7/s0.2") else event) for key, event in story()
    ]
    written = written_proof(make_story_run(events))
    assert written is not None
    by_id = {lemma.id: lemma for lemma in written.lemmas}
    assert "s1.4" not in by_id
    assert by_id["s0.7"].uses == ("s0.2", "s0.6")
    assert by_id["s0.2"].also == ("4",)
    assert "Also cited as 4." in article(written)


def test_labels_and_references_match_and_lemmas_keep_their_names(run: Run) -> None:
    written = written_proof(run)
    assert written is not None
    text = article(written)
    labels = re.findall(r"\\label\{([^}]*)\}", text)
    assert len(labels) == len(set(labels)) == 9
    assert set(re.findall(r"\\ref\{([^}]*)\}", text)) <= set(labels)
    assert r"\begin{namedlemma}{10\ensuremath{'}}\label{lem:s0.10-fixed}" in text
    assert "Accepted: 4 of 4 valid votes found no fault." in text
    assert "verified, 3 of 4 votes · 75".replace("·", r"\textperiodcentered{}") in text


def test_a_proof_that_was_not_accepted_says_so(run: Run) -> None:
    run.proof_versions.update(confidence=None, status="", accepted=False, selected_reason="The best of two.")
    run.outcome = {"accepted": False}
    written = written_proof(run)
    assert written is not None
    assert written.state == "Not accepted. The best of two."
    assert "Not accepted" in article(written)


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="needs pdflatex (Debian: texlive-latex-base)")
def test_the_article_compiles_with_all_references(run: Run, tmp_path: Path) -> None:
    written = written_proof(run)
    assert written is not None
    (tmp_path / "a.tex").write_text(article(written), encoding="utf-8")
    for _ in range(2):
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "a.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120)
        assert done.returncode == 0, done.stdout[-2_000:]
    assert b"undefined" not in done.stdout


def test_a_researcher_downloads_latex_and_pdf(run: Run, alice: User, client_for: Callable[[User | None], Client]) -> None:
    client = client_for(alice)
    answer = client.get(address(run, "latex"))
    assert answer.content.decode().startswith("\\documentclass")
    assert answer["Content-Disposition"] == f'attachment; filename="proof-{run.public_id}.tex"'
    pdf = client.get(address(run, "pdf"))
    assert pdf.content.startswith(b"%PDF")
    assert pdf["Content-Disposition"] == f'attachment; filename="proof-{run.public_id}.pdf"'


def test_no_formula_of_the_pdf_is_lost(run: Run) -> None:
    written = written_proof(run)
    assert written is not None
    texts = [block["prose"] for part in document(written).parts for block in part.blocks]
    assert all(lemma.statement in texts for lemma in written.lemmas)
    assert set(written.steps) <= set(texts)


@pytest.mark.parametrize("form", ["latex", "pdf", "blueprint", "spans"])
def test_a_student_gets_no_file(run: Run, charlie: User, client_for: Callable[[User | None], Client], form: str) -> None:
    assert client_for(charlie).get(address(run, form)).status_code == 404


def test_an_unknown_file_does_not_exist(run: Run, alice: User, client_for: Callable[[User | None], Client]) -> None:
    assert client_for(alice).get(address(run, "docx")).status_code == 404


def test_without_a_selected_proof_the_page_says_so(alice: User, client_for: Callable[[User | None], Client]) -> None:
    run = make_run()
    client = client_for(alice)
    answer = client.get(address(run, "latex"), follow=True)
    assert "This run has no selected proof" in answer.content.decode()
    page = client.get(reverse("explorations:run_detail", args=[run.public_id])).content.decode()
    assert "No proof is selected yet." in page
    assert address(run, "pdf") not in page
    assert address(run, "spans") in page


def test_without_the_packages_of_pdfs_the_page_says_so(
    run: Run, alice: User, client_for: Callable[[User | None], Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    client = client_for(alice)
    page = reverse("explorations:run_detail", args=[run.public_id])
    assert address(run, "pdf") in client.get(page).content.decode()
    monkeypatch.setattr(press, "find_spec", lambda _name: None)
    shown = client.get(page).content.decode()
    assert "No PDF: this server lacks typst and latex2mathml." in shown
    assert address(run, "latex") in shown
    answer = client.get(address(run, "pdf"), follow=True)
    assert "the libraries typst and latex2mathml are missing" in answer.content.decode()
